import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { monthOf } from "../../src/platform/base/month.ts";
import { addCounts, NO_BLOCKS } from "../../src/watchdog/ledger/ledger-view.ts";
import { advance, type Baseline, type Counters } from "../../src/watchdog/ledger/counter-state.ts";
import { countObservation, EMPTY_LEDGER } from "../../src/watchdog/ledger/ledger.ts";
import { splitByMonth } from "../../src/watchdog/ledger/rollups.ts";
import { countsOf, observationOf, up } from "../support/watchdog/observations.ts";

const NOV_21 = Date.UTC(2026, 10, 21);
const DAY = 86_400_000;

function reading(success: bigint, failure: bigint, height?: bigint, processStartMs?: number): Counters {
  return {
    chainId: "c",
    success,
    failure,
    ...(height === undefined ? {} : { height }),
    ...(processStartMs === undefined ? {} : { processStartMs }),
  };
}

const baseline = (given: Counters, atMs = NOV_21): Baseline => ({ ...given, atMs });

describe("advance", () => {
  it("counts the growth within one run of the node", () => {
    const { counts, restarted } = advance(
      baseline(reading(10n, 2n, 12n)),
      reading(15n, 3n, 19n),
      NOV_21 + 5000,
    );
    expect([counts, restarted]).toEqual([{ good: 5n, bad: 1n, unknown: 0n }, false]);
  });

  it.each([
    ["a value falls", reading(100n, 5n, 105n), reading(3n, 0n, 112n), { good: 3n, bad: 0n, unknown: 4n }],
    [
      "both series are absent",
      reading(100n, 5n, 105n),
      reading(0n, 0n, 107n),
      { good: 0n, bad: 0n, unknown: 2n },
    ],
    ["the height is not known", reading(100n, 5n), reading(3n, 0n), { good: 3n, bad: 0n, unknown: 0n }],
    [
      "the chain began again",
      reading(100n, 5n, 105n),
      reading(3n, 0n, 3n),
      { good: 3n, bad: 0n, unknown: 0n },
    ],
    [
      "only the start moves",
      reading(2n, 0n, 2n, NOV_21 - DAY),
      reading(9n, 1n, 15n, NOV_21),
      { good: 9n, bad: 1n, unknown: 3n },
    ],
  ])("detects a restart of the node when %s", (_case, before, after, expected) => {
    const { counts, restarted } = advance(baseline(before), after, NOV_21 + 5000);
    expect([counts, restarted]).toEqual([expected, true]);
  });

  it("tolerates a start time that moves by a second", () => {
    const step = advance(
      baseline(reading(2n, 0n, 2n, NOV_21)),
      reading(3n, 0n, 3n, NOV_21 + 1000),
      NOV_21 + 5000,
    );
    expect(step).toMatchObject({ restarted: false, counts: { good: 1n } });
  });

  it("places a first reading by the start of the node, and counts nothing without a usable start", () => {
    expect(advance(undefined, reading(90n, 1n, 95n, NOV_21 - 40 * DAY), NOV_21)).toMatchObject({
      counts: { good: 90n, bad: 1n },
      fromMs: NOV_21 - 40 * DAY,
      isFirst: true,
    });
    for (const start of [undefined, NOV_21 + DAY])
      expect(advance(undefined, reading(90n, 1n, 95n, start), NOV_21).counts).toEqual({
        good: 0n,
        bad: 0n,
        unknown: 0n,
      });
  });
});

