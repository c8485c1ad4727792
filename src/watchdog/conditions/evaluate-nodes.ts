import { formatDuration } from "../../platform/base/text.ts";
import type { NodeObservation } from "../sources/observation.ts";
import { active, cannotSee, clear, type ConditionInput, type ConditionResult } from "./condition.ts";
import { type NodeHistory, type Progress, UNSEEN } from "./poll-history.ts";

/** One node of the validator, with what earlier polls showed of it. */
export interface NodeInput {
  readonly node: NodeObservation;
  readonly history: NodeHistory;
  readonly atMs: number;
}

/**
 * Evaluates each node of a validator. Active when any node is: each node votes with the prices of its own sidecar. Clear when
 * all nodes are. With several nodes the reason names them.
 */
export function evaluateNodes(
  { observation, history }: ConditionInput,
  evaluate: (input: NodeInput) => ConditionResult,
): ConditionResult {
  const { nodes, atMs } = observation;
  const all = nodes.map((node) => ({
    name: node.name,
    result: evaluate({ node, history: history.nodes.get(node.name) ?? UNSEEN, atMs }),
  }));
  const worst = (["active", "unknown", "clear"] as const)
    .map((kind) => all.filter(({ result }) => result.kind === kind))
    .find((some) => some.length > 0);
  const [first] = worst ?? [];
  if (first === undefined || worst === undefined) return cannotSee("the validator has no node");
  if (nodes.length === 1) return first.result;
  const reason = worst.map(({ name, result }) => `${name}: ${result.reason}`).join("; ");
  const badness = Math.max(...worst.map(({ result }) => result.badness ?? 0));
  return first.result.kind === "active" ? active(reason, badness) : { kind: first.result.kind, reason };
}

/** Age up to which an oracle call shows how the sidecar responds to the node. Several blocks, and at least three polls. */
const CALLS_MS = 30_000;

/** How the node's latest oracle calls ended. "unknown": no recent call. */
export type CallResult = "good" | "bad" | "unknown";

/** Returns how the node's latest calls ended. When one poll saw both, returns "bad": a failure can raise an alert. */
export function latestCalls({ history: { lastGoodMs = 0, lastBadMs = 0 }, atMs }: NodeInput): CallResult {
  const latestMs = Math.max(lastGoodMs, lastBadMs);
  if (latestMs === 0 || atMs - latestMs > CALLS_MS) return "unknown";
  return lastBadMs >= lastGoodMs ? "bad" : "good";
}

/** The result for one test: active with one reason, clear with the other. */
export function resultOf(isActive: boolean, reason: string, badness?: number): ConditionResult {
  return isActive ? active(reason, badness) : clear(reason);
}

/** Formats a time, rounded to seconds: "12 s", "20 min". */
export function secondsText(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}

/** Time without a new block of one source. */
interface BlockAge {
  readonly ms: number;
  /** The polls showed a new block, so the source was alive `ms` ago. Otherwise it was first seen `ms` ago. */
  readonly isAlive: boolean;
}

/** Returns the time since the source last showed a new block; undefined while it shows no height. */
function blockAge(progress: Progress, height: bigint | undefined, atMs: number): BlockAge | undefined {
  const since = progress.advancedAtMs ?? progress.firstSeenMs;
  if (height === undefined || since === undefined) return undefined;
  return { ms: atMs - since, isAlive: progress.advancedAtMs !== undefined };
}

/** Returns the time since a node last showed a new block; undefined while it shows no height. */
export function nodeBlockAge(
  node: NodeObservation,
  { progress }: NodeHistory,
  atMs: number,
): BlockAge | undefined {
  return blockAge(progress, node.metrics.state === "up" ? node.metrics.value.height : undefined, atMs);
}

/** Times without a block of all sources that show a height. */
export function blockAges({
  observation: { nodes, chain, atMs },
  history,
}: ConditionInput): readonly BlockAge[] {
  const { head } = chain;
  return [
    ...nodes.map((node) => nodeBlockAge(node, history.nodes.get(node.name) ?? UNSEEN, atMs)),
    blockAge(history.chain, head.state === "up" ? head.value.height : undefined, atMs),
  ].filter((age) => age !== undefined);
}

/** True if a source has shown a new block recently. */
export function isProducing(ages: readonly BlockAge[], haltAfterMs: number): boolean {
  return ages.some(({ ms, isAlive }) => isAlive && ms <= haltAfterMs);
}
