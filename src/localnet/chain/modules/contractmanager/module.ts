import {
  MsgResubmitFailure,
  MsgUpdateParams,
} from "../../../../cosmos/proto/gen/neutron/contractmanager/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import type { IBCModule } from "../ibc/channel/ibc-module.ts";
import type { CustomMessageResult } from "../wasm/types.ts";
import { handleCustomMessage } from "./custom-message.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { resubmitFailure, updateParams } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { informSenders } from "./middleware.ts";
import { createQueryHandlers } from "./queries.ts";
import type { ContractManagerDeps, ContractManagerOptions, Environment } from "./types.ts";

/** The module with its middleware. */
export interface ContractManagerModule extends ChainModule {
  /** Runs the module's own message of a contract. Returns undefined for any other message. */
  readonly handleCustomMessage: (
    context: Context,
    sender: string,
    message: JsonValue,
  ) => CustomMessageResult | undefined;
  /** Tells contracts what became of the transfers that they sent. */
  readonly informSenders: (inner: IBCModule) => IBCModule;
}

/** Creates the module `contractmanager`. */
export function createContractManagerModule(
  options: ContractManagerOptions,
  deps: ContractManagerDeps,
): ContractManagerModule {
  const environment: Environment = { ...options, ...deps };
  const { bech32Prefix } = options;
  const typeUrl = (name: string): string =>
    toChainTypeUrl(`/neutron.contractmanager.${name}`, options.chainName);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [
      toMessageHandler({
        typeUrl: typeUrl("MsgUpdateParams"),
        type: MsgUpdateParams,
        signers: ({ authority }) => [authority],
        handle: (context, message) => updateParams(context, message, environment),
      }),
      toMessageHandler({
        typeUrl: typeUrl("MsgResubmitFailure"),
        type: MsgResubmitFailure,
        signers: ({ sender }) => [sender],
        handle: (context, message) => resubmitFailure(context, message, environment),
      }),
    ],
    queries: createQueryHandlers(options),
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis,
    handleCustomMessage: (context, sender, message) =>
      handleCustomMessage(context, sender, message, environment),
    informSenders: (inner) => informSenders(inner, environment),
  };
}
