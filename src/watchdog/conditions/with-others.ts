import { standingOf } from "../policy/standing.ts";
import { type SharedKind, sharedSuffix } from "../policy/standing-texts.ts";
import type { ConditionInput, ConditionResult } from "./condition.ts";

/** Adds to the reason of an active result whether the validator is alone with its misses, as far as it is known. */
export function withOthers(
  result: ConditionResult,
  { observation }: Pick<ConditionInput, "observation">,
  kind: SharedKind,
): ConditionResult {
  if (result.kind !== "active") return result;
  const suffix = sharedSuffix(standingOf(observation, undefined)[kind], kind);
  return suffix === "" ? result : { ...result, reason: `${result.reason}${suffix}` };
}
