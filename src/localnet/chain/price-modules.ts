import { createOracleModule, type OracleModule, type OracleStaking } from "./modules/oracle/module.ts";
import type { RevenueDeps, RevenueOptions } from "./modules/revenue/keeper.ts";
import { createRevenueModule } from "./modules/revenue/module.ts";
import type { ChainModule } from "./runtime/module.ts";

/** Creates the modules that process a block's price votes: `oracle` stores the prices, then `revenue` counts the votes. */
export function createPriceModules(
  names: RevenueOptions,
  { bank, staking }: Pick<RevenueDeps, "bank"> & { readonly staking: OracleStaking },
): readonly ChainModule[] {
  const oracle: OracleModule = createOracleModule({
    staking,
    countVotes: (context, votes) => revenue.countVotes(context, votes),
  });
  const revenue = createRevenueModule(names, { bank, staking, priceOf: oracle.priceOf });
  return [oracle, revenue];
}
