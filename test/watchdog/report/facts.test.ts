import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import type { Report } from "../../../src/platform/report/document.ts";
import { alertCost, incidentsOf } from "../../../src/watchdog/alerts/incidents.ts";
import { incidentSourceOf, isSymptom } from "../../../src/watchdog/alerts/miss-causes.ts";
import {
  addCounts,
  type LedgerEvent,
  type MissRange,
  NO_BLOCKS,
  sumCounts,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import { addMisses } from "../../../src/watchdog/ledger/miss-ranges.ts";
import { handoverReport } from "../../../src/watchdog/report/handover.ts";
import { monthFacts, tierChanges } from "../../../src/watchdog/report/month-facts.ts";
import { monthCloseReport, monthReport } from "../../../src/watchdog/report/month-report.ts";
import type { AlertEpisode, ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { closedMonth } from "../../../src/watchdog/policy/cost.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import {
  type LedgerContents,
  ledgerViewOf,
  monthRecord,
  rollup,
} from "../../support/watchdog/ledger-view.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 9, 1);

function alert(
  name: string,
  from: number,
  to: number | undefined,
  inhibits: readonly string[] = [],
): AlertEpisode {
  return {
    alert: name,
    title: name,
    severity: "critical",
    sinceMs: START + from * HOUR,
    firedAtMs: START + from * HOUR + 1,
    resolvedAtMs: to === undefined ? undefined : START + to * HOUR,
    reason: "because",
    inhibits,
  };
}

function dataOf(contents: LedgerContents, alerts: readonly AlertEpisode[] = []): ValidatorData {
  const ledger = ledgerViewOf(contents);
  const nowMs = Date.UTC(2026, 10, 2);
  return {
    ledger,
    alerts,
    policy: SPECIFIED_POLICY,
    assessment: assess({ ledger, nowMs, policy: SPECIFIED_POLICY, blockTimeMs: 1000 }),
  };
}

function condition(name: string) {
  return CONDITIONS.find((one) => one.name === name) ?? expect.unreachable(name);
}

const hour = (index: number, bad: bigint) => rollup(START + index * HOUR, { good: 3600n - bad, bad });

const EVENT = (kind: LedgerEvent["kind"], fromS: number, toS: number): LedgerEvent => ({
  kind,
  fromMs: START + fromS * 1000,
  toMs: START + toS * 1000,
  text: "",
});

const ofMonth = (contents: LedgerContents, alerts: readonly AlertEpisode[] = []) =>
  incidentsOf({ ledger: ledgerViewOf(contents), alerts, policy: SPECIFIED_POLICY }, START, START + 31 * DAY);

/** Cause and blocks of each incident. */
const causesOf = (contents: LedgerContents, alerts: readonly AlertEpisode[] = []) =>
  ofMonth(contents, alerts).map(({ cause, bad }) => [cause, bad] as const);

/** Blocks of one second each from a second of the first hour on. */
function missRange(second: number, good: bigint, bad: bigint): MissRange {
  const [from, to] = [BigInt(second), BigInt(second) + good + bad];
  const fromMs = START + second * 1000;
  return { fromMs, toMs: fromMs + Number(good + bad) * 1000, blocks: { from: from + 1n, to }, good, bad };
}

describe("incidents", () => {
  const hours = [hour(0, 3600n), hour(1, 3600n), hour(2, 100n), hour(3, 71n), hour(5, 72n)];
  const alerts = [
    alert("all-prices-missing", 0, 2),
    alert("sidecar-down", 0, 2, ["all-prices-missing"]),
    alert("slow", 10, undefined),
  ];

  it("have the alert that causes the others, an event, or no cause, and end after ten good minutes or with another cause", () => {
    const events = [
      EVENT("node-restart", 2.5 * 3600, 2.6 * 3600),
      EVENT("parameter-change", 5 * 3600, 5 * 3600),
    ];
    const found = ofMonth({ hours, events }, alerts);
    expect(
      found.map(({ fromMs, toMs, ...rest }) => ({
        ...rest,
        hours: [fromMs, toMs].map((ms) => (ms - START) / HOUR),
      })),
    ).toEqual([
      { bad: 7200n, month: "2026-10", cause: "sidecar-down", end: "no known cause took over", hours: [0, 2] },
      { bad: 89n, month: "2026-10", cause: "no known cause", end: "node-restart took over", hours: [2, 3] },
      {
        bad: 11n,
        month: "2026-10",
        cause: "node-restart",
        end: "good blocks",
        hours: [2.6, 2.6 + 11 / 3600],
      },
      { bad: 72n, month: "2026-10", cause: "no known cause", end: "good blocks", hours: [5, 6] },
      { bad: 71n, month: "2026-10", cause: "scattered", hours: [3, 4] },
    ]);
  });

  it("begin the time of a message with their first lost block, which is before the alert", () => {
    const down = alert("sidecar-down", 0.5, 1);
    const source = {
      ledger: ledgerViewOf({ hours: [hour(0, 30n)], misses: [missRange(1770, 0n, 30n)] }),
      alerts: [down],
      policy: SPECIFIED_POLICY,
    };
    const month = closedMonth(SPECIFIED_POLICY, NO_BLOCKS);
    expect(alertCost(source, month, down, START + HOUR)).toMatchObject({
      blocks: 30n,
      sinceMs: START + 1_770_000,
    });
    expect(
      alertCost({ ...source, ledger: ledgerViewOf({ hours: [hour(0, 0n)] }) }, month, down, START + HOUR),
    ).not.toHaveProperty("sinceMs");
  });

  it("are explained by a pending alert before it fires, and by its cause if that is pending, too", () => {
    const missing = alert("all-prices-missing", 0.5, undefined);
    const down = alert("sidecar-down", 0.5, undefined, ["all-prices-missing"]);
    const contents = { hours: [hour(0, 30n)], misses: [missRange(1800, 0n, 30n)] };
    const causesWith = (...pending: readonly AlertEpisode[]): readonly string[] => {
      const states = pending.map(({ alert: name, sinceMs, inhibits }) => ({
        rule: { condition: { ...condition(name), inhibits } },
        state: { phase: "pending" as const, sinceMs },
      }));
      const watched = { validator: "validator", alerts: states, assessment: undefined };
      const source = incidentSourceOf(watched, ledgerViewOf(contents), []);
      return incidentsOf(source, START, START + HOUR).map(({ cause }) => cause);
    };
    expect(causesWith()).toEqual(["no known cause"]);
    expect(causesWith(missing)).toEqual(["all-prices-missing"]);
    expect(causesWith(missing, down)).toEqual(["sidecar-down"]);
    expect(causesWith(alert("full-reward-at-risk", 0.5, undefined))).toEqual(["no known cause"]);
    // The data of a report has the same field.
    const data = { ...dataOf(contents), pending: [missing] };
    expect(incidentsOf(data, START, START + HOUR)).toMatchObject([{ cause: "all-prices-missing" }]);
  });

  it("are those of each minute in the hours whose minutes are known", () => {
    const minute = (index: number, bad: bigint) => rollup(START + index * 60_000, { good: 60n - bad, bad });
    const quarter = [alert("sidecar-down", 0, 0.25)];
    const both = [rollup(START, { good: 3540n, bad: 60n }), rollup(START + HOUR, { good: 0n, bad: 7n })];
    const minutes = [minute(10, 20n), minute(50, 40n), minute(90, 5n)];
    expect(causesOf({ hours: both, minutes }, quarter)).toEqual([
      ["sidecar-down", 20n],
      ["no known cause", 47n],
    ]);
    // Minutes that are not those of all bad blocks are not used.
    expect(causesOf({ hours: both.slice(0, 1), minutes: minutes.slice(1) }, quarter)).toEqual([
      ["sidecar-down", 60n],
    ]);
  });

  it("are those of each range of blocks, whatever else happened in the same hour", () => {
    // The sidecar is down from 10:00 to 10:20 in its hour, and the node restarts at 40:00.
    const down = [alert("sidecar-down", 1 / 6, 1 / 6 + 20 / 3600)];
    const events = [EVENT("node-restart", 2400, 2410)];
    const misses = [missRange(600, 0n, 20n), missRange(2412, 2n, 3n), missRange(3000, 4n, 1n)];
    expect(causesOf({ hours: [hour(0, 24n)], events, misses }, down)).toEqual([
      ["sidecar-down", 20n],
      ["node-restart", 3n],
      ["scattered", 1n],
    ]);
    // Without the ranges, the sidecar gets what came in its time, and the rest is beside it.
    expect(causesOf({ hours: [hour(0, 24n)], events }, down)).toEqual([["sidecar-down", 24n]]);
    // Ranges that are not those of all bad blocks are not used.
    expect(causesOf({ hours: [hour(0, 25n)], events, misses }, down)).toEqual([["sidecar-down", 25n]]);
  });

  it("are as long as their blocks", () => {
    const misses = [missRange(600, 1n, 59n), missRange(660, 0n, 60n)];
    expect(ofMonth({ hours: [hour(0, 119n)], misses })).toEqual([
      {
        fromMs: START + 600_000,
        toMs: START + 720_000,
        blocks: { from: 601n, to: 720n },
        month: "2026-10",
        bad: 119n,
        cause: "no known cause",
        end: "good blocks",
      },
    ]);
  });

  it("begin with the first lost block, also when the alert saw it late", () => {
    // Four minutes of failing calls are before the alert.
    const misses = [0, 1, 2, 3, 4, 5].map((minute) => missRange(600 + minute * 60, 0n, 60n));
    const late = [alert("all-prices-missing", 900 / 3600, 980 / 3600)];
    expect(ofMonth({ hours: [hour(0, 360n)], misses }, late)).toMatchObject([
      { fromMs: START + 600_000, toMs: START + 960_000, bad: 360n, cause: "all-prices-missing" },
    ]);
  });

  it("have the blocks that an alert's cause does not cover in time", () => {
    const both = [
      alert("sidecar-down", 0, 0.25, ["major-pairs-missing"]),
      alert("major-pairs-missing", 0.2, 0.5),
    ];
    const misses = [missRange(60, 0n, 60n), missRange(1200, 0n, 60n)];
    expect(causesOf({ hours: [hour(0, 120n)], misses }, both)).toEqual([
      ["sidecar-down", 60n],
      ["major-pairs-missing", 60n],
    ]);
  });

  it("are no alert about the count or about what cannot be seen, and failing calls only when nothing else is known", () => {
    const symptoms = [
      "any-reward-fast-burn",
      "full-reward-at-risk",
      "cannot-see-prices",
      "rotation-risk",
      "prices-differ-from-chain",
      "upgrade-imminent",
      "payment-missing",
      "watchdog-slow",
    ];
    const misses = [missRange(55, 0n, 20n), missRange(1500, 0n, 30n)];
    const contents = { hours: [hour(0, 50n)], misses };
    const all = symptoms.map((name) => alert(name, 0, 1));
    expect(causesOf(contents, all)).toEqual([
      ["no known cause", 20n],
      ["no known cause", 30n],
    ]);
    const events = [EVENT("sidecar-restart", 60, 61)];
    expect(causesOf({ ...contents, events }, [...all, alert("oracle-calls-failing", 0, 1)])).toEqual([
      ["sidecar-restart", 17n],
      ["oracle-calls-failing", 3n],
      ["oracle-calls-failing", 30n],
    ]);
  });

  it("are about no condition whose input is the count", () => {
    const counted = CONDITIONS.filter(({ past }) => past === "counts").map(({ name }) => name);
    expect(counted.filter((name) => !isSymptom(name))).toEqual(["oracle-calls-failing"]);
  });

  it("are in one month each, and scattered blocks are one line of it", () => {
    const end = START + 31 * DAY;
    const misses = [
      { fromMs: end - 10_000, toMs: end - 1, good: 0n, bad: 10n },
      { fromMs: end - 1, toMs: end + 10_000, good: 0n, bad: 10n },
      ...[1, 2, 3].map((minute) => ({
        fromMs: end + minute * 900_000,
        toMs: end + minute * 900_000 + 5000,
        good: 4n,
        bad: 1n,
      })),
    ];
    const ledger = ledgerViewOf({
      hours: [rollup(end - HOUR, { good: 3590n, bad: 10n }), rollup(end, { good: 3587n, bad: 13n })],
      misses,
    });
    const source = { ledger, alerts: [], policy: SPECIFIED_POLICY };
    expect(incidentsOf(source, end - HOUR, end + HOUR).map(({ cause, bad }) => [cause, bad])).toEqual([
      ["no known cause", 10n],
      ["no known cause", 10n],
      ["scattered", 3n],
    ]);
  });
});

/** Outages of five kinds: begin and end in seconds, what is seen of them, and the incident that is expected. */
const OUTAGES = [
  ["sidecar-down", 300, 420],
  ["all-prices-missing", 600, 900],
  // The sidecar is slow while prices are missing, and for longer.
  ["sidecar-slow", 840, 1200],
  ["node-halted", 1500, 1620],
  ["stale-price-timestamp", 2400, 2700],
  ["sidecar-down", 2640, 2820],
  ["sidecar-slow", 4200, 4500],
  ["node-halted", 5400, 5490],
  // Ten good minutes lie between it and the one before.
  ["node-halted", 6150, 6300],
  ["all-prices-missing", 7200, 7500],
  ["sidecar-down", 9000, 9600],
] as const;

/** Three hours of blocks of one second with these outages, as polls with these times between them count them. */
function playOutages(pollSeconds: readonly number[]) {
  const isLost = (second: number): boolean => OUTAGES.some(([, from, to]) => second >= from && second < to);
  const single = new Set([100, 5000, 8000, 10_000]);
  let misses: readonly MissRange[] = [];
  const counts = [0, 1, 2].map(() => ({ good: 0n, bad: 0n, unknown: 0n }));
  for (let last = 0, poll = 0; last < 3 * 3600; poll += 1) {
    const second = Math.min(3 * 3600 - 1, last + (pollSeconds[poll % pollSeconds.length] ?? 5));
    const seconds = Array.from({ length: second - last }, (_, index) => last + index);
    const bad = BigInt(seconds.filter((one) => isLost(one) || single.has(one)).length);
    const polled = { good: BigInt(seconds.length) - bad, bad, unknown: 0n };
    const at = (one: number) => ({ timeMs: START + one * 1000, height: BigInt(one) });
    misses = addMisses(misses, polled, at(last), at(second));
    const index = Math.floor(second / 3600);
    counts[index] = addCounts(counts[index] ?? NO_BLOCKS, polled);
    if (second === 3 * 3600 - 1) break;
    last = second;
  }
  const hours = counts.map((one, index) => rollup(START + index * HOUR, one));
  const episodes = OUTAGES.map(([name, from, to]) => alert(name, (from + 5) / 3600, (to + 5) / 3600));
  return { hours, misses, episodes, minutes: [rollup(START + 3 * HOUR, { good: 60n })] };
}

it("incidents and their sum are the same whatever the times of the polls are", () => {
  const incidents = (pollSeconds: readonly number[]) => {
    const { episodes, ...contents } = playOutages(pollSeconds);
    return ofMonth(contents, episodes);
  };
  const expected = incidents([5]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }), (pollSeconds) => {
      const found = incidents(pollSeconds);
      expect(found.map(({ cause, end }) => [cause, end])).toEqual(
        expected.map(({ cause, end }) => [cause, end]),
      );
      expect(found.reduce((sum, { bad }) => sum + bad, 0n)).toBe(
        expected.reduce((sum, { bad }) => sum + bad, 0n),
      );
    }),
    { numRuns: 30 },
  );
});

