import { withDeadline } from "../../../src/platform/base/abort.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

/** How a program ended. */
export interface Ended {
  /** Exit code, or the name of the signal that killed it. */
  readonly code: number | string;
  /** Peak resident memory, MB (10^6 bytes); undefined when it was killed. */
  readonly peakMb: number | undefined;
  /** The end of what it wrote to stderr. */
  readonly complaints: string;
}

/** A `relaywatch` command that runs in a process of its own. */
export interface WatchedProcess {
  readonly pid: number;
  /** Resolves with the rest of the first line of stdout that begins with `start`; rejects when it ends before. */
  readonly untilLine: (start: string, signal: AbortSignal) => Promise<string>;
  /** Asks it to stop; kills it when it does not. */
  readonly stop: () => Promise<Ended>;
  readonly ended: Promise<Ended>;
}

const LINE_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const KEPT_COMPLAINTS = 4_000;

/** Starts `relaywatch` with these arguments and additional environment. */
export function startRelaywatch(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): WatchedProcess {
  const preload = new URL("./peak-memory.js", import.meta.url).href;
  const program = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
  const child = spawn(process.execPath, ["--import", preload, program, ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const lines = watchLines(child);
  const ended = watchEnd(child);
  return {
    pid: child.pid ?? 0,
    untilLine: (start, signal) =>
      withDeadline(`"${start}" of ${args.join(" ")}`, LINE_DEADLINE_MS, signal, () =>
        Promise.race([lines.until(start), ended.then((end) => Promise.reject(endedEarly(args, end)))]),
      ),
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
      const end = await ended;
      clearTimeout(timer);
      return end;
    },
  };
}

function endedEarly(args: readonly string[], { code, complaints }: Ended): Error {
  return new Error(`relaywatch ${args.join(" ")} ended with ${code}: ${complaints.trim()}`);
}

interface Lines {
  readonly until: (start: string) => Promise<string>;
}

/** Collects the lines of stdout. They are few. */
function watchLines(child: ChildProcess): Lines {
  const seen: string[] = [];
  const waiting = new Set<(line: string) => void>();
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on("line", (line) => {
      seen.push(line);
      for (const tell of waiting) tell(line);
    });
  const until = (start: string): Promise<string> =>
    new Promise((resolve) => {
      const tell = (line: string): void => {
        if (!line.startsWith(start)) return;
        waiting.delete(tell);
        resolve(line.slice(start.length).trim());
      };
      waiting.add(tell);
      for (const line of seen) tell(line);
    });
  return { until };
}

async function watchEnd(child: ChildProcess): Promise<Ended> {
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-KEPT_COMPLAINTS);
  });
  let peakKb = "";
  const memory = child.stdio[3];
  if (memory instanceof Readable)
    memory.setEncoding("utf8").on("data", (text: string) => {
      peakKb += text;
    });
  const [code, signal]: readonly unknown[] = await once(child, "close");
  return {
    code: typeof code === "number" ? code : String(signal),
    peakMb: peakKb === "" ? undefined : (Number(peakKb) * 1_024) / 1_000_000,
    complaints,
  };
}
