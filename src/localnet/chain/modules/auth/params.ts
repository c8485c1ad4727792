import { Params } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { GenesisError } from "../../runtime/genesis.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module and of its member in the genesis document. */
export const MODULE_NAME = "auth";
/** Name of the store, which differs from the module's name, as in the SDK. */
export const STORE_NAME = "acc";

/** Transaction limits and gas costs. The defaults are the SDK's. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: STORE_NAME,
  key: Uint8Array.of(0),
  type: Params,
  defaults: {
    maxMemoCharacters: 256n,
    txSigLimit: 7n,
    txSizeCostPerByte: 10n,
    sigVerifyCostEd25519: 590n,
    sigVerifyCostSecp256k1: 1000n,
  },
  unset: Params.decode(new Uint8Array(0)),
  validate: requirePositive,
});

function requirePositive(params: Params): void {
  const fields: readonly (readonly [name: string, value: bigint])[] = [
    ["max_memo_characters", params.maxMemoCharacters],
    ["tx_sig_limit", params.txSigLimit],
    ["tx_size_cost_per_byte", params.txSizeCostPerByte],
    ["sig_verify_cost_ed25519", params.sigVerifyCostEd25519],
    ["sig_verify_cost_secp256k1", params.sigVerifyCostSecp256k1],
  ];
  for (const [name, value] of fields) {
    if (value === 0n) throw new GenesisError(`app_state.auth.params.${name}`, "expected a positive number");
  }
}
