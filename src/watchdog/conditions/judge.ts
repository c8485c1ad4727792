import type { NodeObservation } from "../sources/observation.ts";
import type { ConditionInput } from "./condition-input.ts";
import { active, cannotSee, clear, type Verdict } from "./condition.ts";
import { type NodeTrail, UNSEEN } from "./trail.ts";

/** One node of the validator, with what earlier polls showed of it. */
export interface NodeInput {
  readonly node: NodeObservation;
  readonly trail: NodeTrail;
  readonly atMs: number;
}

/**
 * Judges each node of a validator. Active when any node is: each node votes with the prices of its own sidecar. Clear when
 * all nodes are. With several nodes the reason names them.
 */
export function judgeNodes(
  { observation, trail }: ConditionInput,
  judge: (input: NodeInput) => Verdict,
): Verdict {
  const { nodes, atMs } = observation;
  const all = nodes.map((node) => ({
    name: node.name,
    verdict: judge({ node, trail: trail.nodes.get(node.name) ?? UNSEEN, atMs }),
  }));
  const worst = (["active", "unknown", "clear"] as const)
    .map((kind) => all.filter(({ verdict }) => verdict.kind === kind))
    .find((some) => some.length > 0);
  const [first] = worst ?? [];
  if (first === undefined || worst === undefined) return cannotSee("the validator has no node");
  if (nodes.length === 1) return first.verdict;
  const reason = worst.map(({ name, verdict }) => `${name}: ${verdict.reason}`).join("; ");
  const badness = Math.max(...worst.map(({ verdict }) => verdict.badness ?? 0));
  return first.verdict.kind === "active" ? active(reason, badness) : { kind: first.verdict.kind, reason };
}

/** Age up to which an oracle call shows how the sidecar answers the node. Several blocks, and at least three polls. */
const CALLS_MS = 30_000;

/** How the node's latest oracle calls ended. "unknown": no call was seen lately. */
export type CallResult = "good" | "bad" | "unknown";

/** Returns how the node's latest calls ended. When one poll saw both, the failure counts: it can raise an alert. */
export function latestCalls({ trail: { lastGoodMs = 0, lastBadMs = 0 }, atMs }: NodeInput): CallResult {
  const latestMs = Math.max(lastGoodMs, lastBadMs);
  if (latestMs === 0 || atMs - latestMs > CALLS_MS) return "unknown";
  return lastBadMs >= lastGoodMs ? "bad" : "good";
}

/** The verdict for one test: active with one reason, clear with the other. */
export function verdictOf(isActive: boolean, reason: string, badness?: number): Verdict {
  return isActive ? active(reason, badness) : clear(reason);
}

/** Formats a time as seconds or minutes: "12 s". */
export function secondsText(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
