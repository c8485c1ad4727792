import { describe, expect, it } from "vitest";
import { backtest, notEvaluated } from "../../../src/watchdog/report/backtest.ts";
import { evaluateCounts, createPastViews } from "../../../src/watchdog/report/past-results.ts";
import type { LedgerEvent } from "../../../src/watchdog/ledger/ledger-view.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const NOVEMBER = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 9, 21, 12);
const OPTIONS = { ...alertsSchema.parse({}), intervalMs: 5000 };

describe("the past view of a ledger", () => {
  it("has what was known at that hour, in all lists", () => {
    const [data = expect.unreachable("no validator")] = sampleValidators(2, 3, NOVEMBER).slice(1);
    const nowMs = Date.UTC(2026, 9, 12, 13);
    const [past, then = expect.unreachable("no validator")] = [
      createPastViews(data.ledger, data.ledger.hours(Date.UTC(2026, 8, 28), NOVEMBER))(nowMs),
      sampleValidators(2, 2, nowMs)[1],
    ];
    expect(past.months().map(({ month, counts }) => [month, counts])).toEqual(
      then.ledger.months().map(({ month, counts }) => [month, counts]),
    );
    const days = (view: typeof past) => view.days(Date.UTC(2026, 9, 5), nowMs + 1);
    expect(days(past)).toEqual(days(then.ledger));
    expect(past.hours(nowMs - 3 * HOUR, nowMs + HOUR)).toEqual(
      then.ledger.hours(nowMs - 3 * HOUR, nowMs + HOUR),
    );
    expect(past.hours(nowMs, nowMs + HOUR)).toEqual([]);
  });

  it("has no block of a month that has begun without one", () => {
    const [data = expect.unreachable("no validator")] = sampleValidators(1, 2, NOVEMBER);
    const viewAt = createPastViews(data.ledger, data.ledger.hours(Date.UTC(2026, 8, 28), NOVEMBER));
    const last = (atMs: number) => viewAt(atMs).months().at(-1);
    expect(last(NOVEMBER)).toMatchObject({ month: "2026-10", counts: { good: 2_678_400n } });
    expect(last(NOVEMBER + HOUR)).toMatchObject({
      month: "2026-11",
      counts: { good: 0n, bad: 0n, unknown: 0n },
    });
  });
});

