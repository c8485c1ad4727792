import { joinNs } from "../../../../platform/base/time.ts";
import { type Coin, isDenom, parseWireInt } from "../../runtime/coins.ts";
import { DEC18_ONE } from "../../../../platform/base/decimal.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { Params } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { MODULE_NAME } from "./keys.ts";

/** All fields are zero until genesis stores parameters. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x51),
  type: Params,
  defaults: Params.decode(new Uint8Array(0)),
  validate: validateParams,
});

/** Returns the parameters used if a genesis has none, which are the deployed chain's. */
export function defaultParams(denom: string): Params {
  return {
    unbondingTime: { seconds: 1_814_400n, nanos: 0 },
    maxValidators: 100,
    maxEntries: 7,
    historicalEntries: 10_000,
    bondDenom: denom,
    minCommissionRate: "0",
  };
}

/** Returns the unbonding time in nanoseconds. */
export function unbondingTimeNs({ unbondingTime }: Params): bigint {
  return joinNs(unbondingTime);
}

/** Throws an unregistered error for parameters that would break the chain. The texts match the SDK's. */
function validateParams(params: Params): void {
  const time = unbondingTimeNs(params);
  if (time <= 0n) throw unregisteredError(`unbonding time must be positive: ${time}`);
  if (params.maxValidators === 0)
    throw unregisteredError(`max validators must be positive: ${params.maxValidators}`);
  if (params.maxEntries === 0) throw unregisteredError(`max entries must be positive: ${params.maxEntries}`);
  if (trimGoSpace(params.bondDenom) === "") throw unregisteredError("bond denom cannot be blank");
  if (!isDenom(params.bondDenom)) throw unregisteredError(`invalid denom: ${params.bondDenom}`);
  const rate = parseWireInt(params.minCommissionRate);
  if (rate < 0n) throw unregisteredError(`minimum commission rate cannot be negative: ${rate}`);
  if (rate > DEC18_ONE)
    throw unregisteredError(`minimum commission rate cannot be greater than 100%: ${rate}`);
}

/** Returns an amount as coins in the bonded denomination, or no coins if it is zero. */
export function bondCoins(context: Context, amount: bigint): readonly Coin[] {
  return amount === 0n ? [] : [{ denom: moduleParams.get(context).bondDenom, amount }];
}
