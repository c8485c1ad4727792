import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../src/ops/config-fields.ts";
import { expectedMonth } from "../support/watchdog/month/expected.ts";
import { planMonth } from "../support/watchdog/month/plan.ts";
import {
  playMonth,
  readResult,
  type ReplayOptions,
  resultText,
  resumeMs,
} from "../support/watchdog/month/replay.ts";

const USAGE = "usage: npm run replay:month -- [--kills 1000] [--interval 20m] [--validators 20]";

/**
 * `npm run replay:month`: plays the generated month to a watchdog in a process of its own, checks its counts, then plays it
 * again and kills the process with SIGKILL again and again. Exit code 0 when both left the same; 1 when not; 2 for a wrong
 * command line.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "1000" },
      interval: { type: "string", default: "20m" },
      validators: { type: "string", default: "20" },
      child: { type: "string" },
    },
  });
  const intervalMs = parseDurationMs(values.interval);
  const [kills, validators] = [Number(values.kills), Number(values.validators)];
  if (intervalMs === undefined || !(kills >= 0) || !(validators >= 1)) throw new Error(USAGE);
  const options = { plan: planMonth(validators), intervalMs };
  if (values.child !== undefined) {
    const own = { ...options, folder: values.child };
    process.stdout.write("started\n");
    await playMonth(own, resumeMs(own));
    return 0;
  }
  return compare(options, kills);
}

type Play = Omit<ReplayOptions, "folder">;

async function compare(options: Play, kills: number): Promise<number> {
  const [plain, killed] = [newFolder(), newFolder()];
  try {
    await end(startChild(options, plain));
    const wrong = wrongCounts(options, plain);
    console.log(
      `without a kill: ${options.plan.validators.length} validators, ${wrong.length} with unexpected counts`,
    );
    for (const text of wrong) console.log(text);
    const done = await playWithKills(options, killed, kills);
    const isSame = resultText(plain) === resultText(killed);
    console.log(`with ${done} kills: ${isSame ? "the same counts, seals and events" : "a different result"}`);
    return wrong.length === 0 && isSame && done === kills ? 0 : 1;
  } finally {
    for (const folder of [plain, killed]) rmSync(folder, { recursive: true });
  }
}

/** Plays the month in processes that are killed at random instants of their work. Returns the number of kills. */
async function playWithKills(options: Play, folder: string, kills: number): Promise<number> {
  // The month is played through once in all; the time to the next kill is a share of what is left of it.
  const { plan } = options;
  let done = 0;
  while (done < kills) {
    const child = startChild(options, folder);
    const ended = end(child);
    await started(child);
    const left = (plan.endMs - resumeMs({ ...options, folder })) / (plan.endMs - plan.startMs);
    await sleep(Math.random() * KILL_MS * Math.max(left, 0.02));
    // A process that played the month to its end cannot be killed any more.
    if (child.exitCode !== null) break;
    child.kill("SIGKILL");
    await ended.catch(() => {});
    done += 1;
    if (done % 100 === 0) console.log(`${done} kills`);
  }
  await end(startChild(options, folder));
  return done;
}

/** Greatest time between the start of the work and the kill. */
const KILL_MS = 120;

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
  return [...readResult(folder)].flatMap(([name, { months }], index) => {
    const { counts } = months.find(({ month }) => month === "2026-10") ?? {};
    const wanted = expectedMonth(options, index).counts;
    const isRight =
      counts?.good === wanted.good && counts.bad === wanted.bad && counts.unknown === wanted.unknown;
    return isRight ? [] : [`${name}: ${textOf(counts)}, expected ${textOf(wanted)}`];
  });
}

function textOf(counts: { good: bigint; bad: bigint; unknown: bigint } | undefined): string {
  return counts === undefined
    ? "nothing"
    : `${counts.good} good, ${counts.bad} bad, ${counts.unknown} unknown`;
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "relaywatch-month-"));
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}

process.exitCode = await main();
