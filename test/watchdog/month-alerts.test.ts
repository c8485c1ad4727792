import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { backtestReplay, pastInput, type TimedAlert } from "../support/watchdog/month/backtested.ts";
import { GOLDEN_FILE, GOLDEN_INTERVAL_MS, goldenSections } from "../support/watchdog/month/golden.ts";
import { type MonthPlan, planMonth } from "../support/watchdog/month/plan.ts";
import { playMonth, playUntil, type ReplayOptions } from "../support/watchdog/month/replay.ts";
import { goldenText, readResult } from "../support/watchdog/month/result.ts";

const golden = goldenSections(readFileSync(GOLDEN_FILE, "utf8"));

/** One that ends exactly at a boundary, one with a gap and a restart in it. All 20: `npm run replay:month`. */
const [BOUNDARY, GAP] = [3, 8];
const played = [BOUNDARY, GAP].map((number) => ({
  number,
  plan: planOf(number),
  folder: mkdtempSync(join(tmpdir(), "relaywatch-month-")),
  intervalMs: GOLDEN_INTERVAL_MS,
}));
afterAll(() => {
  for (const { folder } of played) rmSync(folder, { recursive: true });
});

function planOf(number: number): MonthPlan {
  const plan = planMonth(number + 1);
  return { ...plan, validators: plan.validators.slice(number) };
}

/**
 * Time in which no alert of the first one begins or ends, so that its polls are further apart. There is a poll at both ends, and so no
 * gap.
 */
const REST = { fromMs: Date.UTC(2026, 9, 15, 8), toMs: Date.UTC(2026, 9, 31, 14), intervalMs: 6 * 3_600_000 };

async function playWithRest(options: ReplayOptions): Promise<void> {
  const { startMs, watchdogDown } = options.plan;
  await (await playUntil(options, startMs, watchdogDown.fromMs)).stop();
  await (await playUntil(options, watchdogDown.toMs, REST.fromMs)).stop();
  const { fromMs, toMs, intervalMs } = REST;
  await (await playUntil({ ...options, intervalMs }, fromMs, toMs)).stop();
  await playMonth(options, toMs);
}

it("the golden file has every validator", () => {
  expect(golden.map((section) => section.slice(0, 15))).toEqual(
    planMonth(20).validators.map(({ name }) => `## ${name}`),
  );
});

describe("the generated month", () => {
  it("gives exactly the golden alerts and notifications", async () => {
    for (const { number, ...options } of played) {
      await (number === BOUNDARY ? playWithRest(options) : playMonth(options, options.plan.startMs));
      expect(readResult(options.folder).map(goldenText)).toEqual([golden[number]]);
    }
  }, 600_000);

  it("gives the same alerts in a backtest: of halts at the same polls, of gaps within one, of counts within the hour", () => {
    const found = played.flatMap(({ folder }) => backtestReplay(folder, GOLDEN_INTERVAL_MS));
    expect(found).toHaveLength(played.length);
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