describe("two nodes behind one URL", () => {
  const MINUTE = 60_000;
  /** Counts readings, one in each minute. Returns the month's counts after each, and whether it was refused. */
  function countAll(readings: readonly Counters[]) {
    let ledger = EMPTY_LEDGER;
    return readings.map((given, index) => {
      const observation = observationOf(NOV_21 + index * MINUTE, [{ metrics: up(given) }]);
      const counted = countObservation(ledger, observation, { intervalMs: MINUTE });
      ledger = counted.ledger;
      const { good, bad, unknown } = countsOf(ledger, "2026-11");
      return [
        good,
        bad,
        unknown,
        counted.observation.nodes.some(({ metrics }) => metrics.state === "error") ? "refused" : "counted",
      ];
    });
  }
  const old = (success: bigint) => reading(success, 0n, success + 10n, NOV_21 - DAY);
  const young = (success: bigint) => reading(success, 0n, success + 900n, NOV_21 - DAY / 2);

  it.each([
    ["with an older and a younger process", [old(1000n), young(110n), old(1002n), young(112n)]],
    ["with the younger process first", [young(110n), old(1001n), young(112n), old(1003n)]],
    [
      "that started in the same second",
      [old(1000n), reading(998n, 0n, 1011n, NOV_21 - DAY + 300), old(1002n)],
    ],
  ])("are not counted %s", (_case, readings) => {
    const first = readings[0]?.success;
    expect(countAll(readings)).toEqual(
      // One change alone can be a node that replaced the first one.
      readings.map((_reading, index) => [first, 0n, 0n, index < 2 ? "counted" : "refused"]),
    );
  });

  it("are counted again from the first one after five minutes without the second", () => {
    const steps = [old(1000n), young(110n), ...[2n, 3n, 4n, 5n, 6n, 7n, 8n].map((add) => old(1000n + add))];
    expect(countAll(steps).map(([good, , , kind]) => [good, kind])).toEqual([
      [1000n, "counted"],
      [1000n, "counted"],
      ...Array.from({ length: 5 }, () => [1000n, "refused"]),
      [1007n, "counted"],
      [1008n, "counted"],
    ]);
  });

  it("are one node that replaced the first one when it stays; the blocks of the change are unknown", () => {
    expect(countAll([old(1000n), young(111n), young(112n), young(113n)])).toEqual([
      [1000n, 0n, 0n, "counted"],
      [1000n, 0n, 0n, "counted"],
      // The heights are 1010 at the last counted reading, and 1011 at the first one of the other node.
      [1001n, 0n, 1n, "counted"],
      [1002n, 0n, 1n, "counted"],
    ]);
  });

  it("are two nodes also when each answers several times in turn; later only the first one's change is unknown", () => {
    const steps = [old(1000n), young(111n), young(112n), old(1003n), old(1004n), young(115n)];
    const quiet = [6n, 7n, 8n, 9n, 10n, 11n].map((add) => young(110n + add));
    expect(countAll([...steps, ...quiet]).map(([good, , unknown, kind]) => [good, unknown, kind])).toEqual([
      [1000n, 0n, "counted"],
      [1000n, 0n, "counted"],
      [1001n, 1n, "counted"],
      ...Array.from({ length: 7 }, () => [1001n, 1n, "refused"]),
      [1009n, 1n, "counted"],
      [1010n, 1n, "counted"],
    ]);
  });
});

