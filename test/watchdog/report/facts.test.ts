import { describe, expect, it } from "vitest";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import {
  causesOf,
  costCents,
  type Explanations,
  incidentsOf,
  isSymptom,
} from "../../../src/watchdog/alerts/incidents.ts";
import type { MissRange } from "../../../src/watchdog/ledger/miss-ranges.ts";
import { monthFacts, tierChanges } from "../../../src/watchdog/report/month-facts.ts";
import { monthCloseReport, monthReport } from "../../../src/watchdog/report/month-report.ts";
import type { AlertEpisode, ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import {
  type LedgerContents,
  ledgerViewOf,
  monthRecord,
  rollup,
} from "../../support/watchdog/ledger-view.ts";

const HOUR = 3_600_000;
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

const hour = (index: number, bad: bigint) => rollup(START + index * HOUR, { good: 3600n - bad, bad });

const explain = (
  alerts: Explanations["alerts"],
  events: Explanations["events"] = [],
  misses: Explanations["misses"] = [],
): Explanations => ({ alerts, events, misses, minutes: [] });

/** Blocks of one second each from a second of the first hour on. */
function missRange(second: number, good: bigint, bad: bigint): MissRange {
  const [from, to] = [BigInt(second), BigInt(second) + good + bad];
  const fromMs = START + second * 1000;
  return { fromMs, toMs: fromMs + Number(good + bad) * 1000, blocks: { from: from + 1n, to }, good, bad };
}

describe("causes", () => {
  const hours = [hour(0, 3600n), hour(1, 3600n), hour(2, 100n), hour(3, 71n), hour(5, 72n)];
  const alerts = [
    alert("all-prices-missing", 0, 2),
    alert("sidecar-down", 0, 2, ["all-prices-missing"]),
    alert("slow", 10, undefined),
  ];
  const events = [
    { kind: "node-restart", fromMs: START + 2.5 * HOUR, toMs: START + 2.6 * HOUR, text: "restart" },
    { kind: "parameter-change", fromMs: START + 5 * HOUR, toMs: START + 5 * HOUR, text: "other" },
  ] as const;

  it("are the alert that causes the others, an event, or none", () => {
    // The last hour of the alert begins 30 s before it is seen; its 100th block is of the next one.
    expect(causesOf(hours, explain(alerts, events))).toEqual([
      { cause: "sidecar-down", bad: 7200n },
      { cause: "no known cause", bad: 232n },
      { cause: "node-restart", bad: 11n },
    ]);
  });

  it("are those of each minute in the hours whose minutes are known", () => {
    const minute = (index: number, bad: bigint) => rollup(START + index * 60_000, { good: 60n - bad, bad });
    const quarter = [alert("sidecar-down", 0, 0.25)];
    const counts = { good: 3540n, bad: 60n };
    const both = [rollup(START, counts), rollup(START + HOUR, { good: 0n, bad: 7n })];
    const minutes = [minute(10, 20n), minute(50, 40n), minute(90, 5n)];
    expect(causesOf(both, { ...explain(quarter), minutes })).toEqual([
      { cause: "no known cause", bad: 47n },
      { cause: "sidecar-down", bad: 20n },
    ]);
    expect(causesOf(both, { ...explain(quarter), minutes: minutes.slice(1) })).toEqual([
      { cause: "sidecar-down", bad: 60n },
      { cause: "no known cause", bad: 7n },
    ]);
    expect(causesOf(minutes, explain(quarter), 60_000)).toEqual([
      { cause: "no known cause", bad: 45n },
      { cause: "sidecar-down", bad: 20n },
    ]);
  });

  it("are those of each range of blocks, whatever else happened in the same hour", () => {
    // The sidecar is down from 10:00 to 10:20 in its hour, and the node restarts at 40:00.
    const down = [alert("sidecar-down", 1 / 6, 1 / 6 + 20 / 3600)];
    const restart = {
      kind: "node-restart",
      fromMs: START + 2_400_000,
      toMs: START + 2_410_000,
      text: "",
    } as const;
    const misses = [missRange(600, 0n, 20n), missRange(2412, 2n, 3n), missRange(3000, 4n, 1n)];
    const [first] = [hour(0, 24n)];
    expect(causesOf([first], explain(down, [restart], misses))).toEqual([
      { cause: "sidecar-down", bad: 20n },
      { cause: "node-restart", bad: 3n },
      { cause: "no known cause", bad: 1n },
    ]);
    // Without the ranges, the restart gets what is left of the hour.
    expect(causesOf([first], explain(down, [restart]))).toEqual([{ cause: "sidecar-down", bad: 24n }]);
    // Ranges that are not those of all bad blocks are not used.
    expect(causesOf([hour(0, 25n)], explain(down, [restart], misses))).toEqual([
      { cause: "sidecar-down", bad: 25n },
    ]);
  });

  it("make an incident as long as its blocks", () => {
    const misses = [missRange(600, 1n, 59n), missRange(660, 0n, 60n)];
    expect(incidentsOf([hour(0, 119n)], explain([], [], misses))).toEqual([
      {
        fromMs: START + 600_000,
        toMs: START + 720_000,
        blocks: { from: 601n, to: 720n },
        bad: 119n,
        cause: "no known cause",
      },
    ]);
  });

  it("get no more blocks of an hour than came while they lasted", () => {
    // 20 minutes of the sidecar, and a restart of the node in the same hour.
    const down = [alert("sidecar-down", 0.25, 0.25 + 1 / 3)];
    const restart = { kind: "node-restart", fromMs: START + 60_000, toMs: START + 84_000, text: "" } as const;
    expect(causesOf([hour(0, 1300n)], explain(down, [restart]))).toEqual([
      { cause: "sidecar-down", bad: 1230n },
      { cause: "no known cause", bad: 59n },
      { cause: "node-restart", bad: 11n },
    ]);
    // A restart of the sidecar, before the one of the node: 25 s, and the time to stop and to connect again.
    const sidecar = { kind: "sidecar-restart", fromMs: START, toMs: START + 25_000, text: "" } as const;
    expect(causesOf([hour(0, 40n)], explain([], [restart, sidecar]))).toEqual([
      { cause: "sidecar-restart", bad: 36n },
      { cause: "node-restart", bad: 4n },
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
    ];
    const all = [...symptoms.map((name) => alert(name, 0, 1)), alert("oracle-calls-failing", 0, 1)];
    expect(causesOf([hour(0, 50n)], explain(all.slice(0, -1)))).toEqual([
      { cause: "no known cause", bad: 50n },
    ]);
    const restart = {
      kind: "sidecar-restart",
      fromMs: START + 60_000,
      toMs: START + 61_000,
      text: "",
    } as const;
    expect(causesOf([hour(0, 50n)], explain(all, [restart]))).toEqual([
      { cause: "oracle-calls-failing", bad: 30n },
      { cause: "sidecar-restart", bad: 20n },
    ]);
  });

  it("are no condition whose input is the count", () => {
    const counted = CONDITIONS.filter(({ past }) => past === "counts").map(({ name }) => name);
    expect(counted.filter((name) => !isSymptom(name))).toEqual(["oracle-calls-failing"]);
  });

  it("cost the pay of the month without them, less its pay", () => {
    const counts = { good: 970n, bad: 30n, unknown: 0n };
    // 97 % pays 2,000; 97.5 % 2,500; more than 98 % no more than 3,000.
    expect([5n, 10n, 30n, 99n].map((bad) => costCents(SPECIFIED_POLICY, counts, bad))).toEqual([
      50_000n,
      100_000n,
      100_000n,
      100_000n,
    ]);
    const facts = monthFacts(
      dataOf({ months: [monthRecord("2026-10", 97_000n, 3000n)], hours: [hour(0, 500n), hour(1, 500n)] }),
      "2026-10",
    );
    expect(facts?.incidents).toMatchObject([{ bad: 1000n, costCents: 100_000n }]);
  });

  it("of consecutive hours with at least 2 % misses are one incident", () => {
    expect(incidentsOf(hours, explain([]))).toEqual([
      { fromMs: START, toMs: START + 3 * HOUR, bad: 7300n, cause: "no known cause" },
      { fromMs: START + 5 * HOUR, toMs: START + 6 * HOUR, bad: 72n, cause: "no known cause" },
    ]);
  });
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
  expect(notes(0n, 1n)).toContain("Estimated: blocks before the first reading");
});

describe("what would have changed the tier", () => {
  const changesOf = (good: bigint, bad: bigint, unknown = 0n): readonly string[] => {
    const record = { ...monthRecord("2026-10", good, bad), counts: { good, bad, unknown } };
    const facts = monthFacts(dataOf({ months: [record], hours: [hour(0, 400n)] }), "2026-10");
    return facts === undefined ? [] : tierChanges(facts);
  };

  it.each([
    [9800n, 200n, ["1 more miss would have meant the tier proportional."]],
    [
      9799n,
      201n,
      [
        "1 fewer miss would have reached the tier full.",
        "Without the 400 misses from 2026-10-01 00:00 (no known cause), the tier would be full.",
        "300 more misses would have meant the tier none.",
      ],
    ],
    [9000n, 1000n, ["500 fewer misses would have reached the tier proportional."]],
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
      "No block of this month is counted. --month selects one of those that are: 2026-10, 2026-11.",
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
    expect(blocks).toContain('["chain: what it pays by","99.0000 %","990","1,000"]');
  });
});
