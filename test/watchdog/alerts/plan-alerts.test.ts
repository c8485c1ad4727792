import { describe, expect, it } from "vitest";
import {
  type AlertingOptions,
  type AlertingState,
  EMPTY_ALERTING,
  planAlerts,
} from "../../../src/watchdog/alerts/plan-alerts.ts";
import {
  acknowledgeAlerts,
  type Silence,
  withdrawAcknowledgements,
} from "../../../src/watchdog/alerts/silence.ts";
import type { Escalation } from "../../../src/watchdog/alerts/notifications.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import {
  active,
  type AlertRule,
  clear,
  type ConditionResult,
  GRACE_MS,
} from "../../../src/watchdog/conditions/condition.ts";
import type { AlertEvent } from "../../../src/watchdog/alerts/alert-event.ts";
import type { ChannelSettings } from "../../../src/watchdog/alerts/outbox.ts";
import { notifySchema } from "../../../src/watchdog/notify/notify-config.ts";

const MINUTE = 60_000;
const RULES = alertsSchema.parse({}).rules;
const ruleOf = (name: string): AlertRule => {
  const rule = RULES.find(({ condition }) => condition.name === name);
  if (rule === undefined) throw new Error(`there is no condition ${name}`);
  return { ...rule, forMs: 0, resolveForMs: 0 };
};

const CHANNEL: ChannelSettings = {
  name: "all",
  minSeverity: "info",
  sendReminders: true,
  sendResolved: true,
  deadlineMs: 1000,
};

const OPTIONS: AlertingOptions = {
  rules: [
    ruleOf("sidecar-down"),
    ruleOf("sidecar-slow"),
    ruleOf("cannot-see-prices"),
    ruleOf("full-reward-slow-burn"),
  ],
  channels: [CHANNEL],
  graceMs: GRACE_MS,
  maintenance: [],
  reminders: { critical: [60 * MINUTE], warning: [], info: [] },
  runbooks: "https://runbooks.example/",
};

/** Results of one minute: names of active conditions, with their badness; all others are clear. */
type Minute = Readonly<Record<string, number | undefined>>;

interface PlayOptions {
  readonly from?: AlertingState;
  readonly startMinute?: number;
  readonly options?: Partial<AlertingOptions>;
  readonly validator?: string;
  readonly badBlocksPerMinute?: bigint;
}

function play(minutes: readonly Minute[], playOptions: PlayOptions = {}) {
  const {
    from = EMPTY_ALERTING,
    startMinute = 0,
    options,
    validator = "default",
    badBlocksPerMinute = 0n,
  } = playOptions;
  let state = from;
  const events: AlertEvent[] = [];
  for (const [index, one] of minutes.entries()) {
    const nowMs = (startMinute + index) * MINUTE;
    const results = new Map<string, ConditionResult>(
      (options?.rules ?? OPTIONS.rules).map(({ condition: { name } }) => [
        name,
        name in one ? active(`bad at ${startMinute + index}`, one[name]) : clear("good"),
      ]),
    );
    const plan = planAlerts(
      state,
      {
        validator,
        chainId: "c-1",
        nowMs,
        gapMs: MINUTE,
        results,
        costOf: ({ alert, sinceMs }, history) =>
          history.some((past) => past.alert === alert && past.sinceMs === sinceMs)
            ? { blocks: BigInt((nowMs - sinceMs) / MINUTE) * badBlocksPerMinute }
            : undefined,
      },
      { ...OPTIONS, ...options },
    );
    state = plan.state;
    events.push(...plan.events);
  }
  return { state, events, sent: events.map(({ alert, kind, atMs }) => `${atMs / MINUTE} ${alert} ${kind}`) };
}

const times = (count: number, minute: Minute): readonly Minute[] =>
  Array.from({ length: count }, () => minute);
const DOWN: Minute = { "sidecar-down": undefined };
const SLOW: Minute = { "sidecar-slow": undefined };
/** An echo of what is over. */
const BURN: Minute = { "full-reward-slow-burn": undefined };
const NOTHING: Minute = {};

