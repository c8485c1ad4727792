import { MsgManageHookSubscription } from "../../../../cosmos/proto/gen/neutron/harpoon/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { manageHookSubscription } from "./handlers.ts";
import { createHooks, type HarpoonHooks } from "./hooks.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueryHandlers } from "./queries.ts";
import type { Environment, HarpoonDeps, HarpoonOptions } from "./types.ts";

/** The module with its hooks. */
export interface HarpoonModule extends ChainModule {
  readonly hooks: HarpoonHooks;
}

/** Creates the module `harpoon`. */
export function createHarpoonModule(options: HarpoonOptions, deps: HarpoonDeps): HarpoonModule {
  const environment: Environment = { ...options, ...deps };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [
      toMessageHandler({
        typeUrl: toChainTypeUrl("/neutron.harpoon.MsgManageHookSubscription", options.chainName),
        type: MsgManageHookSubscription,
        signers: ({ authority }) => [authority],
        handle: (context, message) => manageHookSubscription(context, message, environment),
      }),
    ],
    queries: createQueryHandlers(options.chainName),
    initGenesis: (context, genesis) => initGenesis(context, genesis, environment),
    exportGenesis,
    hooks: createHooks(environment),
  };
}
