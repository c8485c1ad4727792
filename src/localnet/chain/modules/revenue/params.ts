import { Params, type PerformanceRequirement } from "../../../../cosmos/proto/gen/neutron/revenue/params.ts";
import { type Dec18, DEC18_ONE } from "../../../../platform/base/decimal.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import type { Requirement, ScheduleType } from "./schedule.ts";

export const MODULE_NAME = "revenue";

const MAX_TWAP_SECONDS = 2_592_000n;

function requirement(allowed: Dec18, required: Dec18): PerformanceRequirement {
  return { allowedToMiss: allowed.toString(), requiredAtLeast: required.toString() };
}

/** Limits on a validator's misses, and its pay. Shares are decimals stored as digits. Defaults: the deployed module's. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(1),
  type: Params,
  defaults: {
    rewardAsset: "untrn",
    rewardQuote: { amount: 2500n, asset: "USD" },
    blocksPerformanceRequirement: requirement(DEC18_ONE / 200n, (DEC18_ONE * 9n) / 10n),
    oracleVotesPerformanceRequirement: requirement(DEC18_ONE / 200n, (DEC18_ONE * 9n) / 10n),
    paymentScheduleType: {
      paymentScheduleType: { $case: "emptyPaymentScheduleType", value: {} },
    },
    twapWindow: 86_400n,
  },
  validate: validateParams,
});

export function requirementOf(given: PerformanceRequirement | undefined): Requirement {
  return { allowed: decimalOf(given?.allowedToMiss), required: decimalOf(given?.requiredAtLeast) };
}

function decimalOf(digits: string | undefined): Dec18 {
  return parseInt256(digits === undefined || digits === "" ? "0" : digits);
}

export function scheduleTypeOf({ paymentScheduleType }: Params): ScheduleType {
  return paymentScheduleType?.paymentScheduleType ?? { $case: "emptyPaymentScheduleType", value: {} };
}

/** Throws an unregistered error with the deployed module's text if parameters are invalid. */
function validateParams(params: Params): void {
  const { twapWindow, paymentScheduleType } = params;
  if (twapWindow < 1n || twapWindow > MAX_TWAP_SECONDS)
    throw unregisteredError(`twap window must be between 1 and ${MAX_TWAP_SECONDS}`);
  const both = [
    ["blocks", requirementOf(params.blocksPerformanceRequirement)],
    ["oracle votes", requirementOf(params.oracleVotesPerformanceRequirement)],
  ] as const;
  for (const [name, { allowed, required }] of both) {
    requireShare(`${name} allowed to miss`, allowed);
    requireShare(`${name} required at least`, required);
  }
  for (const [name, { allowed, required }] of both)
    if (allowed + required > DEC18_ONE)
      throw unregisteredError(
        `sum of ${name} allowed to miss and required at least must not be greater than 1.0`,
      );
  if (paymentScheduleType?.paymentScheduleType === undefined)
    throw unregisteredError("payment schedule type is not set");
}

function requireShare(name: string, share: Dec18): void {
  if (share < 0n || share > DEC18_ONE) throw unregisteredError(`${name} must be between 0.0 and 1.0`);
}