const silence = (changes: Partial<Silence> = {}): Silence => ({
  id: "s",
  alerts: [],
  validators: [],
  author: "me",
  reason: "work",
  startsAtMs: 0,
  endsAtMs: 10 * MINUTE,
  ...changes,
});

describe("planAlerts", () => {
  it("creates events with stable ids, the runbook, the current reason, the duration and the cost", () => {
    const { events } = play([NOTHING, ...times(3, DOWN), NOTHING], { badBlocksPerMinute: 50n });
    expect(events).toMatchObject([
      {
        id: "c-1/default/sidecar-down/60000/firing",
        key: "c-1/default/sidecar-down",
        reason: "bad at 1",
        runbook: "https://runbooks.example/sidecar-down.md",
        sinceMs: MINUTE,
        cost: { blocks: 0n },
      },
      {
        id: "c-1/default/sidecar-down/60000/resolved",
        reason: "good",
        sinceMs: MINUTE,
        atMs: 4 * MINUTE,
        cost: { blocks: 150n },
      },
    ]);
  });

  it("changes nothing when the poll changes nothing", () => {
    const { state } = play([NOTHING]);
    expect(play([NOTHING], { from: state, startMinute: 1 }).state).toEqual(state);
    expect(play([NOTHING], { from: state, startMinute: 1 }).state.alerts).toBe(state.alerts);
  });

  it("keeps the alerts of each validator apart", () => {
    const first = play([DOWN], { validator: "a" });
    const second = play([DOWN], { from: first.state, validator: "b", startMinute: 1 });
    expect(second.sent).toEqual(["1 sidecar-down firing"]);
    const third = play([NOTHING], { from: second.state, validator: "a", startMinute: 2 });
    expect(third.sent).toEqual(["2 sidecar-down resolved"]);
    expect(third.state.alerts.map(({ validator, phase }) => `${validator} ${phase}`).toSorted()).toEqual([
      "a resolved",
      "b firing",
    ]);
  });

  it("drops alerts without a rule, and resolved ones after a while", () => {
    const { state } = play([DOWN]);
    expect(play([NOTHING], { from: state, startMinute: 1, options: { rules: [] } }).state.alerts).toEqual([]);
    const resolved = play([NOTHING], { from: state, startMinute: 1 }).state;
    expect(resolved.alerts.map(({ phase }) => phase)).toEqual(["resolved"]);
    expect(play([NOTHING], { from: resolved, startMinute: 17 }).state.alerts).toEqual([]);
  });
});

