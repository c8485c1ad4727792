import type { NodeObservation } from "../sources/observation.ts";
import { countdownText, haltText } from "../policy/upgrade-countdown.ts";
import { cannotSee, clear, condition, resultOf, threshold } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import type { PollHistory } from "./poll-history.ts";

/** The settings and texts that both conditions share. */
const common = {
  end: "no upgrade is planned",
  when: "the chain has planned an upgrade that is expected in less than `lead`",
  impact:
    "None before the upgrade height. A node without the new version stops there and misses every block that the others make from then on.",
  for: "0s",
  resolveFor: "1m",
  past: { notStored: "planned upgrades" },
  evaluate: evaluatePlan,
} as const;

export const UPGRADE_CONDITIONS: readonly Condition[] = [
  condition({
    ...common,
    name: "upgrade-planned",
    severity: "info",
    title: "Chain upgrade planned",
    description: "The chain has planned an upgrade: every node needs the new version at the upgrade height.",
    action: "Prepare the new version on every node, and plan who will be on duty when the height is reached.",
    thresholds: { lead: threshold("duration", 86_400_000, "expected time until the upgrade") },
  }),
  condition({
    ...common,
    name: "upgrade-imminent",
    severity: "warning",
    title: "Chain upgrade is near",
    description:
      "The height of a planned upgrade will be reached soon, and every node will then need the new version.",
    action:
      "Check that the new version is in place on every node, and stay on duty until the validator signs again.",
    thresholds: { lead: threshold("duration", 3_600_000, "expected time until the upgrade") },
    inhibits: ["upgrade-planned"],
  }),
];

function evaluatePlan(
  { observation, upgrade }: ConditionInput,
  limit: (key: "lead") => number,
): ConditionResult {
  const { upgrade: seen = { state: "not-configured" } } = observation.chain;
  if (seen.state === "not-configured") return cannotSee("no chain is configured");
  if (seen.state === "absent") return clear("the chain has no upgrade module");
  // While the chain cannot be queried, the last known plan applies.
  if (upgrade === undefined)
    return seen.state === "up" ? clear("no upgrade is planned") : cannotSee("the plan cannot be read");
  const text = `upgrade ${countdownText(upgrade, observation.atMs)}`;
  if (upgrade.doneMs !== undefined || upgrade.remainingBlocks === 0n) return clear(text);
  if (upgrade.atMs === undefined) return cannotSee(text);
  return resultOf(upgrade.atMs.middle - observation.atMs <= limit("lead"), text);
}

/** Appends to an active result that a node stopped at the block of a planned upgrade, as the old version does. */
export function withUpgrade(
  result: ConditionResult,
  nodes: readonly NodeObservation[],
  { upgrade, nodes: known }: PollHistory,
): ConditionResult {
  if (result.kind !== "active") return result;
  const texts = nodes.flatMap(({ name, metrics }) =>
    metrics.state === "error" ? [haltText(upgrade, known.get(name)?.progress.height, "node")] : [],
  );
  return { ...result, reason: `${result.reason}${texts.find((text) => text !== "") ?? ""}` };
}
