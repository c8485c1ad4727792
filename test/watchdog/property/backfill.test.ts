import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countObservation, EMPTY_LEDGER, type Ledger } from "../../../src/watchdog/ledger/ledger.ts";
import {
  fillLedger,
  type StoredReading,
  LONGEST_PIECE_MS,
  nextPiece,
  planGap,
} from "../../../src/watchdog/prometheus-api/backfill.ts";
import { nodePage, observationOf, up } from "../../support/watchdog/observations.ts";

/** Half of the history is in the next month. */
const START_MS = Date.UTC(2026, 10, 30, 23, 50);
const STEP_MS = 15_000;
const COUNTING = { intervalMs: 5000 };
const LIMITS = { afterMs: 60_000, longestMs: 31 * 86_400_000, giveUpMs: 60_000 };

/** What happens between two scrapes: good and bad calls, whether the node restarts before them, whether it is scraped. */
const step = fc.record({
  good: fc.bigInt({ min: 0n, max: 20n }),
  bad: fc.bigInt({ min: 0n, max: 20n }),
  restarts: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  isScraped: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The pages of a node that were stored. The first one is scraped, and starts an hour before. */
function historyOf(steps: readonly Step[]): readonly StoredReading[] {
  let counts = { success: 100n, failure: 3n };
  let height = 1000n;
  let processStartMs = START_MS - 3_600_000;
  const pages: StoredReading[] = [];
  for (const [index, { good, bad, restarts, isScraped }] of steps.entries()) {
    const atMs = START_MS + index * STEP_MS;
    if (restarts && index > 0) {
      counts = { success: 0n, failure: 0n };
      processStartMs = atMs - 5000;
    }
    counts = { success: counts.success + good, failure: counts.failure + bad };
    height += good + bad;
    if (index > 0 && !isScraped) continue;
    const page = nodePage(counts.success, counts.failure, { height, processStartMs, sampledAtMs: atMs });
    pages.push({ node: "node", reading: page });
  }
  return pages;
}

const observe = ({ reading: page }: StoredReading) =>
  observationOf(page.sampledAtMs ?? 0, [{ name: "node", metrics: up(page) }]);

const countLive = (ledger: Ledger, pages: readonly StoredReading[]): Ledger =>
  pages.reduce((sum, page) => countObservation(sum, observe(page), COUNTING).ledger, ledger);

/** Fills what `end` would close, in pieces of this length. */
function fillGap(
  ledger: Ledger,
  end: StoredReading,
  pages: readonly StoredReading[],
  lengthMs: number,
): Ledger {
  const gap = planGap(ledger, observe(end), LIMITS);
  let filled = ledger;
  for (let rest = gap; rest !== undefined && rest.fromMs < rest.toMs; ) {
    const { fromMs, toMs } = nextPiece(rest, lengthMs);
    const within = pages.filter(
      ({ reading: { sampledAtMs = 0 } }) => sampledAtMs > fromMs && sampledAtMs <= toMs,
    );
    filled = fillLedger(filled, within, { ...COUNTING, validator: "default" });
    rest = { ...rest, fromMs: toMs };
  }
  return filled;
}

/** Everything that was counted, without the marks of the backfill. */
function countsIn({ sources }: Ledger) {
  const { months, minute, hour, day } = sources.calls.rollups;
  const plain = (rollups: readonly object[]) =>
    rollups.map((rollup) => ({ ...rollup, backfilled: undefined }));
  const sealed = [...months].map(([key, { finalized, ...record }]) => ({
    key,
    ...record,
    isSealed: finalized !== undefined,
  }));
  return { months: plain(sealed), minute: plain(minute), hour: plain(hour), day: plain(day) };
}

const histories = fc.record({
  steps: fc.array(step, { minLength: 12, maxLength: 120 }),
  /** Parts of the history before and after the gap. */
  from: fc.double({ min: 0, max: 0.5, noNaN: true }),
  to: fc.double({ min: 0.5, max: 1, noNaN: true }),
  lengthMs: fc.integer({ min: 60_000, max: LONGEST_PIECE_MS }),
});

describe("a ledger whose gap was filled", () => {
  it("has the counts of a ledger without the gap, across restarts, and is the same when it is filled again", () => {
    fc.assert(
      fc.property(histories, ({ steps, from, to, lengthMs }) => {
        const pages = historyOf(steps);
        const first = Math.max(1, Math.floor(from * pages.length));
        const last = Math.max(first, Math.ceil(to * pages.length) - 1);
        const whole = countLive(EMPTY_LEDGER, pages);
        const before = countLive(EMPTY_LEDGER, pages.slice(0, first));
        const end = pages[last];
        fc.pre(end !== undefined && planGap(before, observe(end), LIMITS) !== undefined);
        if (end === undefined) return;
        const filled = fillGap(before, end, pages, lengthMs);
        expect(countsIn(countLive(filled, pages.slice(last)))).toEqual(countsIn(whole));
        expect(countsIn(fillGap(filled, end, pages, lengthMs))).toEqual(countsIn(filled));
        // Killed at any piece: the next one begins where the ledger is.
        const killed = fillLedger(before, pages.slice(first, Math.floor((first + last) / 2)), {
          ...COUNTING,
          validator: "default",
        });
        const continued = fillGap(killed, end, pages, lengthMs);
        expect(countsIn(countLive(continued, pages.slice(last)))).toEqual(countsIn(whole));
      }),
      { numRuns: 300 },
    );
  });
});