describe("reminders", () => {
  it("are not sent of what cannot be changed any more", () => {
    const rules = RULES.filter(({ condition }) => condition.isSettled === true);
    expect(rules.map(({ condition }) => condition.name)).toEqual(
      ["any-reward", "full-reward"].flatMap((prefix) =>
        ["lost", "rate-low", "headroom-low"].map((suffix) => `${prefix}-${suffix}`),
      ),
    );
    expect(new Set(rules.map(({ severity }) => severity))).toEqual(new Set(["warning"]));
    const down = ruleOf("sidecar-down");
    const settled: AlertRule = { ...down, condition: { ...down.condition, isSettled: true } };
    expect(play(times(150, DOWN), { options: { rules: [settled] } }).sent).toEqual(["0 sidecar-down firing"]);
  });

  it("come after their time, with ids of their own, and not for severities without them", () => {
    const { sent, events } = play(times(130, { ...DOWN, ...SLOW }), {
      options: { rules: [ruleOf("sidecar-down")] },
    });
    expect(sent).toEqual(["0 sidecar-down firing", "60 sidecar-down reminder", "120 sidecar-down reminder"]);
    expect(events.slice(1).map(({ id }) => id)).toEqual([
      "c-1/default/sidecar-down/0/reminder-1",
      "c-1/default/sidecar-down/0/reminder-2",
    ]);
    expect(play(times(130, SLOW)).sent).toEqual(["0 sidecar-slow firing"]);
  });

  it("come less and less often, and begin again with the next alert", () => {
    const options = { reminders: { critical: [10, 20, 30].map((m) => m * MINUTE), warning: [], info: [] } };
    const { sent } = play([...times(125, DOWN), ...times(20, NOTHING), ...times(12, DOWN)], { options });
    expect(sent.map((text) => text.replace(" sidecar-down", ""))).toEqual([
      "0 firing",
      "10 reminder",
      "30 reminder",
      "60 reminder",
      "90 reminder",
      "120 reminder",
      expect.stringMatching(/^1\d\d resolved$/),
      "145 firing",
      "155 reminder",
    ]);
  });

  it("come nine times in a week of a critical alert, and daily of a warning, unless configured otherwise", () => {
    const { reminders } = notifySchema.parse({});
    const week = times(7 * 24 * 60, DOWN);
    const kinds = play(week, { options: { reminders } }).sent.map((text) => text.split(" ").at(-1));
    expect(kinds.filter((kind) => kind === "reminder")).toHaveLength(9);
    const slow = play(times(7 * 24 * 60, SLOW), { options: { reminders } }).sent;
    expect(slow.filter((text) => text.endsWith("reminder"))).toHaveLength(7);
  });

  it("come earlier when the alert gets worse by half", () => {
    const minutes = [...times(5, { "sidecar-down": 100 }), ...times(50, { "sidecar-down": 149 })];
    expect(play(minutes).sent).toEqual(["0 sidecar-down firing"]);
    const worse = [...times(5, { "sidecar-down": 100 }), ...times(50, { "sidecar-down": 150 })];
    expect(play(worse).sent).toEqual(["0 sidecar-down firing", "15 sidecar-down reminder"]);
  });
});

