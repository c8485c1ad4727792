import { describe, expect, it } from "vitest";
import { EMPTY_HISTORY, UNSEEN } from "../../src/watchdog/conditions/poll-history.ts";
import type { AlertEvent } from "../../src/watchdog/alerts/alert-event.ts";
import type { AlertState } from "../../src/watchdog/alerts/alert-state.ts";
import { countObservation, EMPTY_LEDGER } from "../../src/watchdog/ledger/ledger.ts";
import {
  afterUnsure,
  EMPTY_STATE,
  shiftTimes,
  type WatchdogState,
} from "../../src/watchdog/state/state-store.ts";
import { FULL_HISTORY, FULL_LEDGER } from "../support/watchdog/full-state.ts";
import { observationOf, up } from "../support/watchdog/observations.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const EVENT: AlertEvent = {
  id: "1",
  key: "k",
  kind: "firing",
  alert: "sidecar-down",
  validator: "default",
  chainId: "test-1",
  severity: "critical",
  atMs: NOW - HOUR,
  sinceMs: NOW - 2 * HOUR,
  title: "t",
  reason: "refused",
  description: "d",
  action: "a",
  impact: "i",
  runbook: "r",
  cost: { blocks: 0n },
};

function alertOf(phase: AlertState["phase"]): AlertState {
  return {
    validator: "default",
    alert: "sidecar-down",
    phase,
    sinceMs: NOW - 2 * HOUR,
    lastActiveMs: NOW,
    reason: "refused",
    ...(phase === "resolved" ? { resolvedAtMs: NOW } : {}),
    acknowledged: { author: "kim", note: "disk", atMs: NOW - HOUR },
    escalation: { steps: 1, atMs: NOW - HOUR },
  };
}

function silence(startsAtMs: number): WatchdogState["alerting"]["silences"][number] {
  return {
    id: "s",
    alerts: [],
    validators: [],
    author: "kim",
    reason: "r",
    startsAtMs,
    endsAtMs: NOW + HOUR,
  };
}

const page = { chainId: "test-1", success: 10n, failure: 0n, height: 100n };
const STATE: WatchdogState = {
  ...EMPTY_STATE,
  ledgers: new Map([
    [
      "default",
      countObservation(EMPTY_LEDGER, observationOf(NOW, [{ metrics: up(page) }]), { intervalMs: 5000 })
        .ledger,
    ],
  ]),
  pollHistories: new Map([
    [
      "default",
      {
        ...EMPTY_HISTORY,
        chain: { height: 5n, firstSeenMs: NOW - HOUR, advancedAtMs: NOW },
        nodes: new Map([["node", { ...UNSEEN, lastGoodMs: NOW, seenMs: NOW }]]),
      },
    ],
  ]),
  alerting: {
    ...EMPTY_STATE.alerting,
    alerts: [alertOf("pending"), alertOf("firing"), alertOf("resolved")],
    silences: [silence(NOW - HOUR), silence(NOW + HOUR / 2)],
    outbox: [{ channel: "chat", event: EVENT, dead: { atMs: NOW - HOUR, reason: "no_service" } }],
  },
};

/** All numbers in a value, by their path. */
function numbersIn(value: unknown, path = ""): readonly (readonly [path: string, value: number])[] {
  if (typeof value === "number") return [[path, value]];
  if (value === null || typeof value !== "object") return [];
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, each]) => numbersIn(each, `${path}/${key}`));
}

it("the times of a state move in every field that this machine's clock has dated and that is still compared, and in no other", () => {
  const state: WatchdogState = {
    ...EMPTY_STATE,
    ledgers: new Map([["v", FULL_LEDGER]]),
    pollHistories: new Map([["v", FULL_HISTORY]]),
  };
  const moved = shiftTimes(state, DAY, NOW);
  const before = numbersIn([state.ledgers, state.pollHistories]);
  const after = new Map(numbersIn([moved.ledgers, moved.pollHistories]));
  const differences = before.map(([path, value]) => [path, (after.get(path) ?? Number.NaN) - value] as const);
  expect(new Set(differences.map(([, by]) => by))).toEqual(new Set([0, DAY]));
  expect(differences.filter(([, by]) => by !== 0).map(([path]) => path)).toEqual([
    "/0/v/sources/calls/counterStates/a/baseline/atMs",
    "/0/v/sources/calls/counterStates/a/conflict/first/atMs",
    "/0/v/sources/calls/counterStates/a/conflict/last/atMs",
    "/0/v/sources/calls/counterStates/a/replacedAtMs",
    "/0/v/sources/calls/counterStates/b/baseline/atMs",
    "/0/v/sources/calls/checkpoint/atMs",
    "/0/v/progress/sinceMs",
    "/0/v/processes/__proto__/sidecarSeenMs",
    "/0/v/processes/__proto__/changedMs",
    "/1/v/nodes/a/progress/firstSeenMs",
    "/1/v/nodes/a/progress/advancedAtMs",
    "/1/v/nodes/a/seenSinceMs",
    "/1/v/nodes/a/seenMs",
    "/1/v/nodes/a/lastGoodMs",
    "/1/v/nodes/a/lastBadMs",
    "/1/v/nodes/a/latency/recent/atMs",
    "/1/v/nodes/a/tick/sinceMs",
    "/1/v/nodes/a/recentPrices/0/atMs",
    "/1/v/nodes/a/webSockets/__proto__/sinceMs",
    "/1/v/nodes/a/webSockets/__proto__/lastReadMs",
    "/1/v/nodes/a/webSockets/b_ws/sinceMs",
    "/1/v/chain/firstSeenMs",
    "/1/v/upgrade/seenMs",
    "/1/v/upgrade/doneMs",
  ]);
});