describe("a backtest", () => {
  it("of a healthy month raises nothing", () => {
    const [healthy = expect.unreachable("no validator")] = sampleValidators(1, 2, NOVEMBER);
    expect(backtest(healthy, "2026-10", OPTIONS)).toEqual([]);
  });

  it("of a month with 20 h without votes raises the alerts in their order, and resolves them", () => {
    const [, down = expect.unreachable("no validator")] = sampleValidators(2, 2, NOVEMBER);
    const alerts = backtest(down, "2026-10", OPTIONS);
    const first = alerts[0] ?? expect.unreachable("no alert");
    expect(first.firedAtMs).toBeGreaterThan(Date.UTC(2026, 9, 12, 3));
    expect(first.firedAtMs).toBeLessThanOrEqual(Date.UTC(2026, 9, 12, 4));
    const burns = alerts.filter(({ alert }) => alert === "full-reward-fast-burn");
    expect(burns).toHaveLength(1);
    // Its boundary is lost then: nobody can save it any more.
    expect(burns[0]?.resolvedAtMs).toBe(Date.UTC(2026, 9, 12, 18));
    const any = alerts.find(({ alert }) => alert === "any-reward-fast-burn");
    expect(any?.resolvedAtMs).toBeGreaterThan(Date.UTC(2026, 9, 12, 23));
    const lost = alerts.find(({ alert }) => alert === "full-reward-lost");
    // 98 % of the month allow 53,568 misses, and the expected number of blocks can be wrong by 330: 15.0 h.
    expect(lost).toMatchObject({ resolvedAtMs: undefined, misses: 54_000n, mutedBy: undefined });
    expect(lost?.firedAtMs).toBe(Date.UTC(2026, 9, 12, 18, 11));
    expect(alerts.some(({ mutedBy }) => mutedBy !== undefined)).toBe(true);
    expect(backtest(down, "2026-09", OPTIONS)).toEqual([]);
  });

  it("follows the configured rules", () => {
    const [, down = expect.unreachable("no validator")] = sampleValidators(2, 2, NOVEMBER);
    const none = alertsSchema.parse({ full_reward_fast_burn: { enabled: false } });
    expect(
      backtest(down, "2026-10", { ...OPTIONS, rules: none.rules }).map(({ alert }) => alert),
    ).not.toContain("full-reward-fast-burn");
  });

  /** Alerts of a healthy validator with these events: name, first active, firing and end, in minutes after {@link NOON}. */
  function alertsOf(...events: readonly LedgerEvent[]): readonly unknown[] {
    const [healthy = expect.unreachable("no validator")] = sampleValidators(1, 2, NOVEMBER);
    const data = { ...healthy, ledger: { ...healthy.ledger, events: () => events } };
    const minutes = (ms = Number.NaN): number => (ms - NOON) / 60_000;
    return backtest(data, "2026-10", { ...OPTIONS, intervalMs: 60_000 }).map((alert) => [
      alert.alert,
      ...[alert.sinceMs, alert.firedAtMs, alert.resolvedAtMs].map(minutes),
    ]);
  }
  const event = (kind: LedgerEvent["kind"], from: number, to: number): LedgerEvent => {
    return { kind, fromMs: NOON + from * 60_000, toMs: NOON + to * 60_000, text: "" };
  };

  it("evaluates a halt at the polls that found it", () => {
    // The last block came at 0; `halt_after` is over 60 s, `for` is over one more minute.
    expect(alertsOf(event("halt", 0, 10))).toEqual([["chain-halted", 2, 4, 12]]);
    expect(alertsOf(event("halt", 0, 2))).toEqual([]);
  });

  it("has what fires within the month", () => {
    // The month begins at -29,520.
    expect(alertsOf(event("halt", -29_550, -29_490))).toEqual([]);
    expect(alertsOf(event("halt", -29_523, -29_490))).toEqual([["chain-halted", -29_521, -29_519, -29_488]]);
    // It ends at 15,120.
    expect(alertsOf(event("halt", 15_117, 15_140))).toEqual([]);
  });

  it("mutes what fires while its cause does, and nothing before or after", () => {
    const inhibits = new Map(OPTIONS.rules.map(({ condition }) => [condition.name, condition.inhibits]));
    let [muted, outside] = [0, 0];
    for (const data of sampleValidators(8, 2, NOVEMBER)) {
      const alerts = backtest(data, "2026-10", OPTIONS);
      for (const { alert, firedAtMs, mutedBy } of alerts) {
        const causes = alerts.filter((one) => inhibits.get(one.alert)?.includes(alert) === true);
        const present = causes.filter(
          (one) => one.firedAtMs <= firedAtMs && (one.resolvedAtMs ?? Infinity) > firedAtMs,
        );
        expect([alert, mutedBy !== undefined]).toEqual([alert, present.length > 0]);
        if (present.length > 0) muted += 1;
        else outside += causes.length;
      }
    }
    expect([muted > 0, outside > 0]).toEqual([true, true]);
  });

  it("lets no echo begin within five minutes after its cause", () => {
    const [healthy = expect.unreachable("no validator")] = sampleValidators(1, 2, NOVEMBER);
    const rules = OPTIONS.rules.map((rule) =>
      rule.condition.name === "chain-halted"
        ? { ...rule, condition: { ...rule.condition, inhibits: ["cannot-see-node"] } }
        : { ...rule, condition: { ...rule.condition, echo: "minutes" as const } },
    );
    const mutedBy = (gapFrom: number, gapTo: number) => {
      const events = () => [event("halt", 0, 10), event("gap", gapFrom, gapTo)];
      const data = { ...healthy, ledger: { ...healthy.ledger, events } };
      return backtest(data, "2026-10", { ...OPTIONS, rules, intervalMs: 60_000 }).map((one) => [
        one.alert,
        one.mutedBy,
      ]);
    };
    // The halt fires from 4 on and is clear from 11 on; the gap fires in its seventh minute.
    expect(mutedBy(3, 13)).toEqual([
      ["chain-halted", undefined],
      ["cannot-see-node", "chain-halted"],
    ]);
    expect(mutedBy(4, 14)).toEqual([["chain-halted", undefined]]);
    // A longer one begins again five minutes after the end of the halt, and fires after its own time.
    expect(mutedBy(4, 40)).toEqual([
      ["chain-halted", undefined],
      ["cannot-see-node", undefined],
    ]);
  });

  it("evaluates the last hour in its own month", () => {
    const [, down = expect.unreachable("no validator")] = sampleValidators(2, 2, NOVEMBER);
    const range = { fromMs: Date.UTC(2026, 9, 1), toMs: NOVEMBER };
    const last = evaluateCounts(down, range, OPTIONS.rules).at(-1);
    expect(last).toMatchObject({ atMs: NOVEMBER, misses: 72_000n });
  });

  it("evaluates a gap at the polls that read no node, and not while the watchdog was stopped", () => {
    expect(alertsOf(event("gap", 0, 10))).toEqual([["cannot-see-node", 1, 7, 11]]);
    expect(alertsOf(event("gap", 0, 10), event("watchdog-start", 10, 10))).toEqual([]);
    expect(alertsOf(event("gap", 0, 10), event("watchdog-start", 3, 3))).toEqual([
      ["cannot-see-node", 3, 9, 11],
    ]);
    expect(alertsOf(event("gap", 0, 10), event("watchdog-start", 8, 8))).toEqual([]);
  });

  it("names the rules that the store has no input of", () => {
    const left = notEvaluated(OPTIONS.rules);
    expect(left.get("prices")).toContain("all-prices-missing");
    expect([...left.values()].flat()).not.toContain("chain-halted");
    const evaluated = OPTIONS.rules.filter(({ condition }) => typeof condition.past === "string");
    expect([...left.values()].flat()).toHaveLength(OPTIONS.rules.length - evaluated.length);
  });
});