describe("causes", () => {
  it("mute their consequences until five minutes after they are over", () => {
    const both = { ...DOWN, ...BURN };
    const { sent } = play([...times(10, both), ...times(10, BURN)]);
    expect(sent).toEqual([
      "0 sidecar-down firing",
      "10 sidecar-down resolved",
      "15 full-reward-slow-burn firing",
    ]);
  });

  it("say nothing of a consequence that ends with them", () => {
    const both = { ...DOWN, ...BURN };
    expect(play([...times(10, both), ...times(3, BURN), ...times(10, NOTHING)]).sent).toEqual([
      "0 sidecar-down firing",
      "10 sidecar-down resolved",
    ]);
  });

  it("end their consequences as soon as they are clear, before they are resolved", () => {
    const rules = [{ ...ruleOf("sidecar-down"), resolveForMs: 3 * MINUTE }, ruleOf("full-reward-slow-burn")];
    const firingAfter = (...minutes: readonly Minute[]) =>
      play(minutes, { options: { rules } })
        .state.alerts.filter(({ phase }) => phase === "firing")
        .map(({ alert }) => alert);
    const both = { ...DOWN, ...BURN };
    expect(firingAfter(both)).toEqual(["sidecar-down", "full-reward-slow-burn"]);
    expect(firingAfter(both, BURN)).toEqual(["sidecar-down"]);
    expect(firingAfter(both, BURN, both, both)).toEqual(["sidecar-down", "full-reward-slow-burn"]);
    expect(firingAfter(both, ...times(9, BURN))).toEqual(["full-reward-slow-burn"]);
  });

  it("say until when they mute an echo, and mute nothing that is measured now", () => {
    const both = { ...DOWN, ...SLOW, ...BURN };
    const { sent, state } = play([...times(10, both), ...times(3, { ...SLOW, ...BURN })]);
    expect(sent).toEqual(["0 sidecar-down firing", "10 sidecar-down resolved", "10 sidecar-slow firing"]);
    expect(state.alerts.find(({ alert }) => alert === "full-reward-slow-burn")).toMatchObject({
      phase: "pending",
      heldUntilMs: 15 * MINUTE,
      quietReason: "muted until 00:15 UTC, because sidecar-down has just ended",
    });
    const after = play([...times(3, { ...SLOW, ...BURN })], { from: state, startMinute: 13 });
    expect(after.state.alerts.find(({ alert }) => alert === "full-reward-slow-burn")?.heldUntilMs).toBe(
      undefined,
    );
  });

  it("let the time of an echo begin when its wait is over", () => {
    const rules = [ruleOf("sidecar-down"), { ...ruleOf("full-reward-slow-burn"), forMs: 3 * MINUTE }];
    const { sent } = play([...times(10, { ...DOWN, ...BURN }), ...times(15, BURN)], { options: { rules } });
    expect(sent.slice(2)).toEqual(["18 full-reward-slow-burn firing"]);
  });

  it("end a consequence that is not measured any more while they are over", () => {
    const rules = [{ ...ruleOf("sidecar-down") }, { ...ruleOf("sidecar-slow"), resolveForMs: 5 * MINUTE }];
    const { sent } = play([...times(5, { ...DOWN, ...SLOW }), NOTHING, NOTHING], { options: { rules } });
    expect(sent).toEqual(["0 sidecar-down firing", "5 sidecar-down resolved"]);
  });

  it("notify before their time instead of a consequence that is about to, and of two causes the first", () => {
    const down = { ...ruleOf("sidecar-down"), forMs: 10 * MINUTE };
    const rules = [down, ruleOf("sidecar-slow"), ruleOf("full-reward-slow-burn")];
    const both = { ...DOWN, ...SLOW };
    expect(play(times(3, both), { options: { rules } }).sent).toEqual(["0 sidecar-down firing"]);
    expect(play([DOWN, both, both], { options: { rules } }).sent).toEqual(["1 sidecar-down firing"]);
    // A loss of hours hastens nothing.
    expect(play(times(3, { ...DOWN, ...BURN }), { options: { rules } }).sent).toEqual([
      "0 full-reward-slow-burn firing",
    ]);
  });

  it("of several that are pending, the one that explains the others notifies", () => {
    const later = (name: string): AlertRule => ({ ...ruleOf(name), forMs: 10 * MINUTE });
    const rules = [later("network-votes-missing"), later("sidecar-down"), ruleOf("oracle-calls-failing")];
    const all = {
      "network-votes-missing": undefined,
      "sidecar-down": undefined,
      "oracle-calls-failing": undefined,
    };
    const { sent, state } = play(times(3, all), { options: { rules } });
    expect(sent).toEqual(["0 network-votes-missing firing"]);
    expect(state.alerts.find(({ alert }) => alert === "sidecar-down")?.phase).toBe("pending");
  });

  it("leave an alert alone that was notified before", () => {
    const { sent } = play([...times(2, SLOW), { ...DOWN, ...SLOW }, ...times(20, SLOW), NOTHING]);
    expect(sent).toEqual([
      "0 sidecar-slow firing",
      "2 sidecar-down firing",
      "3 sidecar-down resolved",
      "23 sidecar-slow resolved",
    ]);
  });

  it("mute nothing graver than they are", () => {
    const rules = [
      { ...ruleOf("sidecar-down"), severity: "warning" as const },
      { ...ruleOf("sidecar-slow"), severity: "critical" as const },
    ];
    const { sent } = play([{ ...DOWN, ...SLOW }], { options: { rules } });
    expect(sent).toEqual(["0 sidecar-down firing", "0 sidecar-slow firing"]);
  });

  it("do not keep the end of an alert from being sent", () => {
    const { sent } = play([...times(2, SLOW), { ...DOWN, ...SLOW }, DOWN, DOWN]);
    expect(sent).toEqual(["0 sidecar-slow firing", "2 sidecar-down firing", "3 sidecar-slow resolved"]);
  });
});

