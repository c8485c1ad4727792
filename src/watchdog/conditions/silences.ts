import type { NodeObservation } from "../sources/observation.ts";
import type { ConditionInput } from "./condition-input.ts";
import { type NodeTrail, type Progress, UNSEEN } from "./trail.ts";

/** Time without a new block of one source. */
export interface Silence {
  readonly ms: number;
  /** The polls showed a new block, so the source was alive `ms` ago. Otherwise it was first seen `ms` ago. */
  readonly isAlive: boolean;
}

/** Returns the time since the source last showed a new block; undefined while it shows no height. */
function silenceOf(progress: Progress, height: bigint | undefined, atMs: number): Silence | undefined {
  const since = progress.advancedAtMs ?? progress.firstSeenMs;
  if (height === undefined || since === undefined) return undefined;
  return { ms: atMs - since, isAlive: progress.advancedAtMs !== undefined };
}

/** Returns the time since a node last showed a new block; undefined while it shows no height. */
export function nodeSilence(
  node: NodeObservation,
  { progress }: NodeTrail,
  atMs: number,
): Silence | undefined {
  return silenceOf(progress, node.metrics.state === "up" ? node.metrics.value.height : undefined, atMs);
}

/** Times without a block of all sources that show a height. */
export function allSilences({
  observation: { nodes, chain, atMs },
  trail,
}: ConditionInput): readonly Silence[] {
  const { head } = chain;
  return [
    ...nodes.map((node) => nodeSilence(node, trail.nodes.get(node.name) ?? UNSEEN, atMs)),
    silenceOf(trail.chain, head.state === "up" ? head.value.height : undefined, atMs),
  ].filter((silence) => silence !== undefined);
}

/** Whether a source has shown a new block lately. */
export function goesOn(silences: readonly Silence[], haltAfterMs: number): boolean {
  return silences.some(({ ms, isAlive }) => isAlive && ms <= haltAfterMs);
}
