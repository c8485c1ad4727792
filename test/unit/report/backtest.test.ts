import { describe, expect, it } from "vitest";
import { backtest } from "../../../src/report/oracle/backtest.ts";
import { pastView } from "../../../src/report/oracle/past-view.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const NOVEMBER = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;
const OPTIONS = { ...alertsSchema.parse({}), intervalMs: 5000 };

describe("the past view of a ledger", () => {
  it("has what was known at that hour, in all lists", () => {
    const [data = expect.unreachable("no validator")] = sampleValidators(2, 3, NOVEMBER).slice(1);
    const nowMs = Date.UTC(2026, 9, 12, 13);
    const [past, then = expect.unreachable("no validator")] = [
      pastView(data.ledger, data.ledger.hours(Date.UTC(2026, 8, 28), NOVEMBER), nowMs),
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
    expect(burns[0]?.resolvedAtMs).toBeGreaterThan(Date.UTC(2026, 9, 12, 23));
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
});