describe("silences", () => {
  it("keep alerts from notifying until they end, and are removed then", () => {
    const from = { ...EMPTY_ALERTING, silences: [silence()] };
    const { sent, state } = play(times(20, DOWN), { from });
    expect(sent).toEqual(["10 sidecar-down firing"]);
    expect(state.silences).toEqual([]);
  });

  it("cover the named alerts and validators only", () => {
    for (const [changes, count] of [
      [{ alerts: ["sidecar-slow"] }, 1],
      [{ validators: ["another"] }, 1],
      [{ alerts: ["sidecar-down"], validators: ["default"] }, 0],
      [{ startsAtMs: 5 * MINUTE }, 1],
    ] as const)
      expect(
        play(times(5, DOWN), { from: { ...EMPTY_ALERTING, silences: [silence(changes)] } }).sent,
      ).toHaveLength(count);
  });

  it("let the end of an alert through when its begin was sent", () => {
    const { state } = play(times(2, DOWN));
    const from = { ...state, silences: [silence()] };
    expect(play([DOWN, NOTHING], { from, startMinute: 2 }).sent).toEqual(["3 sidecar-down resolved"]);
  });

  it("send neither begin nor end of an alert that they cover completely", () => {
    const from = { ...EMPTY_ALERTING, silences: [silence()] };
    expect(play([...times(5, DOWN), ...times(10, NOTHING)], { from }).sent).toEqual([]);
  });

  it("count blocks all the same", () => {
    const from = { ...EMPTY_ALERTING, silences: [silence({ endsAtMs: 3 * MINUTE })] };
    const { events } = play([...times(10, DOWN), NOTHING], { from, badBlocksPerMinute: 50n });
    expect(events.map(({ kind, cost }) => [kind, cost?.blocks])).toEqual([
      ["firing", 150n],
      ["resolved", 500n],
    ]);
  });
});

describe("maintenance", () => {
  it("keeps alerts from notifying, once and weekly", () => {
    const window = { reason: "work", validators: [], durationMs: 10 * MINUTE };
    const day = 86_400_000;
    // The Unix epoch was a Thursday.
    const weekly = { kind: "weekly", days: [4], timeOfDayMs: 0 } as const;
    for (const [start, startMinute, count] of [
      [{ kind: "once", atMs: 0 }, 0, 0],
      [{ kind: "once", atMs: 0 }, 10, 1],
      [weekly, 0, 0],
      [weekly, (7 * day) / MINUTE, 0],
      [weekly, day / MINUTE, 1],
      [{ kind: "weekly", days: [3], timeOfDayMs: day - 5 * MINUTE }, 0, 0],
      [{ kind: "weekly", days: [3], timeOfDayMs: day - 5 * MINUTE }, 5, 1],
    ] as const) {
      const options = { maintenance: [{ ...window, start }] };
      expect(play(times(3, DOWN), { startMinute, options }).sent).toHaveLength(count);
    }
  });

  it("is the reason of an alert that nobody silenced", () => {
    const window = { reason: "work", validators: [], durationMs: 10 * MINUTE };
    const options = { maintenance: [{ ...window, start: { kind: "once", atMs: 0 } as const }] };
    const ofSlow: Silence = {
      id: "s",
      alerts: ["sidecar-slow"],
      validators: [],
      author: "kim",
      reason: "known",
      startsAtMs: 0,
      endsAtMs: 10 * MINUTE,
    };
    const from = { ...EMPTY_ALERTING, silences: [ofSlow] };
    const { state } = play([{ ...SLOW, ...DOWN }], { from, options });
    expect(Object.fromEntries(state.alerts.map(({ alert, quietReason }) => [alert, quietReason]))).toEqual({
      "sidecar-down": "maintenance: work",
      "sidecar-slow": "silenced by kim: known",
    });
    expect(state.history.map(({ alert, quietReason }) => [alert, quietReason])).toEqual([
      ["sidecar-down", "maintenance: work"],
      ["sidecar-slow", "silenced by kim: known"],
    ]);
  });
});

it("does not begin to notify of an alert that is clear, when its silence ends", () => {
  const rules = [{ ...ruleOf("sidecar-down"), resolveForMs: 20 * MINUTE }];
  const from = { ...EMPTY_ALERTING, silences: [silence()] };
  expect(play([...times(5, DOWN), ...times(10, NOTHING)], { from, options: { rules } }).sent).toEqual([]);
});

