import { createCronModule } from "./cron/module.ts";
import { createFeeBurnerModule } from "./feeburner/module.ts";
import { createFeeRefunderModule } from "./feerefunder/module.ts";
import { ibcHooksMiddleware } from "./ibc-hooks/middleware.ts";
import {
  createInterchainModules,
  createInterchainQueries,
  handleInterchainMessage,
} from "./interchaintxs/modules.ts";
import { createParamsOnlyModules } from "./params-only/modules.ts";
import { createTokenFactoryModule } from "./tokenfactory/module.ts";
import type { AddedModules, ChainParts } from "../../localnet/chain/module-set.ts";

/** Modules of the deployed chain that contracts may need, but without which a localnet can run. */
export const WORKBENCH_MODULES = {
  names: [
    "feerefunder",
    "feeburner",
    "globalfee",
    "dynamicfees",
    "interchaintxs",
    "interchainaccounts",
    "tokenfactory",
    "cron",
  ],
  create: createWorkbenchModules,
} as const;

function createWorkbenchModules(parts: ChainParts): AddedModules {
  const { names, bank, channels, contracts } = parts;
  const tokenFactory = createTokenFactoryModule({ ...names, ...parts });
  const feeRefunder = createFeeRefunderModule(names, { bank, channels });
  const feeBurner = createFeeBurnerModule(names, bank);
  const cron = createCronModule(names, parts);
  return {
    modules: [
      feeRefunder,
      feeBurner,
      ...createParamsOnlyModules(names),
      ...createInterchainModules(names),
      tokenFactory,
      cron,
    ],
    bankHooks: tokenFactory.hooks,
    fees: feeRefunder.keeper,
    burnFees: feeBurner.burnFees,
    transfers: {
      within: tokenFactory.escrowMiddleware,
      // The hooks run before the limiter: they change the receiver of a transfer that calls a contract.
      outside: (application) => ibcHooksMiddleware(application, { ...names, contracts }),
    },
    bindings: [
      {
        module: "interchaintxs",
        message: handleInterchainMessage,
        query: createInterchainQueries(names),
      },
      { module: "feerefunder", query: feeRefunder.handleCustomQuery },
      { module: "feeburner", query: feeBurner.handleCustomQuery },
      {
        module: "tokenfactory",
        message: tokenFactory.handleCustomMessage,
        query: tokenFactory.handleCustomQuery,
      },
      { module: "cron", message: cron.handleCustomMessage },
    ],
  };
}
