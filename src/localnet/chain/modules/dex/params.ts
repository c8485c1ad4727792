import { tryParseAddress } from "../../runtime/address.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/dex/params.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { MODULE_NAME, PARAMS_KEY } from "./types.ts";

/** The module's fee tiers and limits. For the defaults, see dex.md, "Resources and their fields". */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: PARAMS_KEY,
  type: Params,
  defaults: {
    feeTiers: [0n, 1n, 2n, 3n, 4n, 5n, 10n, 20n, 50n, 100n, 150n, 200n],
    paused: false,
    maxJitsPerBlock: 25n,
    goodTilPurgeAllowance: 540_000n,
    whitelistedLps: [],
  },
  unset: Params.decode(new Uint8Array(0)),
});

/**
 * Validates the parameters like x/dex: fee tiers must be unique, and whitelisted addresses must be valid. Throws undefined/1 for
 * invalid parameters.
 */
export function validateParams(params: Params, bech32Prefix: string): void {
  if (new Set(params.feeTiers).size !== params.feeTiers.length)
    throw unregisteredError("invalid fee tiers: duplicate fee tier found");
  for (const address of params.whitelistedLps) {
    const parsed = tryParseAddress(bech32Prefix, address);
    if (!parsed.ok)
      throw unregisteredError(`invalid whitelisted LPs: invalid LP address (${address}): ${parsed.error}, `);
  }
}
