import type { Clock } from "../../base/clock.ts";

/**
 * Decides whether a worker reads one block ahead. A value that is read when its query is due is the newest, but reading,
 * proving, simulating and sending it may take longer than a block. Then a query that is due in every block would get a
 * result in every second one only.
 */
export interface Lead {
  readonly noteHeight: (height: bigint) => void;
  /** Notes the duration of a cycle: reading and proving. */
  readonly noteCycle: (durationMs: number) => void;
  /** Returns 1 when cycle and sending take too long for the block, else 0. */
  readonly blocks: (sendMs: number) => bigint;
  /** Pause before the remote chain is asked again for a new block. */
  readonly retryMs: () => number;
}

/** Share of a block that a cycle may take before it starts a block early. The rest is for the way of the block itself. */
const MAX_SHARE = 0.6;
/** Weight of the last measurement. */
const WEIGHT = 0.3;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

function average(before: number | undefined, now: number): number {
  return before === undefined ? now : before + (now - before) * WEIGHT;
}

/** Creates a lead that knows no durations. It is 0 until they are known. */
export function createLead(clock: Pick<Clock, "monotonicMs">): Lead {
  let last: { readonly height: bigint; readonly atMs: number } | undefined;
  let blockMs: number | undefined;
  let cycleMs = 0;
  return {
    noteHeight: (height) => {
      const atMs = clock.monotonicMs();
      if (last !== undefined && height > last.height)
        blockMs = average(blockMs, (atMs - last.atMs) / Number(height - last.height));
      if (last?.height !== height) last = { height, atMs };
    },
    noteCycle: (durationMs) => {
      cycleMs = average(cycleMs, durationMs);
    },
    blocks: (sendMs) => (blockMs !== undefined && cycleMs + sendMs > blockMs * MAX_SHARE ? 1n : 0n),
    retryMs: () => Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, (blockMs ?? MAX_RETRY_MS) / 4)),
  };
}
