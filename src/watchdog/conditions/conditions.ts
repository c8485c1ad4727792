import type { AlertRule, Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { BURN_CONDITIONS, REWARD_CONDITIONS } from "./reward-conditions.ts";
import { PRICE_CONDITIONS } from "./price-conditions.ts";
import { NETWORK_CONDITIONS, WATCHDOG_CONDITIONS } from "./network-conditions.ts";
import { CHAIN_CONDITIONS, PAYMENT_CONDITIONS } from "./chain-conditions.ts";
import { NODE_CONDITIONS } from "./node-conditions.ts";
import { SIDECAR_CONDITIONS } from "./sidecar-conditions.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { standingOf } from "../policy/standing.ts";
import { type SharedKind, sharedSuffix } from "../policy/standing-texts.ts";

/** All conditions, in the order used by the API and the status page. */
export const CONDITIONS: readonly Condition[] = [
  ...SIDECAR_CONDITIONS,
  ...PRICE_CONDITIONS,
  ...NODE_CONDITIONS,
  ...CHAIN_CONDITIONS,
  ...REWARD_CONDITIONS,
  ...BURN_CONDITIONS,
  ...PAYMENT_CONDITIONS,
  ...NETWORK_CONDITIONS,
  ...WATCHDOG_CONDITIONS,
];

/** Evaluates all alert rules for one poll and returns the results by condition name. */
export function evaluateConditions(
  rules: readonly AlertRule[],
  input: ConditionInput,
): ReadonlyMap<string, ConditionResult> {
  return new Map(
    rules.map(({ condition, limits }) => [
      condition.name,
      withOthers(
        condition.evaluate(
          input,
          (key) => limits[key] ?? unreachable(`no value of ${condition.name}.${key}`),
        ),
        input,
        condition.others,
      ),
    ]),
  );
}

/** Appends to an active result's reason how many other validators also miss votes or commits. */
function withOthers(
  result: ConditionResult,
  { observation }: ConditionInput,
  others: SharedKind | undefined,
): ConditionResult {
  if (result.kind !== "active" || others === undefined) return result;
  const suffix = sharedSuffix(standingOf(observation, undefined)[others], others);
  return suffix === "" ? result : { ...result, reason: `${result.reason}${suffix}` };
}
