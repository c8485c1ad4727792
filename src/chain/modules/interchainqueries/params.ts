import type { Params } from "../../../proto/gen/neutron/interchainqueries/params.ts";

/** What applies when nothing was stored: no deposit, no limits, nothing allowed. */
export const ZERO_PARAMS: Params = {
  querySubmitTimeout: 0n,
  queryDeposit: [],
  txQueryRemovalLimit: 0n,
  maxKvQueryKeysCount: 0n,
  maxTransactionsFilters: 0n,
};

/** Defaults (spec 000, "Params"); `denom` is the chain's native one. */
export function defaultParams(denom: string): Params {
  return {
    querySubmitTimeout: 1_036_800n,
    queryDeposit: [{ denom, amount: "1000000" }],
    txQueryRemovalLimit: 10_000n,
    maxKvQueryKeysCount: 32n,
    maxTransactionsFilters: 32n,
  };
}