describe("the outbox", () => {
  it("gets each event for the channels that want it", () => {
    const channels = [
      { ...CHANNEL, name: "critical", minSeverity: "critical" },
      { ...CHANNEL, name: "quiet", sendResolved: false, sendReminders: false },
    ] as const;
    const minutes = [SLOW, { ...SLOW, ...DOWN }, ...times(70, DOWN), NOTHING];
    const { state } = play(minutes, { options: { channels } });
    const texts = state.outbox.map(({ channel, event }) => `${channel} ${event.alert} ${event.kind}`);
    expect(texts.toSorted()).toEqual([
      "critical sidecar-down firing",
      "critical sidecar-down reminder",
      "critical sidecar-down resolved",
      "quiet sidecar-down firing",
      "quiet sidecar-slow firing",
    ]);
  });

  it("has at most 200 events of each channel; reminders go first, then the oldest", () => {
    const flapping = Array.from({ length: 500 }, (_, index) => (index % 2 === 0 ? DOWN : NOTHING));
    const long = [...times(70, DOWN), ...flapping];
    const { state, events } = play(long);
    expect(state.outbox).toHaveLength(200);
    expect(state.outbox.map(({ event }) => event.id)).toEqual(
      events
        .filter(({ kind }) => kind !== "reminder")
        .slice(-200)
        .map(({ id }) => id),
    );
  });

  it("has an event once, also when the same poll is evaluated twice after a crash", () => {
    const before = play([NOTHING]).state;
    const once = play([DOWN], { from: before, startMinute: 1 }).state;
    const twice = play([DOWN], { from: { ...before, outbox: once.outbox }, startMinute: 1 }).state;
    expect(twice.outbox).toEqual(once.outbox);
  });
});

