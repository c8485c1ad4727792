import type { AnteStep } from "../../runtime/ante/ante-step.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { createTakeFee } from "./ante.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { storedParams, storedState } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { closeBlock } from "./market.ts";
import { createSettleFee, type SettleDeps } from "./post.ts";
import { queries } from "./queries.ts";

/** What the module is told about its chain. */
export interface FeemarketOptions {
  readonly feeDenom: string;
}

/** The module and its two steps around the messages of a transaction. */
export interface FeemarketModule extends ChainModule {
  readonly takeFee: AnteStep;
  readonly settleFee: AnteStep;
}

/** The module `feemarket`: the price of gas, fees in escrow, and their settlement. */
export function createFeemarketModule(options: FeemarketOptions, deps: SettleDeps): FeemarketModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [],
    queries,
    endBlock: (context) => {
      const params = storedParams.get(context);
      if (params.enabled) storedState.set(context, closeBlock(storedState.get(context), params));
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, options.feeDenom),
    exportGenesis,
    takeFee: createTakeFee(deps),
    settleFee: createSettleFee(deps),
  };
}
