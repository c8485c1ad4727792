import { formatAddress } from "../../runtime/address.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { punishDoubleSign } from "./double-sign.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createHandlers } from "./handlers.ts";
import { createHooks, type SlashingHooks } from "./hooks.ts";
import { MODULE_NAME } from "./keys.ts";
import { countVote } from "./liveness.ts";
import { createQueryHandlers } from "./queries.ts";
import type { Environment, SlashingDeps, SlashingOptions } from "./types.ts";

/** The module with its hooks for staking. */
export interface SlashingModule extends ChainModule {
  readonly hooks: SlashingHooks;
}

/** Creates the module `slashing`: downtime and double signs of validators. */
export function createSlashingModule(options: SlashingOptions, deps: SlashingDeps): SlashingModule {
  const format = (consensus: Uint8Array): string =>
    formatAddress(`${options.bech32Prefix}valcons`, consensus);
  const environment: Environment = { ...options, ...deps, format };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(environment),
    queries: createQueryHandlers(environment),
    beginBlock: (context, { lastCommit, misbehavior = [] }) => {
      for (const vote of lastCommit) countVote(context, environment, vote);
      for (const evidence of misbehavior) punishDoubleSign(context, environment, evidence);
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, environment),
    exportGenesis,
    hooks: createHooks(environment),
  };
}
