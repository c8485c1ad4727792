import type { AnteStep } from "../../runtime/ante-step.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { createTakeFee } from "./ante.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { storedState } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { closeBlock } from "./market.ts";
import { storedParams } from "./params.ts";
import { createSettleFee, type SettleDeps } from "./post.ts";
import { queries } from "./queries.ts";

export interface FeemarketOptions {
  /** Fee denomination of a genesis without parameters. */
  readonly feeDenom: string;
}

/** The module with its ante step and its post step. */
export interface FeemarketModule extends ChainModule {
  readonly takeFee: AnteStep;
  readonly settleFee: AnteStep;
}

/** Creates the module `feemarket`: gas price, escrow and settlement of fees. */
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
