import { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module, its store and its escrow account. */
export const MODULE_NAME = "interchainqueries";

/** Limits and deposit. As in Go, all fields are zero until genesis stores parameters; the README explains what zero means. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x05),
  type: Params,
  defaults: {
    querySubmitTimeout: 0n,
    queryDeposit: [],
    txQueryRemovalLimit: 0n,
    maxKvQueryKeysCount: 0n,
    maxTransactionsFilters: 0n,
  },
});

/** Returns a new chain's parameters (chain-extension-modules.md, "Limits"). `denom` is the chain's native denom. */
export function defaultParams(denom: string): Params {
  return {
    querySubmitTimeout: 1_036_800n,
    queryDeposit: [{ denom, amount: "1000000" }],
    txQueryRemovalLimit: 10_000n,
    maxKvQueryKeysCount: 32n,
    maxTransactionsFilters: 32n,
  };
}
