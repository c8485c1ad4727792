import {
  MsgTransfer,
  MsgTransferResponse,
  MsgUpdateParams,
} from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { MsgTransferResponse as OwnResponse } from "../../../../cosmos/proto/gen/neutron/transfer/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import type { IBCModule } from "../ibc/channel/ibc-module.ts";
import { createTransferApplication } from "./application.ts";
import { ErrIbcUnauthorized } from "./errors.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { MODULE_NAME } from "./keys.ts";
import { validateTransfer } from "./messages.ts";
import { createQueryHandlers } from "./queries.ts";
import { sendTransfer } from "./send.ts";
import { DEFAULT_PARAMS, storedParams } from "./state.ts";
import type { Environment, TransferDeps, TransferOptions } from "./types.ts";

/** The module with its application. */
export interface TransferModule extends ChainModule {
  /** The application of the port `transfer`. */
  readonly application: IBCModule;
}

/** Creates the module `transfer`: coins over IBC (ICS-20). */
export function createTransferModule(options: TransferOptions, deps: TransferDeps): TransferModule {
  const environment: Environment = { ...options, ...deps };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [transferHandler(environment), paramsHandler(environment)],
    queries: createQueryHandlers(options.bech32Prefix),
    initGenesis,
    exportGenesis,
    application: createTransferApplication(environment),
  };
}

function transferHandler(environment: Environment): MessageHandler {
  const { bech32Prefix, ownResponse } = environment;
  const handler = toMessageHandler({
    typeUrl: TYPE_URL.transfer,
    type: MsgTransfer,
    signers: ({ sender }) => [sender],
    validate: (message) => validateTransfer(message, bech32Prefix),
    handle: (context, message) => {
      const sequence = sendTransfer(context, message, environment);
      return ownResponse === undefined
        ? MsgTransferResponse.encode({ sequence }).finish()
        : OwnResponse.encode({ sequenceId: sequence, channel: message.sourceChannel }).finish();
    },
  });
  if (ownResponse === undefined) return handler;
  return {
    ...handler,
    handle: (context, message) => ({ ...handler.handle(context, message), typeUrl: ownResponse }),
  };
}

function paramsHandler({ authority }: Environment): MessageHandler {
  return toMessageHandler({
    typeUrl: "/ibc.applications.transfer.v1.MsgUpdateParams",
    type: MsgUpdateParams,
    signers: ({ signer }) => [signer],
    handle: (context, { signer, params }) => {
      if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
      storedParams.set(context, params ?? { ...DEFAULT_PARAMS, sendEnabled: false, receiveEnabled: false });
    },
  });
}
