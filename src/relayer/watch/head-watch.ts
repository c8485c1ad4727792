import { NS_PER_MS } from "../../platform/base/time.ts";
import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";

/** A chain's newest known block, with ages in ms. */
export type HeadView = ReturnType<HeadWatch["view"]>;

/** A block that a status or a WebSocket notice reported. */
type SeenBlock = Pick<NodeStatus, "latestHeight" | "latestTimeNs"> & Partial<Pick<NodeStatus, "catchingUp">>;

export type HeadWatch = ReturnType<typeof createHeadWatch>;

/** Maximum number of remembered heights, enough for five hours of one-second blocks. */
const MARKS = 20_000;

/**
 * A chain that reports a lower height for at least this long was reset. A lower height for a shorter time probably comes from a
 * lagging endpoint.
 */
const RESET_MS = 30_000;

export function createHeadWatch(clock: Clock, localHeight: () => bigint) {
  const marks = createHeightMarks(MARKS);
  let height: bigint | undefined;
  let blockTimeMs: number | undefined;
  let catchingUp = false;
  let error: string | undefined;
  let lowerSinceMs: number | undefined;
  let readAtMs = clock.monotonicMs();
  let triedAtMs = readAtMs;
  let newAtMs = readAtMs;
  /** The newest block with a known time, and the time at which it was seen. */
  let timed: { readonly blockMs: number; readonly seenMs: number } | undefined;

  const takeBlock = (block: SeenBlock, nowMs: number): void => {
    const timeMs = block.latestTimeNs === 0n ? undefined : Number(block.latestTimeNs / NS_PER_MS);
    // Only the first block's age comes from its header. Later blocks are timed with this process's clock, which may differ from
    // chain time.
    const ageMs = height === undefined && timeMs !== undefined ? Math.max(0, clock.nowMs() - timeMs) : 0;
    newAtMs = nowMs - ageMs;
    if (timeMs !== undefined) timed = { blockMs: timeMs, seenMs: nowMs };
    [height, blockTimeMs] = [block.latestHeight, timeMs];
    marks.add({ height, atMs: newAtMs, localHeight: localHeight() });
  };

  /** Records a node's newest block and the time of the read. A `latestTimeNs` of 0 means that the block's time is unknown. */
  const record = (block: SeenBlock): void => {
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
    /** Removes all blocks after a chain reset, so that the next recorded block is the first. */
    reset: (): void => {
      marks.clear();
      [height, blockTimeMs, lowerSinceMs, timed] = [undefined, undefined, undefined, undefined];
    },
    recordError: (thrown: unknown): void => {
      triedAtMs = clock.monotonicMs();
      error = errorText(thrown);
    },
    view: () => {
      const nowMs = clock.monotonicMs();
      return {
        /** Height of the newest known block; undefined before the first status. */
        height,
        /** Time in the newest block's header, as Unix time in ms; undefined if unknown. */
        blockTimeMs,
        /**
         * Chain time, as Unix time in ms: the newest known block time, plus the time since that block was seen. The chain uses its
         * own time, e.g. to decide whether a light client has expired, and this machine's clock may be wrong. Without a known block
         * time, the value is this machine's time. The value is rounded, because the store takes integers.
         */
        chainMs: timed === undefined ? clock.nowMs() : timed.blockMs + Math.round(nowMs - timed.seenMs),
        /** Time without a new block; undefined before the first status. */
        sinceBlockMs: height === undefined ? undefined : nowMs - newAtMs,
        /** Mean time between the newest blocks; undefined before the third block. */
        blockMs: marks.blockMs(),
        /** Time since the last successful read or, before the first, since startup. */
        sinceReadMs: nowMs - readAtMs,
        /** Time since the last read ended, successful or not, or since startup before the first read. */
        sinceTryMs: nowMs - triedAtMs,
        /** True if the node reports that it is catching up. */
        catchingUp,
        /** Error of the last read; undefined if the read succeeded. */
        error,
      };
    },
    firstFrom: marks.firstFrom,
  };
}

export type ListView = ReturnType<ReturnType<typeof createListWatch>["view"]>;

export function createListWatch(clock: Pick<Clock, "monotonicMs">) {
  let isLoaded = false;
  let failure: { readonly fromMs: number; readonly reason: string } | undefined;
  return {
    onLoaded: (): void => {
      [isLoaded, failure] = [true, undefined];
    },
    onLocalError: (error: unknown): void => {
      failure = { fromMs: failure?.fromMs ?? clock.monotonicMs(), reason: errorText(error) };
    },
    view: () => ({
      /** True once the query list has been read. */
      isLoaded,
      /**
       * Set if a read has failed since the last successful read, so that the list may lack changes. `sinceMs` is the time since the
       * first failure, and `reason` is the last error.
       */
      failure: failure && { sinceMs: clock.monotonicMs() - failure.fromMs, reason: failure.reason },
    }),
  };
}

/** A height on a chain, and the time at which this process first saw the height. */
export interface HeightMark {
  readonly height: bigint;
  readonly atMs: number;
  /** The latest local height when this process first saw `height`. */
  readonly localHeight: bigint;
}

/** Number of blocks over which the mean block time is measured. */
const TIMED_BLOCKS = 100n;

/** Creates an empty list of marks, i.e. times at which a chain's heights were first seen. Drops the oldest marks beyond `capacity`. */
export function createHeightMarks(capacity: number) {
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
    /** Adds a mark. Ignores heights that are not above the last mark. */
    add: (mark: HeightMark): void => {
      const last = marks.at(-1);
      if (last !== undefined && mark.height <= last.height) return;
      marks.push(mark);
      // Dropping half of the marks instead of one keeps the average cost of `add` constant.
      if (marks.length > capacity) marks = marks.slice(Math.ceil(capacity / 2));
    },
    /**
     * Returns the first mark at or above this height; undefined if the chain has not reached the height. For a height below all
     * marks, returns the oldest mark, because the chain passed that height before this process started. O(log n).
     */
    firstFrom,
    /** Returns the mean time between the newest blocks, at least 1; undefined before the third mark. O(log n). */
    blockMs: (): number | undefined => {
      // Skip the first mark, whose time comes from the block's header and not from this process's clock.
      const [, second] = marks;
      const newest = marks.at(-1);
      if (second === undefined || newest === undefined || newest === second) return undefined;
      const first = firstFrom(maxInt(newest.height - TIMED_BLOCKS, second.height));
      // After a large gap, only the newest mark is in range, so measure from the preceding mark.
      const oldest = (first === newest ? marks.at(-2) : first) ?? second;
      return Math.max(1, (newest.atMs - oldest.atMs) / Number(newest.height - oldest.height));
    },
    clear: (): void => {
      marks = [];
    },
  };
}