it("eleven outages of five kinds within three hours, some overlapping, are eleven lines of the reports", () => {
  const { hours, misses, episodes, minutes } = playOutages([5]);
  const total = sumCounts(hours);
  const months = [{ ...monthRecord("2026-10", total.good, total.bad) }];
  const data = { ...dataOf({ hours, misses, months, minutes }, episodes) };
  // What overlaps is of the outage that began first.
  const expected = OUTAGES.map(([name, from, to], index) => {
    const begin = Math.max(from, OUTAGES[index - 1]?.[2] ?? 0);
    const next = OUTAGES[index + 1];
    const end = next !== undefined && next[1] - to < 600 ? `${next[0]} took over` : "good blocks";
    return [name, begin, to, BigInt(to - begin), end] as const;
  });
  const shown = ofMonth({ hours, misses, minutes }, episodes);
  // A poll later, a block of the next outage is still of the one before.
  expect(shown.slice(0, -1).map(({ cause, end }) => [cause, end])).toEqual(
    expected.map(([cause, , , , end]) => [cause, end]),
  );
  for (const [index, [, from, to, bad]] of expected.entries()) {
    const one = shown[index];
    const [fromS, toS] = [one?.fromMs ?? 0, one?.toMs ?? 0].map((ms) => (ms - START) / 1000);
    // A poll later, a block of the next outage is still of the one before.
    expect(Math.abs((fromS ?? 0) - from)).toBeLessThanOrEqual(5);
    expect(Math.abs((toS ?? 0) - to)).toBeLessThanOrEqual(5);
    expect(Math.abs(Number((one?.bad ?? 0n) - bad))).toBeLessThanOrEqual(10);
  }
  expect(shown.at(-1)).toMatchObject({ cause: "scattered", bad: 4n });
  expect(shown.reduce((sum, { bad }) => sum + bad, 0n)).toBe(total.bad);
  const lines = (report: Report): readonly string[] =>
    report.blocks.flatMap((block) => (block.kind === "table" ? block.rows.map((row) => row.join(" ")) : []));
  const shift = { fromMs: START, toMs: START + 3 * HOUR + 60_000 };
  for (const report of [handoverReport([data], shift), monthCloseReport([data], "2026-10")]) {
    const own = lines(report).filter(
      (line) => / % /.test(line) && /good blocks|took over|scattered/.test(line),
    );
    expect(own).toHaveLength(12);
    expect(own.map((line, index) => line.includes(OUTAGES[index]?.[0] ?? "scattered"))).not.toContain(false);
  }
});

