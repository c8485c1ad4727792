import { type Dec18, formatDec18 } from "../../../../platform/base/decimal.ts";
import { formatRfc3339Ns, NS_PER_SECOND, splitNs } from "../../../../platform/base/time.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import type { Commission, Validator } from "./records.ts";

// Events of x/staking. Amounts are coins as text, addresses bech32.

export function createdValidator(validator: string, amount: string): ChainEvent {
  return event("create_validator", [
    ["validator", validator],
    ["amount", amount],
  ]);
}

export function editedValidator({ commission, minSelfDelegation }: Validator): ChainEvent {
  return event("edit_validator", [
    ["commission_rate", commissionText(commission)],
    ["min_self_delegation", minSelfDelegation.toString()],
  ]);
}

/** Formats a protobuf message as text, in Go's format. */
function commissionText({ rate, maxRate, maxChangeRate, updateTimeNs }: Commission): string {
  const { seconds, nanos } = splitNs(updateTimeNs);
  const rates = `commission_rates:<rate:"${rate}" max_rate:"${maxRate}" max_change_rate:"${maxChangeRate}" > `;
  const time = `${seconds === 0n ? "" : `seconds:${seconds} `}${nanos === 0 ? "" : `nanos:${nanos} `}`;
  return `${rates}update_time:<${time}> `;
}

export function delegated(
  at: { readonly validator: string; readonly delegator: string },
  amount: string,
  newShares: Dec18,
): ChainEvent {
  return event("delegate", [
    ["validator", at.validator],
    ["delegator", at.delegator],
    ["amount", amount],
    ["new_shares", formatDec18(newShares)],
  ]);
}

export function undelegated(
  at: { readonly validator: string; readonly delegator: string },
  amount: string,
  completionTimeNs: bigint,
): ChainEvent {
  return event("unbond", [
    ["validator", at.validator],
    ["delegator", at.delegator],
    ["amount", amount],
    ["completion_time", wholeSeconds(completionTimeNs)],
  ]);
}

export function redelegated(
  at: { readonly source: string; readonly destination: string },
  amount: string,
  completionTimeNs: bigint,
): ChainEvent {
  return event("redelegate", [
    ["source_validator", at.source],
    ["destination_validator", at.destination],
    ["amount", amount],
    ["completion_time", wholeSeconds(completionTimeNs)],
  ]);
}

export function cancelledUnbonding(
  at: { readonly validator: string; readonly delegator: string },
  amount: string,
  creationHeight: bigint,
): ChainEvent {
  return event("cancel_unbonding_delegation", [
    ["amount", amount],
    ["validator", at.validator],
    ["delegator", at.delegator],
    ["creation_height", creationHeight.toString()],
  ]);
}

export function completedUnbonding(amount: string, validator: string, delegator: string): ChainEvent {
  return event("complete_unbonding", [
    ["amount", amount],
    ["validator", validator],
    ["delegator", delegator],
  ]);
}

export function completedRedelegation(
  amount: string,
  texts: {
    readonly delegatorAddress: string;
    readonly validatorSrcAddress: string;
    readonly validatorDstAddress: string;
  },
): ChainEvent {
  return event("complete_redelegation", [
    ["amount", amount],
    ["delegator", texts.delegatorAddress],
    ["source_validator", texts.validatorSrcAddress],
    ["destination_validator", texts.validatorDstAddress],
  ]);
}

/** Formats a time like Go's `time.RFC3339`, which drops fractional seconds. */
function wholeSeconds(timeNs: bigint): string {
  return formatRfc3339Ns(splitNs(timeNs).seconds * NS_PER_SECOND);
}
