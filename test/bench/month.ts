import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../src/ops/config-fields.ts";
import { expectedMonth } from "../support/watchdog/month/expected.ts";
import { GOLDEN_FILE, GOLDEN_INTERVAL_MS, goldenSections } from "../support/watchdog/month/golden.ts";
import { planMonth } from "../support/watchdog/month/plan.ts";
import { playMonth, type ReplayOptions, resumeMs } from "../support/watchdog/month/replay.ts";
import { goldenText, readResult, resultText } from "../support/watchdog/month/result.ts";

const USAGE =
  "usage: npm run replay:month -- [--kills 1000] [--interval 10m] [--validators 20] [--in FOLDER] [--for 45m] [--update]";

/**
 * `npm run replay:month`: plays the generated month to a watchdog in a process of its own, compares its counts with the blocks
 * and its alerts with the golden file (`--update` writes it), then plays the month again and kills the process with SIGKILL
 * again and again. Exit code 0 when both left the same; 1 when not; 2 for a wrong command line. `--in` names the folder of
 * the state files: in a RAM disk no poll waits for the disk. After `--for` nothing is killed any more.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "1000" },
      interval: { type: "string", default: `${GOLDEN_INTERVAL_MS}ms` },
      validators: { type: "string", default: "20" },
      in: { type: "string", default: tmpdir() },
      for: { type: "string", default: "24h" },
      update: { type: "boolean", default: false },
      child: { type: "string" },
    },
  });
  const intervalMs = parseDurationMs(values.interval);
  const limitMs = parseDurationMs(values.for);
  const [kills, validators] = [Number(values.kills), Number(values.validators)];
  if (intervalMs === undefined || limitMs === undefined || !(kills >= 0) || !(validators >= 1)) {
    console.error(USAGE);
    return 2;
  }
  const options = { plan: planMonth(validators), intervalMs };
  if (values.child !== undefined) {
    const own = { ...options, folder: values.child };
    process.stdout.write("started\n");
    await playMonth(own, resumeMs(own));
    return 0;
  }
  return compare(options, { kills, parent: values.in, limitMs, isUpdate: values.update });
}

type Play = Omit<ReplayOptions, "folder">;

interface Comparison {
  readonly kills: number;
  readonly parent: string;
  readonly limitMs: number;
  readonly isUpdate: boolean;
}

async function compare(options: Play, { kills, parent, limitMs, isUpdate }: Comparison): Promise<number> {
  const [plain, killed] = [newFolder(parent), newFolder(parent)];
  try {
    const startMs = performance.now();
    await end(startChild(options, plain));
    const playMs = performance.now() - startMs;
    const wrong = [...wrongCounts(options, plain), ...wrongAlerts(options, plain, isUpdate)];
    console.log(`without a kill: ${options.plan.validators.length} validators, ${seconds(playMs)}`);
    for (const text of wrong) console.log(text);
    const done = kills === 0 ? [] : await playWithKills(options, { folder: killed, kills, playMs, limitMs });
    const isSame = kills === 0 || resultText(plain) === resultText(killed);
    console.log(
      `with ${done.length} kills: ${isSame ? "the same" : "different"} counts, seals, events, alerts and notifications; ${seconds(performance.now() - startMs)}`,
    );
    console.log(`kills by tenth of the month: ${tenths(done).join(" ")}`);
    return wrong.length === 0 && isSame && done.length === kills ? 0 : 1;
  } finally {
    for (const folder of [plain, killed]) rmSync(folder, { recursive: true });
  }
}

interface Kills {
  readonly folder: string;
  readonly kills: number;
  /** Duration of the month without a kill. */
  readonly playMs: number;
  /** Time for the kills. */
  readonly limitMs: number;
}

/** Lives whose speed decides how long the next ones last: the machine may become slower or faster. */
const SPEED_LIVES = 20;

/**
 * Plays the month in processes that are killed at random instants of their work: the times between kills are exponential, with
 * a mean that spreads the kills evenly over the month. Returns the part of the month that was played at each.
 */
