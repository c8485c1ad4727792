import { formatDuration } from "../../platform/base/text.ts";
import type { NodeObservation } from "../sources/observation.ts";
import { active, cannotSee, clear, type ConditionInput, type ConditionResult } from "./condition.ts";
import { type NodeHistory, type Progress, UNSEEN } from "./poll-history.ts";

/** One of the validator's nodes, with what previous polls showed about it. */
export interface NodeInput {
  readonly node: NodeObservation;
  readonly history: NodeHistory;
  readonly atMs: number;
}

/**
 * Evaluates each of a validator's nodes. Active if any node is, because each node votes with its own sidecar's prices; clear if
 * all nodes are. If there are several nodes, the reason names them.
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

/** An oracle call older than this no longer shows how the sidecar responds. Spans several blocks and at least three polls. */
const CALLS_MS = 30_000;

/** How the node's latest oracle calls ended. "unknown" means no recent call. */
export type CallResult = "good" | "bad" | "unknown";

/** Returns how the node's latest calls ended. If one poll saw both results, returns "bad", since a failure can raise an alert. */
export function latestCalls({ history: { lastGoodMs = 0, lastBadMs = 0 }, atMs }: NodeInput): CallResult {
  const latestMs = Math.max(lastGoodMs, lastBadMs);
  if (latestMs === 0 || atMs - latestMs > CALLS_MS) return "unknown";
  return lastBadMs >= lastGoodMs ? "bad" : "good";
}

/** Returns an active or clear result with the given reason. */
export function resultOf(isActive: boolean, reason: string, badness?: number): ConditionResult {
  return isActive ? active(reason, badness) : clear(reason);
}

/** Formats a duration, rounded to seconds: "12 s", "20 min". */
export function secondsText(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}

/** How long a source has shown no new block. */
interface BlockAge {
  readonly ms: number;
  /** True if polls have seen a new block, so the source was alive `ms` ago. Otherwise, the source was first seen `ms` ago. */
  readonly isAlive: boolean;
}

/** Returns how long ago the source last showed a new block; undefined if it shows no height. */
function blockAge(progress: Progress, height: bigint | undefined, atMs: number): BlockAge | undefined {
  const since = progress.advancedAtMs ?? progress.firstSeenMs;
  if (height === undefined || since === undefined) return undefined;
  return { ms: atMs - since, isAlive: progress.advancedAtMs !== undefined };
}

/** Returns how long ago a node last showed a new block; undefined if it shows no height. */
export function nodeBlockAge(
  node: NodeObservation,
  { progress }: NodeHistory,
  atMs: number,
): BlockAge | undefined {
  return blockAge(progress, node.metrics.state === "up" ? node.metrics.value.height : undefined, atMs);
}

/** Returns the time without a new block for each source that shows a height. */
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

/** Returns true if any source has recently shown a new block. */
export function isProducing(ages: readonly BlockAge[], haltAfterMs: number): boolean {
  return ages.some(({ ms, isAlive }) => isAlive && ms <= haltAfterMs);
}