it("a month explains the columns that have something", () => {
  const notes = (unknown: bigint, estimated = 0n): string => {
    const record = {
      ...monthRecord("2026-10", 9800n, 200n),
      counts: { good: 9800n, bad: 200n, unknown },
      estimated: { good: estimated, bad: 0n, unknown: 0n },
    };
    return JSON.stringify(monthReport([dataOf({ months: [record] })], "2026-10").blocks);
  };
  expect(notes(0n)).not.toMatch(/Unknown: nobody saw|Estimated: blocks|Backfilled: read/);
  expect(notes(1n)).toContain("Unknown: nobody saw the result");
  expect(notes(0n, 1n)).toContain("Estimated: blocks from before the first reading");
});

describe("what would have changed the tier", () => {
  const changesOf = (good: bigint, bad: bigint, unknown = 0n): readonly string[] => {
    const record = { ...monthRecord("2026-10", good, bad), counts: { good, bad, unknown } };
    const facts = monthFacts(dataOf({ months: [record], hours: [hour(0, 400n)] }), "2026-10");
    return facts === undefined ? [] : tierChanges(facts);
  };

  it.each([
    [9800n, 200n, ["1 more miss would have meant the proportional tier."]],
    [
      9799n,
      201n,
      [
        "1 fewer miss would have reached the full tier.",
        "Without the 400 misses from 2026-10-01 00:00 (no known cause), the tier would be full.",
        "300 more misses would have meant the none tier.",
      ],
    ],
    [9000n, 1000n, ["500 fewer misses would have reached the proportional tier."]],
  ])("%s good, %s missed", (good, bad, expected) => {
    expect(changesOf(good, bad)).toEqual(expected);
  });

  it("says when unknown blocks decide", () => {
    expect(changesOf(9800n, 100n, 200n).at(-1)).toBe(
      "200 unknown blocks decide: all bad means proportional, all good means full.",
    );
    expect(changesOf(9800n, 100n, 10n).join(" ")).not.toContain("unknown");
  });
});

