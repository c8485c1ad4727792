import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leasePorts } from "../port-lease.ts";
import { PROCESS_FLAGS } from "../v8-flags.ts";

/** A running `relaywatch`. */
export interface CliProcess {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when stdout and stderr together match; rejects when the process ends before. */
  readonly printed: (pattern: RegExp) => Promise<void>;
}

/** How a `relaywatch` ended. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command line in an empty home directory of its own, on ports of its own. */
export interface CliHome {
  /** Empty at first; gone after {@link CliHome.close}. */
  readonly directory: string;
  readonly portOffset: number;
  readonly start: (...args: readonly string[]) => CliProcess;
  readonly run: (...args: readonly string[]) => Promise<CliResult>;
  /** Kills what still runs. */
  readonly close: () => Promise<void>;
}

const MAIN = "dist/program/relaywatch.js";

/**
 * Opens a home with leased ports. In the arguments of a command, `$PORTS` becomes `--port-offset N`.
 */
export async function openCliHome(): Promise<CliHome> {
  const { offset: portOffset, release } = await leasePorts();
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-e2e-"));
  const running = new Set<CliProcess>();
  const start = (...args: readonly string[]): CliProcess => {
    const filled = args.flatMap((arg) => (arg === "$PORTS" ? ["--port-offset", String(portOffset)] : [arg]));
    const child = spawn(process.execPath, [...PROCESS_FLAGS, MAIN, ...filled], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: directory, XDG_STATE_HOME: join(directory, "state") },
    });
    const cli = watch(child);
    running.add(cli);
    void cli.exited.then(() => running.delete(cli));
    return cli;
  };
  return {
    directory,
    portOffset,
    start,
    run: async (...args) => {
      const cli = start(...args);
      const code = await cli.exited;
      return { code, stdout: cli.stdout(), stderr: cli.stderr() };
    },
    close: async () => {
      const ending = [...running];
      for (const cli of ending) cli.kill("SIGKILL");
      await Promise.all(ending.map(({ exited }) => exited));
      release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function watch(child: ChildProcess): CliProcess {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let code: number | null | undefined;
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (ended) => {
      code = ended;
      resolve(ended);
    });
  });
  const all = (): string => `${stdout}${stderr}`;
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    kill: (signal) => void child.kill(signal),
    printed: async (pattern) => {
      await until(`${pattern} in the output`, () => {
        if (pattern.test(all())) return true;
        if (code !== undefined) throw new Error(`it ended with ${code} before ${pattern}:\n${all()}`);
        return undefined;
      });
    },
  };
}

const LONGEST_MS = 90_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Asks until there is an answer; a question that fails is asked again. Rejects after `longestMs` with what failed last. The pauses
 * grow with the wait: a question costs both processes time.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  longestMs = LONGEST_MS,
): Promise<T> {
  const startMs = performance.now();
  const waitedMs = (): number => performance.now() - startMs;
  let last: unknown;
  while (waitedMs() < longestMs) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("it ended with")) throw error;
      last = error;
    }
    await sleep(Math.min(Math.max(FIRST_PAUSE_MS, waitedMs() / 8), LONGEST_PAUSE_MS));
  }
  throw new Error(`waited ${longestMs} ms for ${what}`, { cause: last });
}

/** The JSON at a URL; rejects unless the answer is good. */
export async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
