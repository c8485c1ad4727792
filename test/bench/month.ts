import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../src/platform/config/setting-texts.ts";
import { expectedMonth } from "../support/watchdog/month/expected.ts";
import { GOLDEN_FILE, GOLDEN_INTERVAL_MS, goldenSections } from "../support/watchdog/month/golden.ts";
import { type Life, planLife, playLife } from "../support/watchdog/month/life.ts";
import { planMonth } from "../support/watchdog/month/plan.ts";
import { playMonth, type ReplayOptions, resumeMs } from "../support/watchdog/month/replay.ts";
import { goldenText, readResult, resultText } from "../support/watchdog/month/result.ts";

const USAGE =
  "usage: npm run replay:month -- [--kills 1000] [--interval 10m] [--validators 20] [--in FOLDER] [--for 45m] [--update]";

/**
 * `npm run replay:month`: plays the generated month to a watchdog in a process of its own, compares its counts with the blocks
 * and its alerts with the golden file (`--update` writes it), then plays the month again and kills the process with SIGKILL
 * again and again. Exit code 0 when both left the same; 1 when not; 2 for a wrong command line. `--in` names the folder of
 * the state files: in a RAM disk no poll waits for the disk. After `--for` nothing is killed any more; the month is then played
 * to its end and compared all the same.
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
      life: { type: "string" },
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
    const [markMs, untilMs] = (values.life ?? "").split(",").map(Number);
    if (markMs === undefined || untilMs === undefined) await playMonth(own, resumeMs(own));
    else await playLife(own, resumeMs(own), { markMs, untilMs }, () => process.stdout.write("reached\n"));
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
    const { plan, intervalMs } = options;
    const pollMs = playMs / ((plan.endMs - plan.startMs) / intervalMs);
    const wrong = [...wrongCounts(options, plain), ...wrongAlerts(options, plain, isUpdate)];
    console.log(`without a kill: ${options.plan.validators.length} validators, ${seconds(playMs)}`);
    for (const text of wrong) console.log(text);
    const done = kills === 0 ? [] : await playWithKills(options, { folder: killed, kills, pollMs, limitMs });
    const isSame = kills === 0 || resultText(plain) === resultText(killed);
    console.log(
      `with ${done.length} kills: ${isSame ? "the same" : "different"} counts, seals, events, alerts and notifications; ${seconds(performance.now() - startMs)}`,
    );
    console.log(`kills by tenth of the month: ${tenths(done).join(" ")}`);
    if (done.length < kills) console.log(`${kills - done.length} of ${kills} kills did not fit into --for`);
    return wrong.length === 0 && isSame ? 0 : 1;
  } finally {
    for (const folder of [plain, killed]) rmSync(folder, { recursive: true });
  }
}

interface Kills {
  readonly folder: string;
  readonly kills: number;
  /** Duration of one poll without a kill. */
  readonly pollMs: number;
  /** Time for the kills. */
  readonly limitMs: number;
}

/**
 * Plays the month in processes that are killed at random instants of their work, within two polls after the mark of each.
 * Returns the part of the month that was played at each kill.
 */
async function playWithKills(
  options: Play,
  { folder, kills, pollMs, limitMs }: Kills,
): Promise<readonly number[]> {
  const { intervalMs, plan } = options;
  const { startMs, endMs } = plan;
  const done: number[] = [];
  const untilMs = performance.now() + limitMs;
  while (done.length < kills && performance.now() < untilMs) {
    const fromMs = resumeMs({ ...options, folder });
    const life = planLife({ fromMs, endMs, intervalMs, kills: kills - done.length }, Math.random());
    const child = startChild(options, folder, life);
    // It waits to be killed, so it ends by itself only with an error.
    const killed = once(child, "exit");
    await reached(child);
    await sleep(2 * pollMs * Math.random());
    child.kill("SIGKILL");
    const [code] = await killed;
    if (code !== null) throw new Error(`the process ended with ${code} before it was killed`);
    done.push((resumeMs({ ...options, folder }) - startMs) / (endMs - startMs));
    if (done.length % 100 === 0)
      console.log(`${done.length} kills, ${Math.round((done.at(-1) ?? 0) * 100)} % played`);
  }
  await end(startChild(options, folder));
  return done;
}

/** Number of kills in each tenth of the month. */
function tenths(parts: readonly number[]): readonly number[] {
  return Array.from(
    { length: 10 },
    (_, tenth) => parts.filter((part) => Math.min(9, Math.floor(part * 10)) === tenth).length,
  );
}

function startChild({ intervalMs, plan }: Play, folder: string, life?: Life): ChildProcess {
  const file = fileURLToPath(import.meta.url);
  const args = [
    "--child",
    folder,
    "--interval",
    `${intervalMs}ms`,
    "--validators",
    String(plan.validators.length),
    ...(life === undefined ? [] : ["--life", `${life.markMs},${life.untilMs}`]),
  ];
  return spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Resolves when a process has come to its mark. */
function reached(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the process ended before it came to its mark")));
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
