import { Params } from "../../../cosmos/proto/gen/osmosis/tokenfactory/params.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { areValidCoins, formatCoins, parseCoins } from "../../../localnet/chain/runtime/coins.ts";
import { unregisteredError, orThrow } from "../../../localnet/chain/runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { MODULE_NAME, PARAMS_KEY } from "./keys.ts";

/**
 * `denom_creation_fee`: the fee that a denomination's creator pays to `fee_collector_address`. `denom_creation_gas_consume`: gas
 * for creating a denomination. `whitelisted_hooks`: codes whose contracts may become hooks for a creator's denominations. As in the
 * deployed module, genesis stores the params unchecked.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: PARAMS_KEY,
  type: Params,
  defaults: {
    denomCreationFee: [],
    denomCreationGasConsume: 0n,
    feeCollectorAddress: "",
    whitelistedHooks: [],
  },
});

/** Checks the params in MsgUpdateParams. Throws `ModuleError` with Go's text. */
export function validateParams(params: Params, bech32Prefix: string): void {
  if (params.denomCreationFee.length > 0 !== (params.feeCollectorAddress !== ""))
    throw unregisteredError("DenomCreationFee and FeeCollectorAddr must be both set or both unset");
  const fee = parseCoins(params.denomCreationFee);
  if (!areValidCoins(fee))
    throw unregisteredError(
      `failed to validate DenomCreationFee: invalid denom creation fee: ${formatCoins(fee)}`,
    );
  if (params.feeCollectorAddress !== "")
    named("failed to validate FeeCollectorAddress: invalid fee collector address", () =>
      parseAddress(bech32Prefix, params.feeCollectorAddress),
    );
  validateHooks(params, bech32Prefix);
}

function validateHooks({ whitelistedHooks }: Params, bech32Prefix: string): void {
  const seen = new Set<string>();
  for (const { codeId, denomCreator } of whitelistedHooks) {
    const hook = `code_id:${codeId} denom_creator:"${denomCreator}" `;
    if (seen.has(hook))
      throw unregisteredError(`failed to validate WhitelistedHooks: duplicate whitelisted hook: ${hook}`);
    seen.add(hook);
    named("failed to validate WhitelistedHooks: invalid denom creator address", () =>
      parseAddress(bech32Prefix, denomCreator),
    );
  }
}

function named(words: string, check: () => void): void {
  orThrow(
    () => check(),
    (reason) => unregisteredError(`${words}: ${reason}`),
  );
}