async function playWithKills(
  options: Play,
  { folder, kills, playMs, limitMs }: Kills,
): Promise<readonly number[]> {
  const { startMs, endMs } = options.plan;
  const played = (): number => (resumeMs({ ...options, folder }) - startMs) / (endMs - startMs);
  const done: number[] = [];
  const lives: Life[] = [{ ms: playMs / kills, part: 1 / kills }];
  const untilMs = performance.now() + limitMs;
  while (done.length < kills && performance.now() < untilMs) {
    const child = startChild(options, folder);
    const ended = end(child);
    await started(child);
    const before = played();
    const restMs = (1 - before) * monthMs(lives);
    // At most half of the rest, so that the month does not end before the last kill.
    const delayMs = Math.min((-Math.log(1 - Math.random()) * restMs) / (kills - done.length), restMs / 2);
    await sleep(delayMs);
    // A process that played the month to its end cannot be killed any more.
    if (child.exitCode !== null) break;
    child.kill("SIGKILL");
    await ended.catch(() => {});
    const after = played();
    done.push(after);
    lives.push({ ms: delayMs, part: after - before });
    if (done.length % 100 === 0) console.log(`${done.length} kills, ${Math.round(after * 100)} % played`);
  }
  await end(startChild(options, folder));
  return done;
}

/** A process between its start and its kill. */
interface Life {
  readonly ms: number;
  /** Part of the month that it played. */
  readonly part: number;
}

/** Returns the time that the whole month would take at the speed of the last lives. */
function monthMs(lives: readonly Life[]): number {
  const last = lives.slice(-SPEED_LIVES);
  const part = last.reduce((sum, life) => sum + life.part, 0);
  // Lives that were too short to play anything count as one poll of a month.
  return last.reduce((sum, life) => sum + life.ms, 0) / Math.max(part, 1e-4);
}

/** Number of kills in each tenth of the month. */
function tenths(parts: readonly number[]): readonly number[] {
  return Array.from(
    { length: 10 },
    (_, tenth) => parts.filter((part) => Math.min(9, Math.floor(part * 10)) === tenth).length,
  );
}

function startChild({ intervalMs, plan }: Play, folder: string): ChildProcess {
  const file = fileURLToPath(import.meta.url);
  const args = [
    "--child",
    folder,
    "--interval",
    `${intervalMs}ms`,
    "--validators",
    String(plan.validators.length),
  ];
  return spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the process ended before it started to work")));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`the process ended with ${code ?? signal}`)),
    );
  });
}

function wrongCounts(options: Play, folder: string): readonly string[] {
  return readResult(folder).flatMap(({ name, months }, index) => {
    const { counts } = months.find(({ month }) => month === "2026-10") ?? {};
    const wanted = expectedMonth(options, index).counts;
    const isRight =
      counts?.good === wanted.good && counts.bad === wanted.bad && counts.unknown === wanted.unknown;
    return isRight ? [] : [`${name}: ${textOf(counts)}, expected ${textOf(wanted)}`];
  });
}

/** Compares the alerts with the golden file, which is of one interval. */
function wrongAlerts({ intervalMs }: Play, folder: string, isUpdate: boolean): readonly string[] {
  if (intervalMs !== GOLDEN_INTERVAL_MS) return [];
  const texts = readResult(folder).map(goldenText);
  if (isUpdate) writeFileSync(GOLDEN_FILE, texts.join("\n"));
  const golden = goldenSections(readFileSync(GOLDEN_FILE, "utf8"));
  return texts.flatMap((text, index) =>
    golden[index] === text ? [] : [`other alerts than in ${GOLDEN_FILE}:`, text],
  );
}

function textOf(counts: { good: bigint; bad: bigint; unknown: bigint } | undefined): string {
  return counts === undefined
    ? "nothing"
    : `${counts.good} good, ${counts.bad} bad, ${counts.unknown} unknown`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

function newFolder(parent: string): string {
  return mkdtempSync(join(parent, "relaywatch-month-"));
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}

process.exitCode = await main();
