import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rewardCents, SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import { formatPercent, successRate, tierOf } from "../../src/watchdog/policy/reward-tier.ts";
import { expectedMonth } from "../support/watchdog/month/expected.ts";
import { planMonth } from "../support/watchdog/month/plan.ts";
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

/** The first eleven validators have everything that the plan has; the others only miss blocks at random. */
const OPTIONS = { plan: planMonth(11), intervalMs: 6 * HOUR };

describe("a month of 20 validators, block by block, through the daemon's code", () => {
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
    let folder = newFolder();
    const random = createRandom();
    for (let kill = 0; kill < 4; kill++) {
      const fromMs = resumeMs({ ...OPTIONS, folder });
      const session = await playUntil(
        { ...OPTIONS, folder },
        fromMs,
        fromMs + Math.floor(random() * 6 * 24 * HOUR),
      );
      // What a killed process leaves: the files of this instant. The session is stopped only after they were copied.
      const left = newFolder();
      for (const file of readdirSync(folder).filter((name) => /(?:sqlite|sqlite-wal|jsonl)$/.test(name)))
        copyFileSync(join(folder, file), join(left, file));
      await session.stop();
      folder = left;
    }
    await playMonth({ ...OPTIONS, folder }, resumeMs({ ...OPTIONS, folder }));
    expect(resultText(folder)).toBe(resultText(plain));
  }, 300_000);
});

function createRandom(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
