/** A height of a chain and when this process saw it first. */
export interface HeightMark {
  readonly height: bigint;
  /** Monotonic time, ms. */
  readonly atMs: number;
  /** Latest local height at that time. */
  readonly localHeight: bigint;
}

/** Remembers when the newest heights of a chain were seen first. */
export interface HeightMarks {
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
