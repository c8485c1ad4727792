import { formatDuration } from "../../platform/base/text.ts";
import { type NodeObservation, readingOf } from "../sources/observation.ts";
import { active, cannotSee, type Condition, type ConditionInput, type ConditionResult } from "./condition.ts";
import { type NodeHistory, type Progress, UNSEEN } from "./poll-history.ts";

/** One of the validator's nodes, with its history from previous polls. */
export interface NodeInput {
  readonly node: NodeObservation;
  readonly history: NodeHistory;
  readonly atMs: number;
  /** The condition input that covers all of the validator's nodes. */
  readonly whole: ConditionInput;
}

/** Returns the input for each of a validator's nodes, in configuration order. */
export function nodeInputs(input: ConditionInput): readonly NodeInput[] {
  const { nodes, atMs } = input.observation;
  return nodes.map((node) => ({
    node,
    history: input.history.nodes.get(node.name) ?? UNSEEN,
    atMs,
    whole: input,
  }));
}

/**
 * Evaluates a condition on each of a validator's nodes. The result is active if it is active for any node, because each node votes
 * with its own sidecar's prices. The result is only clear if it is clear for all nodes. If there are several nodes, the reason
 * names the affected nodes.
 */
export function eachNode<Key extends string = never>(
  evaluate: (input: NodeInput, limit: (key: Key) => number) => ConditionResult,
): Condition<Key>["evaluate"] {
  return (input, limit) => {
    const all = nodeInputs(input).map((own) => ({ name: own.node.name, result: evaluate(own, limit) }));
    const worst = (["active", "unknown", "clear"] as const)
      .map((kind) => all.filter(({ result }) => result.kind === kind))
      .find((some) => some.length > 0);
    const [first] = worst ?? [];
    if (first === undefined || worst === undefined) return cannotSee("the validator has no node");
    if (all.length === 1) return first.result;
    const reason = worst.map(({ name, result }) => `${name}: ${result.reason}`).join("; ");
    const badness = Math.max(...worst.map(({ result }) => result.badness ?? 0));
    return first.result.kind === "active" ? active(reason, badness) : { kind: first.result.kind, reason };
  };
}

/** Maximum age of oracle calls that show the sidecar's current state, in ms. The time covers several blocks and at least three polls. */
export const CALLS_MS = 30_000;

/**
 * Returns "good" or "bad" for the result of the node's latest calls, or "unknown" if there is no recent call. If one poll saw both
 * successes and failures, returns "bad" so that the failures can raise an alert.
 */
export function latestCalls({
  history: { lastGoodMs = 0, lastBadMs = 0 },
  atMs,
}: NodeInput): "good" | "bad" | "unknown" {
  const latestMs = Math.max(lastGoodMs, lastBadMs);
  if (latestMs === 0 || atMs - latestMs > CALLS_MS) return "unknown";
  return lastBadMs >= lastGoodMs ? "bad" : "good";
}

/** Formats a duration, rounded to seconds, such as "12 s" or "20 min". */
export function secondsText(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}

/** The time since a source last showed a new block. If a source has not shown a new block yet, the time since the source was first read. */
interface BlockAge {
  readonly ms: number;
  /** True if a poll has seen a new block, so that `ms` is the block's age. If false, `ms` is the time since the source was first read. */
  readonly isAlive: boolean;
}

function blockAge(progress: Progress, height: bigint | undefined, atMs: number): BlockAge | undefined {
  const since = progress.advancedAtMs ?? progress.firstSeenMs;
  if (height === undefined || since === undefined) return undefined;
  return { ms: atMs - since, isAlive: progress.advancedAtMs !== undefined };
}

/** Returns the time since a node last showed a new block; undefined if the node shows no height. */
export function nodeBlockAge({ node, history, atMs }: NodeInput): BlockAge | undefined {
  return blockAge(history.progress, readingOf(node.metrics)?.height, atMs);
}

/** Returns the time since the last new block for every source that shows a height. */
export function blockAges(input: ConditionInput): readonly BlockAge[] {
  const { chain, atMs } = input.observation;
  const all = [
    ...nodeInputs(input).map(nodeBlockAge),
    blockAge(input.history.chain, readingOf(chain.head)?.height, atMs),
  ];
  return all.filter((age) => age !== undefined);
}

/** Returns true if any source has recently shown a new block. */
export function isProducing(ages: readonly BlockAge[], haltAfterMs: number): boolean {
  return ages.some(({ ms, isAlive }) => isAlive && ms <= haltAfterMs);
}
