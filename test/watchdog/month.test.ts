import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rewardCents, SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import { formatPercent, successRate, tierOf } from "../../src/watchdog/policy/reward-tier.ts";
import { expectedMonth } from "../support/watchdog/month/expected.ts";
import { type MonthPlan, planMonth } from "../support/watchdog/month/plan.ts";
import { playMonth, playUntil, resumeMs } from "../support/watchdog/month/replay.ts";
import { readResult, resultText } from "../support/watchdog/month/result.ts";

const HOUR = 3_600_000;
const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-month-"));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Exactly at the boundaries and a block below, a node that restarts twice, a gap, a gap with a restart in it, and two nodes. */
const PLAYED = [1, 2, 3, 4, 6, 7, 8, 9];
const KILLED = [3, 6, 8, 9];
const OPTIONS = { plan: planOf(PLAYED), intervalMs: 6 * HOUR };

describe("a month of several validators, block by block, through the daemon's code", () => {
  const plain = newFolder();
  beforeAll(() => playMonth({ ...OPTIONS, folder: plain }, OPTIONS.plan.startMs), 300_000);

  it("has exactly the expected counts and payouts", () => {
    const rows = readResult(plain).map(({ name, months }) => {
      const record = months.find(({ month }) => month === "2026-10");
      const rate = record && successRate(record.counts);
      if (record === undefined || rate === undefined) return { name };
      return {
        name,
        counts: record.counts,
        estimated: record.estimated,
        isSealed: record.finalized !== undefined,
        percent: formatPercent(rate),
        tier: tierOf(rate),
        linear: rewardCents(SPECIFIED_POLICY, rate),
        quadratic: rewardCents({ ...SPECIFIED_POLICY, curve: "revenue-quadratic" }, rate),
      };
    });
    expect(rows).toHaveLength(OPTIONS.plan.validators.length);
    for (const [index, row] of rows.entries()) expect(row).toEqual(expectedMonth(OPTIONS, index));
  });

  it("has the same counts, seals, events, alerts and notifications after kills at random instants", async () => {
    const own = { ...OPTIONS, plan: planOf(KILLED) };
    let folder = newFolder();
    const random = createRandom();
    for (let kill = 0; kill < 4; kill++) {
      const fromMs = resumeMs({ ...own, folder });
      const toMs = fromMs + Math.floor(random() * 6 * 24 * HOUR);
      const session = await playUntil({ ...own, folder }, fromMs, toMs);
      // What a killed process leaves: the files of this instant. The session is stopped only after they were copied.
      const left = newFolder();
      for (const file of readdirSync(folder).filter((name) => /(?:sqlite|sqlite-wal|jsonl)$/.test(name)))
        copyFileSync(join(folder, file), join(left, file));
      await session.stop();
      folder = left;
    }
    await playMonth({ ...own, folder }, resumeMs({ ...own, folder }));
    expect(resultText(folder)).toBe(resultText(plain, new Set(own.plan.validators.map(({ name }) => name))));
  }, 300_000);
});

/** The generated month of the validators with these numbers. */
function planOf(numbers: readonly number[]): MonthPlan {
  const plan = planMonth(Math.max(...numbers) + 1);
  return { ...plan, validators: plan.validators.filter((_, index) => numbers.includes(index)) };
}

function createRandom(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