describe("an alert that nobody acknowledges", () => {
  const PHONE: ChannelSettings = { ...CHANNEL, name: "phone" };
  const BOSS: ChannelSettings = { ...CHANNEL, name: "boss" };
  const escalation: Escalation = {
    minSeverity: "critical",
    steps: [
      { afterMs: 15 * MINUTE, channels: [PHONE] },
      { afterMs: 30 * MINUTE, channels: [BOSS] },
    ],
  };
  const options = { escalation, reminders: { critical: [10 * MINUTE], warning: [], info: [] } };
  const outboxOf = ({ state }: ReturnType<typeof play>) =>
    state.outbox.map(({ channel, event: { kind, atMs } }) => `${atMs / MINUTE} ${channel} ${kind}`);
  /** The state with every firing alert acknowledged. */
  const acknowledged = (state: AlertingState): AlertingState => {
    const result = acknowledgeAlerts(state.alerts, { author: "kim", note: "new disk" }, 0);
    return "refused" in result ? expect.unreachable(result.refused) : { ...state, alerts: result.alerts };
  };

  it("is escalated step by step, to the channels of the steps only, and so is its end", () => {
    const played = play([...times(40, DOWN), ...times(3, NOTHING)], { options });
    expect(outboxOf(played)).toEqual([
      "0 all firing",
      "10 all reminder",
      "15 phone escalated",
      "20 all reminder",
      "30 all reminder",
      "30 boss escalated",
      "40 all resolved",
      "40 phone resolved",
      "40 boss resolved",
    ]);
    const ids = played.state.outbox
      .filter(({ event }) => event.kind === "escalated")
      .map(({ event }) => event.id);
    expect(ids).toEqual(["c-1/default/sidecar-down/0/escalated-1", "c-1/default/sidecar-down/0/escalated-2"]);
    // Who was never reached hears nothing of the end.
    const short = play([...times(20, DOWN), ...times(3, NOTHING)], { options });
    expect(outboxOf(short).filter((text) => text.endsWith("resolved"))).toEqual([
      "20 all resolved",
      "20 phone resolved",
    ]);
  });

  it("has neither reminders nor escalation once it is acknowledged, until it fires again", () => {
    const first = play(times(6, DOWN), { options });
    const on = { from: acknowledged(first.state), startMinute: 6, options };
    const rest = play([...times(60, DOWN), ...times(3, NOTHING), ...times(20, DOWN)], on);
    expect(rest.sent).toEqual([
      "66 sidecar-down resolved",
      "69 sidecar-down firing",
      "79 sidecar-down reminder",
      "84 sidecar-down escalated",
    ]);
    expect(rest.state.history.map((past) => past.acknowledged?.note)).toEqual(["new disk", undefined]);
  });

  it("goes on from its first notification when the acknowledgement is withdrawn", () => {
    const first = play(times(6, DOWN), { options });
    const quiet = play(times(20, DOWN), { from: acknowledged(first.state), startMinute: 6, options });
    const result = withdrawAcknowledgements(quiet.state.alerts, {});
    const from = "refused" in result ? expect.unreachable() : { ...quiet.state, alerts: result.alerts };
    expect(play(times(2, DOWN), { from, startMinute: 26, options }).sent).toEqual([
      "26 sidecar-down reminder",
      "26 sidecar-down escalated",
    ]);
  });

  it("is not escalated while it is silenced or muted, below the severity, or without a condition that is seen", () => {
    const silences = [silence({ endsAtMs: 60 * MINUTE })];
    const from = { ...EMPTY_ALERTING, silences };
    expect(play(times(59, DOWN), { from, options }).sent).toEqual([]);
    expect(play(times(59, SLOW), { options }).sent.join()).not.toContain("escalated");
    const cleared = play([...times(10, DOWN), ...times(20, { "sidecar-down": undefined })], {
      options: { ...options, escalation: { ...escalation, minSeverity: "info", steps: [] } },
    });
    expect(cleared.sent.join()).not.toContain("escalated");
  });

  it("names what fires when a request selects something else", () => {
    const { state } = play(times(6, DOWN), { options });
    const refusedOf = (body: unknown) => {
      const result = acknowledgeAlerts(state.alerts, body, 0);
      return "refused" in result ? result.refused : undefined;
    };
    expect(refusedOf({ author: "kim", note: "x", alerts: ["sidecar-slow"] })).toBe(
      'no alert "sidecar-slow" is firing; firing: sidecar-down',
    );
    expect(refusedOf({ author: "kim", note: "x", validators: ["b"] })).toBe("no such alert is firing for b");
    expect(refusedOf({ author: "kim" })).toMatch(
      /^note: .*; send \{"alerts": \[…\], "author": …, "note": …\}$/,
    );
    expect(refusedOf({ author: "kim", note: "two\nlines" })).toMatch(/^note: is not one line/);
    expect(acknowledgeAlerts([], { author: "kim", note: "x" }, 0)).toEqual({ refused: "no alert is firing" });
    expect(withdrawAcknowledgements(state.alerts, {})).toEqual({ refused: "no alert is acknowledged" });
  });
});

it("an alert about the watchdog notifies once for all validators, and so does its end", () => {
  const options = { rules: [ruleOf("watchdog-slow")] };
  let state: AlertingState = EMPTY_ALERTING;
  const sent: string[] = [];
  for (let minute = 0; minute < 10; minute += 1)
    for (const validator of ["a", "b", "c"]) {
      const results = new Map([["watchdog-slow", minute < 5 ? active("late") : clear("in time")]]);
      const poll = {
        validator,
        chainId: "c-1",
        nowMs: minute * MINUTE,
        gapMs: MINUTE,
        results,
      };
      const plan = planAlerts(state, { ...poll, costOf: () => undefined }, { ...OPTIONS, ...options });
      state = plan.state;
      sent.push(...plan.events.map(({ kind }) => `${minute} ${validator} ${kind}`));
      if (minute === 3 && validator === "b")
        expect(state.alerts.find((alert) => alert.validator === "b")?.quietReason).toBe(
          "the same alert as for a",
        );
    }
  expect(sent).toEqual(["0 a firing", "5 a resolved"]);
});

it("a slow watchdog mutes what it cannot see, and nothing about votes that it counted", () => {
  const slow = ruleOf("watchdog-slow").condition;
  expect(slow.inhibits).toContain("cannot-see-votes");
  for (const name of ["oracle-calls-failing", "sidecar-down", "not-signing"])
    expect(slow.inhibits).not.toContain(name);
});
