import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { GOLDEN_FILE, GOLDEN_INTERVAL_MS, goldenSections } from "../../support/watchdog/month/golden.ts";
import { planMonth } from "../../support/watchdog/month/plan.ts";
import { playMonth } from "../../support/watchdog/month/replay.ts";
import { goldenText, readResult } from "../../support/watchdog/month/result.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-month-"));
afterEach(() => rmSync(folder, { recursive: true }));

const golden = goldenSections(readFileSync(GOLDEN_FILE, "utf8"));

/** One that loses its pay, one whose node restarts twice, one with a gap and a restart in it. All 20: `npm run replay:month`. */
const PLAYED = [4, 6, 8];

it("the golden file has every validator", () => {
  expect(golden.map((section) => section.slice(0, 15))).toEqual(
    planMonth(20).validators.map(({ name }) => `## ${name}`),
  );
});

it("the generated month gives exactly the golden alerts and notifications", async () => {
  const plan = planMonth(Math.max(...PLAYED) + 1);
  const validators = plan.validators.filter((_, index) => PLAYED.includes(index));
  await playMonth({ plan: { ...plan, validators }, folder, intervalMs: GOLDEN_INTERVAL_MS }, plan.startMs);
  const played = readResult(folder).map(goldenText);
  expect(played).toEqual(PLAYED.map((index) => golden[index]));
}, 300_000);
