import type { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";

/** Parameters before any were stored: no deposit, a removal timeout of 0, no keys and no filters allowed. */
export const ZERO_PARAMS: Params = {
  querySubmitTimeout: 0n,
  queryDeposit: [],
  txQueryRemovalLimit: 0n,
  maxKvQueryKeysCount: 0n,
  maxTransactionsFilters: 0n,
};

/** Returns the default parameters (chain-extension-modules.md, "Limits"). `denom` is the chain's native denom. */
export function defaultParams(denom: string): Params {
  return {
    querySubmitTimeout: 1_036_800n,
    queryDeposit: [{ denom, amount: "1000000" }],
    txQueryRemovalLimit: 10_000n,
    maxKvQueryKeysCount: 32n,
    maxTransactionsFilters: 32n,
  };
}
