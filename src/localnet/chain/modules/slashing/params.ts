import { joinNs } from "../../../../platform/base/time.ts";
import { latin1, utf8 } from "../../../../platform/base/bytes.ts";
import { type Dec18, DEC18_ONE, mulDec18 } from "../../../../platform/base/decimal.ts";
import { Params } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/slashing.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module and its store. Keys match the SDK's. */
export const MODULE_NAME = "slashing";

/** Window and penalties. Fractions are decimals stored as digits. The defaults are the SDK's. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0),
  type: Params,
  defaults: {
    signedBlocksWindow: 100n,
    minSignedPerWindow: utf8((DEC18_ONE / 2n).toString()),
    downtimeJailDuration: { seconds: 600n, nanos: 0 },
    slashFractionDoubleSign: utf8((DEC18_ONE / 20n).toString()),
    slashFractionDowntime: utf8((DEC18_ONE / 100n).toString()),
  },
  validate: validateParams,
});

export function fractionOf(digits: Uint8Array): Dec18 {
  const text = latin1(digits);
  try {
    return parseInt256(text);
  } catch {
    throw unregisteredError(`not a decimal: ${JSON.stringify(text.slice(0, 40))}`);
  }
}

/** Returns the minimum number of blocks in a window that a validator must sign, rounded half to even. */
export function leastSigned({ signedBlocksWindow, minSignedPerWindow }: Params): bigint {
  return mulDec18(fractionOf(minSignedPerWindow), signedBlocksWindow);
}

/** Returns the jail time for downtime, in nanoseconds. */
export function jailTimeNs({ downtimeJailDuration }: Params): bigint {
  return joinNs(downtimeJailDuration);
}

/** Throws an unregistered error for parameters that would break the chain. The texts match the SDK's. */
function validateParams(params: Params): void {
  if (params.signedBlocksWindow <= 0n)
    throw unregisteredError(`signed blocks window must be positive: ${params.signedBlocksWindow}`);
  if (jailTimeNs(params) <= 0n)
    throw unregisteredError(`downtime jail duration must be positive: ${jailTimeNs(params)}`);
  requireFraction("min signed per window", params.minSignedPerWindow);
  requireFraction("double sign slash fraction", params.slashFractionDoubleSign);
  requireFraction("downtime slash fraction", params.slashFractionDowntime);
}

function requireFraction(name: string, digits: Uint8Array): void {
  const fraction = fractionOf(digits);
  if (fraction < 0n) throw unregisteredError(`${name} cannot be negative: ${fraction}`);
  if (fraction > DEC18_ONE) throw unregisteredError(`${name} too large: ${fraction}`);
}