describe("a start time that is wrong", () => {
  const MINUTE = 60_000;
  const at = (index: number, start: number | undefined) =>
    reading(BigInt(1000 + 30 * index), 5n, BigInt(2000 + 30 * index), start);
  const START = NOV_21 - DAY;

  it.each([
    ["moves by 3 s", [START, START + 3000, START + 3000, START]],
    ["moves by an hour", [START, START + 3_600_000, START + 3_600_000]],
    ["moves by more than the time since the start", [START, START + 3 * DAY, START + 3 * DAY]],
    ["moves back by 30 days", [START, START - 30 * DAY, START - 30 * DAY]],
    ["jitters by a second", [START, START + 990, START, START + 1000, START - 10]],
    ["is there sometimes", [START, undefined, START, undefined]],
    ["is in the future", [NOV_21 + DAY, NOV_21 + DAY, NOV_21 + DAY + 5000]],
  ])("changes no count when it %s", (_case, starts) => {
    let ledger = EMPTY_LEDGER;
    const counts = starts.map((start, index) => {
      const observation = observationOf(NOV_21 + index * MINUTE, [{ metrics: up(at(index, start)) }]);
      ledger = countObservation(ledger, observation, { intervalMs: MINUTE }).ledger;
      return countsOf(ledger, "2026-11");
    });
    const last = counts.at(-1);
    expect([last && last.good - (counts[0]?.good ?? 0n), last?.unknown]).toEqual([
      BigInt(30 * (starts.length - 1)),
      0n,
    ]);
    const kinds = new Set(ledger.events.recent.map(({ kind }) => kind));
    expect([kinds.has("node-restart"), kinds.has("two-nodes")]).toEqual([false, false]);
  });

  it("is one event when the clock of the node's machine is set", () => {
    const ledger = [START, START + 30_000, START + 30_000].reduce(
      (sum, start, index) =>
        countObservation(sum, observationOf(NOV_21 + index * MINUTE, [{ metrics: up(at(index, start)) }]), {
          intervalMs: MINUTE,
        }).ledger,
      EMPTY_LEDGER,
    );
    expect(ledger.events.recent.filter(({ kind }) => kind === "clock-jump")).toMatchObject([
      { node: "node", text: "the clock of the node's machine was set forward by 30 s" },
    ]);
  });

  it("hides no restart: the counters and the height show it", () => {
    const before = baseline(reading(1000n, 5n, 2000n, START));
    for (const start of [undefined, START, START - DAY, START + 3 * DAY]) {
      const { counts, restarted } = advance(before, reading(7n, 1n, 2010n, start), NOV_21 + MINUTE);
      expect([counts, restarted]).toEqual([{ good: 7n, bad: 1n, unknown: 2n }, true]);
    }
  });

  it.each([
    ["the node's own clock, right", 0, true],
    ["the node's own clock, 400 days behind", -400 * DAY, true],
    ["the node's own clock, an hour ahead", 3_600_000, true],
    ["no clock, the start right", 0, false],
    ["no clock, the start 400 days behind", -400 * DAY, false],
  ])("hides no second restart within a minute (%s)", (_case, aheadMs, hasClock) => {
    let ledger = EMPTY_LEDGER;
    const counted: bigint[] = [];
    // Each process has fewer calls than the next one at its reading.
    const polls = [
      [0, 5000n, 8000n, -DAY],
      [60, 20n, 8020n, 0],
      [180, 40n, 8060n, MINUTE],
    ] as const;
    for (const [seconds, success, height, startMs] of polls) {
      const atMs = NOV_21 + seconds * 1000;
      const page = {
        ...reading(success, 0n, height, NOV_21 + startMs + aheadMs),
        ...(hasClock ? { clockMs: atMs + aheadMs } : {}),
      };
      ledger = countObservation(ledger, observationOf(atMs, [{ metrics: up(page) }]), {
        intervalMs: MINUTE,
      }).ledger;
      counted.push(countsOf(ledger, "2026-11").good);
    }
    const [first = 0n, ...later] = counted;
    expect([later, countsOf(ledger, "2026-11").unknown]).toEqual([[first + 20n, first + 60n], 0n]);
    expect(ledger.events.recent.filter(({ kind }) => kind === "node-restart")).toHaveLength(2);
  });

  it("is the age of the process by its own clock, where nothing else tells two processes apart", () => {
    const before = baseline(reading(100n, 0n, undefined, NOV_21 - DAY));
    const relation = (startMs: number, clockMs: number): unknown => {
      const next = { ...reading(7n, 0n, undefined, startMs), clockMs };
      const { counts, restarted } = advance(before, next, NOV_21 + MINUTE);
      return [counts.good, restarted];
    };
    // 50 s old, by a clock that is a month behind; a day old, by one that is a day ahead.
    expect(relation(NOV_21 - 30 * DAY, NOV_21 - 30 * DAY + 50_000)).toEqual([7n, true]);
    expect(relation(NOV_21, NOV_21 + DAY)).toEqual([0n, false]);
  });

  it.each([40, 400])(
    "a first reading puts at most its share into the present month, without a rounded block (%d days)",
    (days) => {
      const first = reading(100_000n, 3000n, 200_000n, NOV_21 - days * DAY);
      const { ledger } = countObservation(EMPTY_LEDGER, observationOf(NOV_21, [{ metrics: up(first) }]), {
        intervalMs: MINUTE,
      });
      const of = (count: number): bigint => BigInt(Math.floor((count * 20) / days));
      expect([...ledger.sources.calls.rollups.months.keys()]).toEqual(["2026-11"]);
      expect(countsOf(ledger, "2026-11")).toEqual({ good: of(100_000), bad: of(3000), unknown: 0n });
    },
  );
});

describe("splitByMonth", () => {
  it("returns one share for one month", () => {
    const counts = { good: 7n, bad: 1n, unknown: 2n };
    expect(splitByMonth({ counts, fromMs: NOV_21, toMs: NOV_21 + DAY })).toEqual([
      { counts, fromMs: NOV_21, toMs: NOV_21 + DAY },
    ]);
  });

  it("splits a gap over two month ends in proportion, without a loss", () => {
    const counts = { good: 1000n, bad: 10n, unknown: 1n };
    const parts = splitByMonth({ counts, fromMs: Date.UTC(2026, 10, 30), toMs: Date.UTC(2027, 0, 10) });
    expect(parts.map((part) => [monthOf(part.toMs), part.counts])).toEqual([
      ["2026-11", { good: 24n, bad: 0n, unknown: 0n }],
      ["2026-12", { good: 756n, bad: 7n, unknown: 0n }],
      ["2027-01", { good: 220n, bad: 3n, unknown: 1n }],
    ]);
  });

  it("loses no block for any times", () => {
    const count = fc.bigInt(0n, 10n ** 9n);
    const time = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) });
    fc.assert(
      fc.property(fc.record({ good: count, bad: count, unknown: count }), time, time, (blocks, from, to) => {
        const parts = splitByMonth({ counts: blocks, fromMs: from, toMs: to });
        const sum = parts.map(({ counts }) => counts).reduce(addCounts, NO_BLOCKS);
        expect(sum).toEqual(blocks);
        for (const { counts } of parts)
          expect(counts.good >= 0n && counts.bad >= 0n && counts.unknown >= 0n).toBe(true);
      }),
    );
  });

  it("splits by blocks where the first block of the month is known", () => {
    const edge = { month: "2026-12", firstHeight: 104n };
    const parts = splitByMonth({
      counts: { good: 10n, bad: 0n, unknown: 0n },
      fromMs: Date.UTC(2026, 11, 1) - 9000,
      toMs: Date.UTC(2026, 11, 1) + 1000,
      heights: { from: 100n, to: 110n },
      edge,
    });
    // Blocks 101 to 103 are of November, though nine tenths of the time are.
    expect(parts.map(({ counts }) => counts.good)).toEqual([3n, 7n]);
  });
});

