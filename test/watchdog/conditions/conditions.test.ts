import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AlertState } from "../../../src/watchdog/alerts/alert-state.ts";
import {
  type AlertingOptions,
  type AlertingState,
  EMPTY_ALERTING,
  planAlerts,
} from "../../../src/watchdog/alerts/plan-alerts.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import {
  active,
  type AlertRule,
  type ConditionResult,
  GRACE_MS,
} from "../../../src/watchdog/conditions/condition.ts";
import { CONDITIONS, evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import {
  advanceHistory,
  EMPTY_HISTORY,
  type PollHistory,
} from "../../../src/watchdog/conditions/poll-history.ts";
import { openSqliteState } from "../../../src/watchdog/state/sqlite-state.ts";
import { blockTimeOf, countdownTo, headSeenMs } from "../../../src/watchdog/policy/upgrade-countdown.ts";
import { EMPTY_STATE } from "../../../src/watchdog/state/state-store.ts";
import { type Change, type Frame, healthyFrame, START_MS } from "../../support/watchdog/frames.ts";
import { BAD_FROM_MS, CASES, type Cases } from "./cases.ts";

const POLL_MS = 10_000;
const { rules: RULES, majorPairs } = alertsSchema.parse({});

/** Longest time that a condition itself waits for, such as two minutes without a block. */
const EVALUATE_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "relaywatch-conditions-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Everything about one run that the scenarios read. */
interface Play {
  /** Events as "kind", with their times in ms after {@link BAD_FROM_MS}. */
  readonly events: readonly { readonly kind: string; readonly afterMs: number }[];
  readonly alert: AlertState | undefined;
}

interface PlayOptions {
  readonly rule: AlertRule;
  /** Applied from {@link BAD_FROM_MS} until `badForMs` later. */
  readonly change: Change;
  readonly badForMs: number;
  readonly goodForMs: number;
  /** Times after {@link BAD_FROM_MS} at which the watchdog restarts: the state goes through the file. */
  readonly restartsMs?: readonly number[];
}

/** Polls from {@link START_MS} on, with one rule alone. */
function play({ rule, change, badForMs, goodForMs, restartsMs = [] }: PlayOptions): Play {
  const options: AlertingOptions = {
    rules: [rule],
    channels: [],
    maintenance: [],
    graceMs: GRACE_MS,
    reminders: { critical: [], warning: [], info: [] },
    runbooks: "",
  };
  const events: Play["events"][number][] = [];
  let state = EMPTY_ALERTING;
  let history: PollHistory = EMPTY_HISTORY;
  const restarts = [...restartsMs];
  for (let atMs = START_MS; atMs <= BAD_FROM_MS + badForMs + goodForMs; atMs += POLL_MS) {
    if (restarts[0] !== undefined && atMs - BAD_FROM_MS >= restarts[0]) {
      restarts.shift();
      ({ state, history } = reloaded(state, history));
    }
    const isBad = atMs >= BAD_FROM_MS && atMs < BAD_FROM_MS + badForMs;
    const frame = isBad ? change(healthyFrame(atMs)) : healthyFrame(atMs);
    history = advanceHistory(history, frame.observation, 60_000);
    const blockTime = blockTimeOf([], frame.assessment?.blockTimeMs);
    const upgrade = countdownTo(history, headSeenMs(frame.observation), blockTime);
    const results = evaluateConditions([rule], { ...frame, history, upgrade, majorPairs });
    const plan = planAlerts(state, evaluatedPoll(atMs, results), options);
    state = plan.state;
    events.push(...plan.events.map(({ kind }) => ({ kind, afterMs: atMs - BAD_FROM_MS })));
  }
  return { events, alert: state.alerts[0] };
}

function evaluatedPoll(nowMs: number, results: ReadonlyMap<string, ConditionResult>) {
  const costOf = () => undefined;
  return { validator: "default", chainId: "test-1", gapMs: 60_000, nowMs, results, costOf };
}

/** The state after it was saved and loaded. */
function reloaded(alerting: AlertingState, history: PollHistory) {
  const state = { ...EMPTY_STATE, alerting, pollHistories: new Map([["default", history]]) };
  const store = openSqliteState(folder);
  store.load();
  store.save(state);
  store.close();
  const again = openSqliteState(folder);
  const loaded = again.load();
  again.close();
  expect(loaded).toEqual(state);
  return { state: loaded.alerting, history: loaded.pollHistories.get("default") ?? EMPTY_HISTORY };
}

function ruleOf(name: string): AlertRule {
  const rule = RULES.find(({ condition }) => condition.name === name);
  if (rule === undefined) throw new Error(`there is no condition ${name}`);
  return rule;
}

const named = (cases: Readonly<Record<string, Change>>): readonly (readonly [string, Change])[] =>
  Object.entries(cases);

/** Time that is long enough to fire. */
const longEnough = ({ forMs }: AlertRule): number => forMs + EVALUATE_MS + 2 * POLL_MS;

/** What every condition is tested for. */
const TESTED = ["fires", "does not fire", "restart", "missing series", "muted"] as const;

/** Tests that ran to their end, by condition. */
const passed = new Map<string, Set<(typeof TESTED)[number]>>();

function pass(name: string, what: (typeof TESTED)[number]): void {
  passed.set(name, (passed.get(name) ?? new Set()).add(what));
}

describe.each(Object.entries(CASES))("%s", (name, { fires, alsoFires = {}, quiet, missing }: Cases) => {
  const rule = ruleOf(name);
  const { forMs, resolveForMs } = rule;
  const badForMs = longEnough(rule) + 60_000;
  const goodForMs = resolveForMs + EVALUATE_MS;

  it("fires once, after its time, and is resolved once", () => {
    const { events } = play({ rule, change: fires, badForMs, goodForMs });
    expect(events.map(({ kind }) => kind)).toEqual(["firing", "resolved"]);
    const [firing, resolved] = events;
    expect(firing?.afterMs).toBeGreaterThan(forMs - 1);
    expect(firing?.afterMs).toBeLessThanOrEqual(longEnough(rule));
    expect(resolved?.afterMs).toBeGreaterThanOrEqual(badForMs + resolveForMs);
    pass(name, "fires");
  });

  it.each(named(alsoFires))("fires and is resolved too for: %s", (_case, change) => {
    const { events } = play({ rule, change, badForMs, goodForMs });
    expect(events.map(({ kind }) => kind)).toEqual(["firing", "resolved"]);
    const restartsMs = [forMs / 2, badForMs + resolveForMs / 2];
    expect(play({ rule, change, badForMs, goodForMs, restartsMs }).events).toEqual(events);
  });

  it("does not fire while all is well, or when it is shorter than its time", () => {
    expect(play({ rule, change: (frame: Frame) => frame, badForMs, goodForMs }).events).toEqual([]);
    if (forMs > 0)
      expect(play({ rule, change: fires, badForMs: forMs - POLL_MS, goodForMs }).events).toEqual([]);
  });

  it.each(named(quiet))("does not fire for: %s", (_case, change) => {
    expect(play({ rule, change, badForMs: 2 * badForMs, goodForMs }).events).toEqual([]);
    pass(name, "does not fire");
  });

  it.each(named(missing))("does not fire without: %s", (_case, change) => {
    expect(play({ rule, change, badForMs: 2 * badForMs, goodForMs }).events).toEqual([]);
    pass(name, "missing series");
  });

  it("keeps firing, and sends nothing again, while it cannot be seen", () => {
    const firing = play({ rule, change: fires, badForMs, goodForMs: 0 });
    expect(firing.alert?.phase).toBe("firing");
    const blind = new Map<string, ConditionResult>([[name, { kind: "unknown", reason: "not seen" }]]);
    const state = { ...EMPTY_ALERTING, alerts: firing.alert === undefined ? [] : [firing.alert] };
    const later = BAD_FROM_MS + 10 * badForMs;
    const plan = planAlerts(state, evaluatedPoll(later, blind), optionsOf([rule]));
    expect([plan.events, plan.state.alerts[0]?.phase]).toEqual([[], "firing"]);
  });

  it("fires and is resolved at the same times over restarts of the watchdog", () => {
    // Long enough after the second restart for an alert that is wrongly resolved to fire again.
    const lastingMs = longEnough(rule) + 20_000 + resolveForMs + longEnough(rule);
    const restartsMs = [forMs / 2, longEnough(rule) + 20_000, lastingMs + resolveForMs / 2];
    const options = { rule, change: fires, badForMs: lastingMs, goodForMs: goodForMs + EVALUATE_MS };
    const { events } = play({ ...options, restartsMs });
    expect(events.map(({ kind }) => kind)).toEqual(["firing", "resolved"]);
    expect(events).toEqual(play(options).events);
    pass(name, "restart");
  });

  const causes = CONDITIONS.filter(({ inhibits }) => inhibits.includes(name)).map((cause) => cause.name);
  it.each(causes)("is muted by %s, and notifies when the cause is over", (cause) => {
    const options = optionsOf([ruleOf(cause), rule]);
    const run = (count: number, from: number, causeIsActive: boolean, start: AlertingState) => {
      let state = start;
      const kinds: string[] = [];
      for (let index = 0; index < count; index++) {
        const results = new Map<string, ConditionResult>([
          [name, active("bad")],
          [cause, causeIsActive ? active("bad") : { kind: "clear", reason: "over" }],
        ]);
        const plan = planAlerts(state, evaluatedPoll(from + index * POLL_MS, results), options);
        kinds.push(...plan.events.map(({ alert, kind }) => `${alert} ${kind}`));
        state = plan.state;
      }
      return { kinds, state };
    };
    // The cause fires before the consequence is evaluated, as it does when the consequence takes longer to show.
    const { forMs: causeForMs } = ruleOf(cause);
    const early = planCauseAlone(cause, options, causeForMs);
    const polls = forMs / POLL_MS + 10;
    const muted = run(polls, BAD_FROM_MS, true, early);
    expect(muted.kinds.filter((kind) => kind.startsWith(`${name} `))).toEqual([]);
    const consequence = muted.state.alerts.find(({ alert }) => alert === name);
    expect([consequence?.phase, consequence?.quietReason]).toEqual(["firing", `muted by ${cause}`]);
    const atEnd = run(1, BAD_FROM_MS + polls * POLL_MS, false, muted.state);
    const isEcho = rule.condition.echo !== undefined;
    const ended = atEnd.state.alerts.find(({ alert }) => alert === name);
    expect([ended?.phase, ended?.quietReason]).toEqual([isEcho ? "resolved" : "firing", `muted by ${cause}`]);
    // The cause is clear until it is resolved. An echo stays muted for the grace period, and then comes its own time.
    const after = run(
      (ruleOf(cause).resolveForMs + 400_000 + forMs) / POLL_MS,
      BAD_FROM_MS + polls * POLL_MS,
      false,
      muted.state,
    );
    expect(after.kinds.filter((kind) => kind.startsWith(`${name} `))).toEqual([`${name} firing`]);
    const soon = run(
      ruleOf(cause).resolveForMs / POLL_MS + 3,
      BAD_FROM_MS + polls * POLL_MS,
      false,
      muted.state,
    );
    const held = soon.state.alerts.find(({ alert }) => alert === name);
    expect([held?.phase, held?.heldUntilMs === undefined]).toEqual([isEcho ? "pending" : "firing", !isEcho]);
    if (isEcho)
      expect(held?.quietReason).toMatch(
        new RegExp(`^muted until \\d\\d:\\d\\d UTC, because ${cause} has just ended$`),
      );
  });

  it("is muted by a silence and by maintenance", () => {
    const silence = {
      id: "s",
      alerts: [name],
      validators: [],
      author: "me",
      reason: "test",
      startsAtMs: 0,
      endsAtMs: BAD_FROM_MS * 2,
    };
    const start = { kind: "once", atMs: 0 } as const;
    const window = { reason: "work", validators: [], durationMs: BAD_FROM_MS * 2, start };
    const results = new Map<string, ConditionResult>([[name, active("bad")]]);
    for (const [silences, maintenance, reason] of [
      [[silence], [], "silenced by me: test"],
      [[], [window], "maintenance: work"],
    ] as const) {
      let state: AlertingState = { ...EMPTY_ALERTING, silences };
      for (let atMs = BAD_FROM_MS; atMs < BAD_FROM_MS + forMs + 60_000; atMs += POLL_MS) {
        const plan = planAlerts(state, evaluatedPoll(atMs, results), { ...optionsOf([rule]), maintenance });
        expect(plan.events).toEqual([]);
        state = plan.state;
      }
      expect([state.alerts[0]?.phase, state.alerts[0]?.quietReason]).toEqual(["firing", reason]);
    }
    pass(name, "muted");
  });
});

// The last test of the file: it counts the ones above.
it("every condition was tested for all five", () => {
  const lacking = CONDITIONS.map(({ name }) => [
    name,
    TESTED.filter((what) => passed.get(name)?.has(what) !== true),
  ]);
  expect(lacking.filter(([, what = []]) => what.length > 0)).toEqual([]);
  expect(Object.keys(CASES).toSorted()).toEqual(CONDITIONS.map(({ name }) => name).toSorted());
});

function optionsOf(rules: readonly AlertRule[]): AlertingOptions {
  return {
    rules,
    channels: [],
    maintenance: [],
    graceMs: GRACE_MS,
    reminders: { critical: [], warning: [], info: [] },
    runbooks: "",
  };
}

/** The state in which one cause fires. */
function planCauseAlone(cause: string, options: AlertingOptions, forMs: number): AlertingState {
  const results = new Map<string, ConditionResult>([[cause, active("bad")]]);
  let state = EMPTY_ALERTING;
  for (let atMs = BAD_FROM_MS - forMs - 60_000; atMs < BAD_FROM_MS; atMs += POLL_MS)
    state = planAlerts(state, evaluatedPoll(atMs, results), options).state;
  expect(state.alerts[0]?.phase).toBe("firing");
  return state;
}

it("a node that makes blocks is not taken for one that votes before its first call was seen", () => {
  const rule = RULES.find(({ condition }) => condition.name === "node-not-voting");
  if (rule === undefined) return expect.unreachable("no such condition");
  /** A poll some seconds after the start; the node makes calls only in the last one. */
  const frameAt = (seconds: number, calls: bigint): Frame => {
    const frame = healthyFrame(START_MS + seconds * 1000);
    const nodes = frame.observation.nodes.map((node) =>
      node.metrics.state === "up"
        ? { ...node, metrics: { ...node.metrics, value: { ...node.metrics.value, success: calls } } }
        : node,
    );
    return { ...frame, observation: { ...frame.observation, nodes } };
  };
  let history: PollHistory = EMPTY_HISTORY;
  const results = [frameAt(0, 40n), frameAt(10, 40n), frameAt(20, 50n)].map((frame) => {
    history = advanceHistory(history, frame.observation, 60_000);
    return evaluateConditions([rule], { ...frame, history, upgrade: undefined, majorPairs }).get(
      "node-not-voting",
    );
  });
  expect(results).toMatchObject([
    { kind: "unknown" },
    { kind: "unknown", reason: "no oracle call has been seen yet" },
    { kind: "clear" },
  ]);
});
