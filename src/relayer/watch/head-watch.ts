import { NS_PER_MS } from "../../platform/base/time.ts";
import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";

/** A chain's newest known block. Ages are in ms. */
export interface HeadView {
  /** undefined before the first status. */
  readonly height: bigint | undefined;
  /** Time in the block's header, wall-clock ms; undefined if unknown. */
  readonly blockTimeMs: number | undefined;
  /**
   * Time according to the chain, in wall-clock ms: the time of its newest block with a known time, plus the time since that block
   * was seen. The chain decides by its own time, for instance whether a light client has expired, and this machine's clock may be
   * wrong. Until such a block has been seen, this machine's time is used.
   */
  readonly chainMs: number;
  /** Time without a new block; undefined before the first status. */
  readonly sinceBlockMs: number | undefined;
  /** Mean time between the newest blocks; undefined before the third one. */
  readonly blockMs: number | undefined;
  /** Time since the last successful read, or since the start. */
  readonly sinceReadMs: number;
  /** Time since the last read ended, successful or not, or since the start. */
  readonly sinceTryMs: number;
  /** Whether the node reports that it is catching up. */
  readonly catchingUp: boolean;
  /** Error from the last read; undefined if it succeeded. */
  readonly error: string | undefined;
}

/** A block reported by a status or a WebSocket notice. */
type SeenBlock = Pick<NodeStatus, "latestHeight" | "latestTimeNs"> & Partial<Pick<NodeStatus, "catchingUp">>;

/** Watches the newest block of one chain. */
export interface HeadWatch {
  /** Records a node's newest block. `latestTimeNs` 0 means unknown. */
  readonly record: (block: SeenBlock) => void;
  /** Records a failed read. */
  readonly recordError: (error: unknown) => void;
  readonly view: () => HeadView;
  /** When this height, or a higher one, was first seen; see `HeightMarks.firstFrom`. */
  readonly firstFrom: (height: bigint) => HeightMark | undefined;
}

/** Maximum number of remembered heights: over five hours of one-second blocks. */
const MARKS = 20_000;

/** A chain that is at a lower height for this long was reset. Before that, it is more likely that an endpoint is behind. */
const RESET_MS = 30_000;

/** Creates a watch that has seen no block. `localHeight` returns the latest local height. */
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
  /** The newest block with a known time, and when it was seen. */
  let timed: { readonly blockMs: number; readonly seenMs: number } | undefined;

  const takeBlock = (block: SeenBlock, nowMs: number): void => {
    const timeMs = block.latestTimeNs === 0n ? undefined : Number(block.latestTimeNs / NS_PER_MS);
    // Only the header tells how old the first block is. Later blocks are timed by our own clock, which may differ from
    // the chain's.
    const ageMs = height === undefined && timeMs !== undefined ? Math.max(0, clock.nowMs() - timeMs) : 0;
    newAtMs = nowMs - ageMs;
    if (timeMs !== undefined) timed = { blockMs: timeMs, seenMs: nowMs };
    [height, blockTimeMs] = [block.latestHeight, timeMs];
    marks.add({ height, atMs: newAtMs, localHeight: localHeight() });
  };

  const record: HeadWatch["record"] = (block) => {
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
    takeBlock(block, nowMs);
  };

  return {
    record,
    recordError: (thrown) => {
      triedAtMs = clock.monotonicMs();
      error = errorText(thrown);
    },
    view: () => {
      const nowMs = clock.monotonicMs();
      return {
        height,
        blockTimeMs,
        // Whole, as it goes into a store: the monotonic clock has fractions.
        chainMs: timed === undefined ? clock.nowMs() : timed.blockMs + Math.round(nowMs - timed.seenMs),
        sinceBlockMs: height === undefined ? undefined : nowMs - newAtMs,
        blockMs: marks.blockMs(),
        sinceReadMs: nowMs - readAtMs,
        sinceTryMs: nowMs - triedAtMs,
        catchingUp,
        error,
      };
    },
    firstFrom: marks.firstFrom,
  };
}

/** Reads of the local chain's query list. */
export interface ListView {
  /** True once the list has been read. */
  readonly isLoaded: boolean;
  /**
   * Failures since its last read, in which case the list may lack changes. `sinceMs` is the time since the first failure,
   * `reason` the last error.
   */
  readonly failure: { readonly sinceMs: number; readonly reason: string } | undefined;
}

/** Records reads of the query list. */
interface ListWatch {
  readonly onLoaded: () => void;
  readonly onLocalError: (error: unknown) => void;
  readonly view: () => ListView;
}

/** Creates a watch of a list that has not been read yet. */
export function createListWatch(clock: Pick<Clock, "monotonicMs">): ListWatch {
  let isLoaded = false;
  let failure: { readonly fromMs: number; readonly reason: string } | undefined;
  return {
    onLoaded: () => {
      [isLoaded, failure] = [true, undefined];
    },
    onLocalError: (error) => {
      failure = { fromMs: failure?.fromMs ?? clock.monotonicMs(), reason: errorText(error) };
    },
    view: () => ({
      isLoaded,
      failure: failure && { sinceMs: clock.monotonicMs() - failure.fromMs, reason: failure.reason },
    }),
  };
}

/** A height on a chain, and when this process first saw it. */
export interface HeightMark {
  readonly height: bigint;
  /** Monotonic time, ms. */
  readonly atMs: number;
  /** Latest local height at that time. */
  readonly localHeight: bigint;
}

/** Number of blocks over which the block time is averaged. */
const TIMED_BLOCKS = 100n;

/** When each of a chain's newest heights was first seen. */
interface HeightMarks {
  /** Adds a mark. Ignores heights that are not above the last one. */
  readonly add: (mark: HeightMark) => void;
  /**
   * Returns the first mark at or above this height; undefined if the chain has not reached it. For a height below all marks,
   * returns the oldest one, because the chain passed that height before this process started. O(log n).
   */
  readonly firstFrom: (height: bigint) => HeightMark | undefined;
  /** Returns the mean time between the newest blocks, at least 1; undefined before the third mark. O(log n). */
  readonly blockMs: () => number | undefined;
  readonly clear: () => void;
}

/** Creates an empty list of at most `capacity` marks. The oldest marks are dropped first. */
export function createHeightMarks(capacity: number): HeightMarks {
  let marks: HeightMark[] = [];
  const firstFrom = (height: bigint): HeightMark | undefined => {
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((marks[middle]?.height ?? 0n) < height) low = middle + 1;
      else high = middle;
    }
    return marks[low];
  };
  return {
    add: (mark) => {
      const last = marks.at(-1);
      if (last !== undefined && mark.height <= last.height) return;
      marks.push(mark);
      // Halving instead of dropping one mark keeps the average cost of `add` constant.
      if (marks.length > capacity) marks = marks.slice(Math.ceil(capacity / 2));
    },
    firstFrom,
    blockMs: () => {
      // The first block has the time of its header, before the block was seen.
      const [, second] = marks;
      const newest = marks.at(-1);
      if (second === undefined || newest === undefined || newest === second) return undefined;
      const first = firstFrom(maxInt(newest.height - TIMED_BLOCKS, second.height));
      // After a gap of more blocks, the newest mark alone is within the range, and its distance from itself is no time.
      const oldest = (first === newest ? marks.at(-2) : first) ?? second;
      return Math.max(1, (newest.atMs - oldest.atMs) / Number(newest.height - oldest.height));
    },
    clear: () => {
      marks = [];
    },
  };
}
