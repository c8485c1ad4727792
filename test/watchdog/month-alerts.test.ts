import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { backtestReplay, pastInput, type TimedAlert } from "../support/watchdog/month/backtested.ts";
import { GOLDEN_FILE, GOLDEN_INTERVAL_MS, goldenSections } from "../support/watchdog/month/golden.ts";
import { planMonth } from "../support/watchdog/month/plan.ts";
import { playMonth } from "../support/watchdog/month/replay.ts";
import { goldenText, readResult } from "../support/watchdog/month/result.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-month-"));
afterAll(() => rmSync(folder, { recursive: true }));

const golden = goldenSections(readFileSync(GOLDEN_FILE, "utf8"));

/** One that ends exactly at a boundary, one with a gap and a restart in it. All 20: `npm run replay:month`. */
const PLAYED = [3, 8];

it("the golden file has every validator", () => {
  expect(golden.map((section) => section.slice(0, 15))).toEqual(
    planMonth(20).validators.map(({ name }) => `## ${name}`),
  );
});

describe("the generated month", () => {
  it("gives exactly the golden alerts and notifications", async () => {
    const plan = planMonth(Math.max(...PLAYED) + 1);
    const validators = plan.validators.filter((_, index) => PLAYED.includes(index));
    await playMonth({ plan: { ...plan, validators }, folder, intervalMs: GOLDEN_INTERVAL_MS }, plan.startMs);
    const played = readResult(folder).map(goldenText);
    expect(played).toEqual(PLAYED.map((index) => golden[index]));
  }, 600_000);

  it("gives the same alerts in a backtest: of halts at the same polls, of gaps within one, of counts within the hour", () => {
    const found = backtestReplay(folder, GOLDEN_INTERVAL_MS);
    expect(found.map(({ name }) => name)).toHaveLength(PLAYED.length);
    for (const { name, ...both } of found) {
      const live = withoutGaps(both.live.filter((one) => isClear(name, one)));
      const tested = withoutGaps(both.tested.filter((one) => isClear(name, one)));
      expect([name, tested.map(({ alert }) => alert)]).toEqual([name, live.map(({ alert }) => alert)]);
      for (const [index, alert] of live.entries())
        expect([name, alert.alert, differences(alert, tested[index])]).toEqual([
          name,
          alert.alert,
          expect.toSatisfy((times: readonly number[]) =>
            times.every((ms) => Math.abs(ms) <= toleranceMs(alert.alert)),
          ),
        ]);
    }
  });
});

/** The rate of one validator is the allowed one all month: single blocks begin and end its alerts of rate and burn. */
function isClear(validator: string, { alert }: TimedAlert): boolean {
  return validator !== "validator-08" || pastInput(alert) !== "counts";
}

/**
 * Joins an alert of counts with the next one of its name when the end of the one and the begin of the other are as near as their tolerances
 * explain: counts of hours may end an alert that the counts of minutes do not.
 */
function withoutGaps(alerts: readonly TimedAlert[]): readonly TimedAlert[] {
  const joined: TimedAlert[] = [];
  for (const next of alerts) {
    const last = joined.at(-1);
    const gapMs = next.times[0] - (last?.times[2] ?? Number.NaN);
    const isGap = last?.alert === next.alert && pastInput(next.alert) === "counts";
    if (last === undefined || !isGap || !(gapMs <= 2 * toleranceMs(next.alert))) joined.push(next);
    else joined[joined.length - 1] = { ...last, times: [last.times[0], last.times[1], next.times[2]] };
  }
  return joined;
}

function differences({ times }: TimedAlert, other: TimedAlert | undefined): readonly number[] {
  return times.map((ms, index) => (other?.times[index] ?? Number.NaN) - ms);
}

/**
 * The store has the blocks of each hour; a running watchdog polls within its interval. It also knows that no source of votes can be read,
 * which the store does not have: with that, a gap's alert ends as soon as it is clear.
 */
function toleranceMs(alert: string): number {
  const input = pastInput(alert);
  if (input === "halts") return 0;
  // It asks for the loss of the last hour, whose begin and end are known to an hour.
  if (alert.endsWith("-at-risk")) return 2 * 3_600_000 + GOLDEN_INTERVAL_MS;
  return input === "gaps" ? GOLDEN_INTERVAL_MS : 3_600_000 + GOLDEN_INTERVAL_MS;
}