describe.each([40 * DAY, -30 * DAY])("the times of a state, after the clock was moved by %d ms", (byMs) => {
  const { ledgers, pollHistories, alerting } = shiftTimes(STATE, byMs, NOW);

  it("of readings and of what was last seen are as long ago as before", () => {
    const { checkpoint, counterStates } = ledgers.get("default")?.sources.calls ?? expect.unreachable();
    expect([checkpoint?.atMs, counterStates.get("node")?.baseline.atMs]).toEqual([NOW + byMs, NOW + byMs]);
    expect(pollHistories.get("default")).toMatchObject({
      chain: { firstSeenMs: NOW - HOUR + byMs, advancedAtMs: NOW + byMs },
      nodes: new Map([["node", { lastGoodMs: NOW + byMs, seenMs: NOW + byMs }]]),
    });
  });

  it("date blocks again that a clock of the past has dated, and leave those of the future to the ledger", () => {
    expect(ledgers.get("default")?.sources.calls.checkpoint?.timeMs).toBe(byMs > 0 ? NOW + byMs : NOW);
  });

  it("leave blocks that the chain has dated, however near to the poll, where they are", () => {
    const ledger = ledgers.get("default") ?? expect.unreachable();
    const { calls } = ledger.sources;
    const byChain = { ...calls, checkpoint: { atMs: NOW, timeMs: NOW - 2000, node: "node" } };
    const state = {
      ...STATE,
      ledgers: new Map([["default", { ...ledger, sources: { ...ledger.sources, calls: byChain } }]]),
    };
    const moved = shiftTimes(state, byMs, NOW).ledgers.get("default")?.sources.calls.checkpoint;
    expect(moved).toMatchObject({ atMs: NOW + byMs, timeMs: NOW - 2000 });
  });

  it("of alerts go on to last, and keep the begin that people were told", () => {
    expect(alerting.alerts).toMatchObject([
      { sinceMs: NOW - 2 * HOUR + byMs, lastActiveMs: NOW + byMs },
      { sinceMs: NOW - 2 * HOUR, lastActiveMs: NOW + byMs, escalation: { atMs: NOW - HOUR + byMs } },
      { sinceMs: NOW - 2 * HOUR, resolvedAtMs: NOW + byMs },
    ]);
    for (const alert of alerting.alerts) expect(alert.acknowledged?.atMs).toBe(NOW - HOUR);
  });

  it("of silences that have begun leave them their length, and those of planned ones stay", () => {
    expect(alerting.silences.map(({ startsAtMs, endsAtMs }) => [startsAtMs, endsAtMs])).toEqual([
      [NOW - HOUR + byMs, NOW + HOUR + byMs],
      [NOW + HOUR / 2, NOW + HOUR],
    ]);
  });

  it("of notifications leave them their age, also when they are given up", () => {
    expect(alerting.outbox).toMatchObject([
      { event: { atMs: NOW - HOUR + byMs }, dead: { atMs: NOW - HOUR + byMs } },
    ]);
  });
});

describe("a process after one whose clock was not believed", () => {
  const of = (unsureAtMs?: number): WatchdogState => ({
    ...STATE,
    pollHistories: new Map(
      [...STATE.pollHistories].map(([name, one]) => [
        name,
        { ...one, ...(unsureAtMs === undefined ? {} : { unsureAtMs }) },
      ]),
    ),
  });

  it("does not know how long alerts have lasted in between, and leaves the ledger", () => {
    const state = of(NOW);
    const { alerting, ledgers, pollHistories } = afterUnsure(state, NOW + DAY);
    expect(alerting).toEqual(shiftTimes(state, DAY, NOW).alerting);
    expect(ledgers).toBe(state.ledgers);
    expect(pollHistories.get("default")).toMatchObject({ chain: { advancedAtMs: NOW + DAY } });
    expect(pollHistories.get("default")).not.toHaveProperty("unsureAtMs");
  });

  it("changes nothing when the clock was believed, or is behind", () => {
    expect(afterUnsure(of(), NOW + DAY)).toEqual(of());
    expect(afterUnsure(of(NOW), NOW - DAY)).toEqual(of(NOW));
  });
});