describe("countObservation", () => {
  it("counts by UTC month", () => {
    const end = Date.UTC(2026, 11, 1);
    const readings: readonly (readonly [number, Counters])[] = [
      [end - 10_000, reading(100n, 0n, 100n)],
      [end - 1, reading(109n, 1n, 110n)],
      [end + 5000, reading(113n, 2n, 115n)],
    ];
    const ledger = readings.reduce(
      (sum, [atMs, given]) =>
        countObservation(sum, observationOf(atMs, [{ metrics: up(given) }]), { intervalMs: 10_000 }).ledger,
      EMPTY_LEDGER,
    );
    expect(countsOf(ledger, "2026-11")).toEqual({ good: 9n, bad: 1n, unknown: 0n });
    expect(countsOf(ledger, "2026-12")).toEqual({ good: 4n, bad: 1n, unknown: 0n });
    expect(countsOf(ledger, "2027-01")).toEqual({ good: 0n, bad: 0n, unknown: 0n });
  });
});

describe("a month that a wrong clock has closed", () => {
  const page = (height: bigint) => ({ metrics: up(reading(height, 0n, height, NOV_21 - DAY)) });
  const clock = (believedSinceMs?: number) =>
    believedSinceMs === undefined ? { problem: "it was set" } : { believedSinceMs, problem: "" };
  const head = (height: bigint, blockTimeMs: number) =>
    up({ chainId: "c", height, blockTimeMs, monthEdge: { month: "2026-11", firstHeight: 1n } });
  const count = (ledger: typeof EMPTY_LEDGER, atMs: number, height: bigint, more: object) => {
    const observation = observationOf(atMs, [page(height)]);
    const { chain = {}, ...rest } = more as { readonly chain?: object };
    return countObservation(
      ledger,
      { ...observation, ...rest, chain: { ...observation.chain, ...chain } },
      { intervalMs: 5000 },
    ).ledger;
  };
  const before = count(EMPTY_LEDGER, NOV_21, 86_400n, { clock: clock(NOV_21 - DAY) });

  it("is not closed while the clock is not believed, nor in the ten minutes after", () => {
    const months = [{ clock: clock() }, { clock: clock(NOV_21 + 40 * DAY - 60_000) }].map((view) => {
      const ledger = count(before, NOV_21 + 40 * DAY, 86_405n, view);
      return ledger.sources.calls.rollups.months.get("2026-11")?.finalized;
    });
    expect(months).toEqual([undefined, undefined]);
  });

  it.each([2 / 24, 30])("stays as it is while REST shows a block that is %d days old", (days) => {
    const old = { chain: { head: head(86_400n - BigInt(days * 86_400), NOV_21 - days * DAY) } };
    const polls = [1, 2, 3, 4].map((second) => [second, second % 2 === 0 ? old : {}] as const);
    const ledger = polls.reduce(
      (sum, [second, more]) => count(sum, NOV_21 + second * 1000, 86_400n + BigInt(second), more),
      before,
    );
    expect([...ledger.sources.calls.rollups.months.values()]).toMatchObject([
      { month: "2026-11", counts: { good: 86_404n, bad: 0n, unknown: 0n } },
    ]);
    expect(ledger.sources.calls.checkpoint?.timeMs).toBe(NOV_21 + 4000);
    expect(ledger.events.recent.map(({ kind }) => kind)).toEqual(
      before.events.recent.map(({ kind }) => kind),
    );
  });

  it("is open again as soon as the chain shows the time, with its blocks and one event", () => {
    const closed = count(before, NOV_21 + 40 * DAY, 86_405n, { clock: clock(NOV_21 - DAY) });
    expect(closed.sources.calls.rollups.months.get("2026-11")?.finalized).toBeDefined();
    const ledger = count(closed, NOV_21 + 10_000, 86_410n, {
      clock: clock(NOV_21 - DAY),
      chain: { head: head(86_410n, NOV_21 + 10_000) },
    });
    expect([...ledger.sources.calls.rollups.months.values()]).toMatchObject([
      { month: "2026-11", counts: { good: 86_410n } },
    ]);
    expect(ledger.sources.calls.rollups.months.get("2026-11")?.finalized).toBeUndefined();
    expect(ledger.events.recent.filter(({ kind }) => kind === "month-reopened")).toMatchObject([
      { text: "2026-11 is open again; it was closed by a wrong clock" },
    ]);
  });
});
