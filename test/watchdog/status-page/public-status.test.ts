import { describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../src/platform/base/time.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { type MissRange, NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { SPECIFIED_LEAST } from "../../../src/watchdog/policy/reward-tier.ts";
import {
  gravest,
  type OpenAlert,
  presentOf,
  publicCause,
  publicValidator,
} from "../../../src/watchdog/status-page/public-status.ts";
import { publicPage } from "../../../src/watchdog/status-page/public-page.ts";
import {
  firstDayMs,
  joinHistories,
  publicDays,
  readHistory,
  SHOWN_DAYS,
  uptimeOf,
} from "../../../src/watchdog/status-page/public-days.ts";
import { EVENTFUL, EVENTFUL_ALERTS, ledgerScene } from "../../support/pages/status-page-scenes.ts";
import { SCENE_MS } from "../../support/pages/watchdog-scenes.ts";
import { ledgerViewOf, rollup } from "../../support/watchdog/ledger-view.ts";

const FIRST = firstDayMs(SCENE_MS);
const ALERTS = EVENTFUL_ALERTS.map((alert) => ({ ...alert, inhibits: [] }));

function daysOf(counts: Parameters<typeof rollup>[1], seen = { fromMs: 0, untilMs: SCENE_MS }, day = 80) {
  const all = publicDays([rollup(FIRST + day * DAY_MS, counts)], seen, SPECIFIED_LEAST, SCENE_MS);
  expect(all).toHaveLength(SHOWN_DAYS);
  return all[day];
}

describe("a day of the status page", () => {
  it.each([
    ["at 98 %", { good: 98n, bad: 2n }, "good"],
    ["below 98 %", { good: 9799n, bad: 201n }, "weak"],
    ["at 95 %", { good: 95n, bad: 5n }, "weak"],
    ["below 95 %", { good: 9499n, bad: 501n }, "bad"],
    ["without a block", {}, "unknown"],
    ["mostly unknown", { good: 49n, unknown: 51n }, "unknown"],
    ["half unknown", { good: 50n, unknown: 50n }, "good"],
  ])("%s is %s", (_name, counts, state) => {
    expect(daysOf(counts)?.state).toBe(state);
  });

  it("is unknown before counting began and after the last reading, in proportion to the time", () => {
    const dayMs = FIRST + 80 * DAY_MS;
    expect(daysOf({ good: 90n }, { fromMs: dayMs + 6 * HOUR_MS, untilMs: SCENE_MS })).toMatchObject({
      state: "good",
      unknownShare: 0.25,
    });
    expect(daysOf({ good: 90n }, { fromMs: 0, untilMs: dayMs + 6 * HOUR_MS })).toMatchObject({
      state: "unknown",
      unknownShare: 0.75,
    });
    expect(
      daysOf({ good: 90n, unknown: 90n }, { fromMs: dayMs + 6 * HOUR_MS, untilMs: SCENE_MS }),
    ).toMatchObject({
      state: "unknown",
      unknownShare: 0.625,
    });
  });

  it("has no future: today is known up to the last reading", () => {
    expect(daysOf({ good: 90n }, undefined, 89)).toMatchObject({ state: "good", unknownShare: 0 });
  });

  it("does not count estimates as known", () => {
    const startMs = FIRST + 80 * DAY_MS;
    const counts = { good: 100n, bad: 0n, unknown: 0n };
    const [...days] = publicDays(
      [{ startMs, counts, estimated: { ...counts, good: 60n } }],
      { fromMs: 0, untilMs: SCENE_MS },
      SPECIFIED_LEAST,
      SCENE_MS,
    );
    expect(days[80]).toMatchObject({ state: "unknown", rate: { good: 40n, total: 40n }, unknownShare: 0.6 });
    expect(uptimeOf(days)).toEqual({ rate: { good: 40n, total: 40n }, knownDays: 0 });
  });
});

describe("the history of the status page", () => {
  const source = { ledger: ledgerScene(EVENTFUL), policy: SPECIFIED_POLICY, alerts: ALERTS };

  it("has each incident with its cause, and one that ranges over midnight once, wherever it is cut", () => {
    const whole = readHistory(source, FIRST, SCENE_MS);
    expect(
      whole.incidents.map(({ fromMs, toMs, cause }) => [
        (fromMs - FIRST) / HOUR_MS,
        (toMs - fromMs) / HOUR_MS,
        cause,
      ]),
    ).toEqual([
      [20 * 24 + 3, 2, "sidecar-down"],
      [40 * 24, 24, "no known cause"],
      [70 * 24 + 23, 2, "oracle-calls-failing"],
    ]);
    for (const day of [20, 41, 71, 80]) {
      const cutMs = FIRST + day * DAY_MS;
      const joined = joinHistories(
        readHistory(source, FIRST, cutMs),
        readHistory(source, cutMs, SCENE_MS),
        SPECIFIED_POLICY.quietMs,
        SCENE_MS,
      );
      expect(joined.incidents.map(({ fromMs, toMs, bad, cause }) => ({ fromMs, toMs, bad, cause }))).toEqual(
        whole.incidents.map(({ fromMs, toMs, bad, cause }) => ({ fromMs, toMs, bad, cause })),
      );
      expect(joined.days).toEqual(whole.days);
    }
  });

  it("has two outages of one hour as two, when their blocks are known", () => {
    const hourMs = FIRST + 80 * DAY_MS;
    const miss = (minute: number, bad: bigint, good = 0n) => {
      const toMs = hourMs + minute * 60_000;
      return { fromMs: toMs - 20_000, toMs, good, bad };
    };
    const outages = [miss(5, 10n), miss(6, 10n), miss(20, 20n)];
    const ledger = (misses: readonly MissRange[]) =>
      ledgerViewOf({ hours: [rollup(hourMs, { good: 1000n, bad: 40n })], misses });
    const timesOf = (misses: readonly MissRange[]) =>
      readHistory({ ...source, ledger: ledger(misses), alerts: [] }, FIRST, SCENE_MS).incidents.map(
        ({ fromMs, toMs, bad }) => [(fromMs - hourMs) / 1000, (toMs - hourMs) / 1000, bad],
      );
    expect(timesOf(outages)).toEqual([
      [280, 360, 20n],
      [1180, 1200, 20n],
    ]);
    // Not all are known: the hour is.
    expect(timesOf(outages.slice(1))).toEqual([[0, 3600, 40n]]);
  });

  it("has halts and gaps that no incident explains, when they lasted", () => {
    const at = (day: number, minutes: number, kind: "halt" | "gap") => {
      const fromMs = FIRST + day * DAY_MS;
      return { kind, fromMs, toMs: fromMs + minutes * 60_000, text: "http://10.77.0.8" };
    };
    const ledger = ledgerScene({
      ...EVENTFUL,
      events: [at(30, 5, "halt"), at(31, 4, "gap"), at(32, 50, "gap"), at(40, 50, "halt")],
    });
    const causes = readHistory({ ...source, ledger }, FIRST, SCENE_MS).incidents.map(({ cause }) => cause);
    expect(causes).toEqual(["sidecar-down", "halt", "gap", "halt", "no known cause", "oracle-calls-failing"]);
  });
});

describe("the present state", () => {
  const GOOD = { good: 100n, bad: 0n, unknown: 0n };
  const alert = (name: string, phase: OpenAlert["phase"], severity = "critical"): OpenAlert => ({
    alert: name,
    severity,
    phase,
    sinceMs: SCENE_MS - 60_000,
  });
  const present = (more: Partial<Parameters<typeof presentOf>[0]>) =>
    presentOf({ isBlind: false, alerts: [], recent: GOOD, least: SPECIFIED_LEAST, ...more });

  it.each([
    ["all is well", {}, "operational"],
    [
      "nothing can be seen, and an alert fires",
      { isBlind: true, alerts: [alert("sidecar-down", "firing")] },
      "unknown",
    ],
    ["no block came", { recent: NO_BLOCKS }, "unknown"],
    ["blocks are not known", { recent: { ...NO_BLOCKS, unknown: 50n } }, "unknown"],
    ["a critical alert fires", { alerts: [alert("sidecar-down", "firing")] }, "outage"],
    ["a critical alert is pending", { alerts: [alert("sidecar-down", "pending")] }, "degraded"],
    ["a warning fires", { alerts: [alert("clock-skew", "firing", "warning")] }, "operational"],
    ["an alert about the month fires", { alerts: [alert("full-reward-at-risk", "firing")] }, "operational"],
    ["the watchdog is slow", { alerts: [alert("watchdog-slow", "firing")] }, "operational"],
    ["some blocks are missed", { recent: { ...GOOD, bad: 3n } }, "degraded"],
    ["most blocks are missed", { recent: { ...GOOD, bad: 50n } }, "outage"],
  ] as const)("when %s", (_name, more, state) => {
    expect(present(more).state).toBe(state);
  });

  it("dates an outage by the first alert about it", () => {
    const first = { ...alert("oracle-calls-failing", "firing"), sinceMs: SCENE_MS - 90_000 };
    expect(present({ alerts: [alert("sidecar-down", "firing"), first] })).toEqual({
      state: "outage",
      text: "Requests for prices failed",
      outage: { sinceMs: SCENE_MS - 90_000, cause: "oracle-calls-failing" },
    });
  });
});

describe("a validator on the status page", () => {
  const input = {
    shown: { name: "default", title: "Example", components: ["prices"] },
    hasAmounts: false,
    ledger: ledgerScene(EVENTFUL),
    history: readHistory(
      { ledger: ledgerScene(EVENTFUL), policy: SPECIFIED_POLICY, alerts: ALERTS },
      FIRST,
      SCENE_MS,
    ),
    present: { state: "operational", text: "Operational" },
    assessment: undefined,
    seenAtMs: SCENE_MS,
    nowMs: SCENE_MS,
  } as const;

  it("has an outage that has just begun, and one that goes on, without an end", () => {
    const outage = { sinceMs: SCENE_MS - 5_000, cause: "sidecar-down" };
    const present = { state: "outage", text: "", outage } as const;
    expect(publicValidator({ ...input, present }).incidents[0]).toEqual({
      fromMs: SCENE_MS - 5_000,
      toMs: undefined,
      cause: "The price service did not respond",
    });
    const fromMs = SCENE_MS - HOUR_MS;
    const open = { fromMs, toMs: SCENE_MS + HOUR_MS, month: "2026-11", bad: 1n, cause: "node-halted" };
    const history = { ...input.history, incidents: [open] };
    expect(publicValidator({ ...input, history, present }).incidents).toEqual([
      { fromMs, toMs: undefined, cause: "The node stopped" },
    ]);
    expect(publicValidator({ ...input, history }).incidents).toEqual([
      { fromMs, toMs: SCENE_MS, cause: "The node stopped" },
    ]);
  });

  it("shows the newest twenty incidents", () => {
    const one = { month: "2026-11", bad: 1n, cause: "sidecar-down" };
    const incidents = Array.from({ length: 500 }, (_, index) => ({ ...one, fromMs: index, toMs: index + 1 }));
    const shown = publicValidator({ ...input, history: { ...input.history, incidents } }).incidents;
    expect([shown.length, shown[0]?.fromMs]).toEqual([20, 499]);
  });
});

it("public words name no alert, and all that is not named is a technical problem", () => {
  const words = CONDITIONS.map(({ name }) => publicCause(name));
  expect(words.filter((text) => /-|sidecar|watchdog|http/i.test(text))).toEqual([]);
  expect([publicCause("constructor"), publicCause("any-reward-at-risk")]).toEqual([
    "A technical problem",
    "A technical problem",
  ]);
});

it("the headline is about the validator in the most serious state", () => {
  const inState = (state: "outage" | "unknown" | "degraded" | "operational") => ({
    title: state,
    chainId: "neutron-1",
    present: { state, text: state },
    seenAtMs: SCENE_MS,
    components: [],
    incidents: [],
  });
  const gravestOf = (...states: readonly Parameters<typeof inState>[0][]) =>
    gravest({ title: "", asOfMs: SCENE_MS, staleMs: 1, validators: states.map(inState) })?.title;
  expect(gravestOf("operational", "outage", "degraded")).toBe("outage");
  expect(gravestOf("operational", "degraded")).toBe("degraded");
  expect(gravestOf("degraded", "unknown", "operational")).toBe("unknown");
  expect(gravestOf()).toBeUndefined();
  const headlineOf = (...states: readonly Parameters<typeof inState>[0][]) => {
    const status = { title: "", asOfMs: SCENE_MS, staleMs: 1, validators: states.map(inState) };
    return /<title>(.*?) – </.exec(publicPage(status, { reloadSeconds: 60 }))?.[1];
  };
  expect(headlineOf("operational", "outage", "degraded")).toBe("outage: outage");
  expect(headlineOf("operational", "degraded", "degraded")).toBe("2 of 3: reduced");
});