describe("a month report", () => {
  it("names the months that are counted when its own is not", () => {
    const months = [monthRecord("2026-10", 100n, 0n), monthRecord("2026-11", 100n, 0n)];
    expect(JSON.stringify(monthReport([dataOf({ months })], "2026-09").blocks)).toContain(
      "No block of this month is counted. Months with counted blocks, for --month: 2026-10, 2026-11.",
    );
  });

  it("keeps what happens after the month out of it", () => {
    const months = [monthRecord("2026-10", 100n, 0n, { finalized: { atMs: 1, hash: "h" } })];
    const still = { ...alert("slow", 700, undefined), firedAtMs: START + 700 * HOUR };
    const later = { ...alert("late", 743, 800), firedAtMs: START + 750 * HOUR };
    const open = monthReport([dataOf({ months }, [still])], "2026-10");
    const ended = monthReport(
      [dataOf({ months }, [{ ...still, resolvedAtMs: START + 900 * HOUR }, later])],
      "2026-10",
    );
    expect(ended).toEqual(open);
    expect(JSON.stringify(open.blocks)).toContain("after the month");
  });

  it.each([
    ["unseen", [], "No block of this month is counted."],
    ["fine", [monthRecord("2026-10", 100n, 2n)], "The month is open"],
    ["problem", [monthRecord("2026-10", 100n, 3n)], "The month is open"],
  ])("is %s", (outcome, months, text) => {
    for (const create of [monthReport, monthCloseReport]) {
      const report = create([dataOf({ months })], "2026-10");
      expect(report.outcome).toBe(outcome);
      expect(JSON.stringify(report.blocks)).toContain(text);
    }
  });

  it("shows the sources when they differ", () => {
    const view = ledgerViewOf({});
    const ledger = {
      ...view,
      months: (source = "calls") => [
        monthRecord("2026-10", source === "calls" ? 1000n : 990n, source === "calls" ? 0n : 10n),
      ],
    };
    const data = { ...dataOf({}), ledger };
    const blocks = JSON.stringify(monthCloseReport([data], "2026-10").blocks);
    expect(blocks).toContain('["chain: what pay is based on","99.0000 %","990","1,000"]');
  });
});
