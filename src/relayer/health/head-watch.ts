import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";

/** The newest block of a chain, as far as it is known. Ages are in ms up to now. */
export interface HeadView {
  /** undefined: no status was read yet. */
  readonly height: bigint | undefined;
  /** Time in the block's header, wall-clock ms; undefined when unknown. */
  readonly blockTimeMs: number | undefined;
  /** Time without a new block; undefined when no status was read yet. */
  readonly sinceBlockMs: number | undefined;
  /** Time since a status was read last; since the start when none was. */
  readonly sinceReadMs: number;
  /** Time since a read ended last, successful or not; since the start when none did. */
  readonly sinceTryMs: number;
  /** Whether the node says that it is still catching up. */
  readonly catchingUp: boolean;
  /** Error of the last read; undefined after a successful one. */
  readonly error: string | undefined;
}

/** A block as a status or a notice reports it. */
type SeenBlock = Pick<NodeStatus, "latestHeight" | "latestTimeNs"> & Partial<Pick<NodeStatus, "catchingUp">>;

/** Watches the newest block of one chain. */
export interface HeadWatch {
  /** Records what a node said. `latestTimeNs` 0 means unknown. */
  readonly note: (block: SeenBlock) => void;
  /** Records that the chain could not be read. */
  readonly noteError: (error: unknown) => void;
  readonly view: () => HeadView;
  /** The first sight of this height or a greater one; see `HeightMarks.firstFrom`. */
  readonly firstFrom: (height: bigint) => HeightMark | undefined;
}

/** Heights whose first sight is remembered: several hours of one-second blocks. */
const MARKS = 20_000;

/**
 * For this long, lower heights than the known one count as those of an endpoint that is behind. After that the chain
 * itself has begun again.
 */
const RESET_MS = 30_000;

/** Creates a watch that has seen nothing. `localHeight` is the latest local height. */
export function createHeadWatch(clock: Clock, localHeight: () => bigint): HeadWatch {
  const marks = createHeightMarks(MARKS);
  let height: bigint | undefined;
  let blockTimeMs: number | undefined;
  let catchingUp = false;
  let error: string | undefined;
  let lowerSinceMs: number | undefined;
  let readAtMs = clock.monotonicMs();
  let triedAtMs = readAtMs;
  let newAtMs = readAtMs;

  const take = (block: SeenBlock, nowMs: number): void => {
    const timeMs = block.latestTimeNs === 0n ? undefined : Number(block.latestTimeNs / 1_000_000n);
    // At the first sight only the header can say for how long there has been no new block. Later this process knows it
    // better, since its clock and that of the chain may differ.
    const ageMs = height === undefined && timeMs !== undefined ? Math.max(0, clock.nowMs() - timeMs) : 0;
    newAtMs = nowMs - ageMs;
    [height, blockTimeMs] = [block.latestHeight, timeMs];
    marks.add({ height, atMs: newAtMs, localHeight: localHeight() });
  };

  const note: HeadWatch["note"] = (block) => {
    const nowMs = clock.monotonicMs();
    [readAtMs, triedAtMs, error] = [nowMs, nowMs, undefined];
    if (block.catchingUp !== undefined) catchingUp = block.catchingUp;
    if (height !== undefined && block.latestHeight < height) {
      lowerSinceMs ??= nowMs;
      if (nowMs - lowerSinceMs < RESET_MS) return;
      marks.clear();
    } else if (block.latestHeight === height) {
      lowerSinceMs = undefined;
      return;
    }
    lowerSinceMs = undefined;
    take(block, nowMs);
  };

  return {
    note,
    noteError: (thrown) => {
      triedAtMs = clock.monotonicMs();
      error = errorText(thrown);
    },
    view: () => {
      const nowMs = clock.monotonicMs();
      return {
        height,
        blockTimeMs,
        sinceBlockMs: height === undefined ? undefined : nowMs - newAtMs,
        sinceReadMs: nowMs - readAtMs,
        sinceTryMs: nowMs - triedAtMs,
        catchingUp,
        error,
      };
    },
    firstFrom: marks.firstFrom,
  };
}

/** A height of a chain and when this process saw it first. */
export interface HeightMark {
  readonly height: bigint;
  /** Monotonic time, ms. */
  readonly atMs: number;
  /** Latest local height at that time. */
  readonly localHeight: bigint;
}

/** Remembers when the newest heights of a chain were seen first. */
interface HeightMarks {
  /** Adds a mark. A height that is not greater than the last one is ignored. */
  readonly add: (mark: HeightMark) => void;
  /**
   * Returns the first mark at this height or above, undefined when none is. A height below all marks returns the oldest
   * one: the chain was there before this process began to watch it. O(log n).
   */
  readonly firstFrom: (height: bigint) => HeightMark | undefined;
  readonly clear: () => void;
}

/** Creates an empty memory of at most `capacity` marks; the oldest ones go first. */
export function createHeightMarks(capacity: number): HeightMarks {
  let marks: HeightMark[] = [];
  return {
    add: (mark) => {
      const last = marks.at(-1);
      if (last !== undefined && mark.height <= last.height) return;
      marks.push(mark);
      // In large steps, so that a mark costs constant time on average.
      if (marks.length > capacity) marks = marks.slice(Math.ceil(capacity / 2));
    },
    firstFrom: (height) => {
      let [low, high] = [0, marks.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((marks[middle]?.height ?? 0n) < height) low = middle + 1;
        else high = middle;
      }
      return marks[low];
    },
    clear: () => {
      marks = [];
    },
  };
}
