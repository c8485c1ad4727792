import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { median } from "./measure.ts";
import { leasePorts } from "../support/port-lease.ts";
import { startRelaywatch } from "./system/watched-process.ts";

interface Start {
  readonly ms: number;
  readonly peakMb: number;
}

/** `relaywatch up --until-first-result` as a whole process: how long from its start to its end, and its peak memory. */
export async function benchStartUp({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const starts: Start[] = [];
  for (let run = 0; run < (quick ? 1 : 3); run++) starts.push(await startOnce(signal));
  const note = `up --until-first-result, whole process: two chains, sidecar, relayer, watchdog; median of ${starts.length}`;
  return [
    {
      name: "start to first proven result and success rate",
      value: median(starts.map(({ ms }) => ms)) / 1_000,
      unit: "s",
      note: `${note}; from start to exit`,
      beside: "at most 5 wanted",
    },
    {
      name: "peak memory of that process",
      value: median(starts.map(({ peakMb }) => peakMb)),
      unit: "MB",
      note,
    },
  ];
}

async function startOnce(signal: AbortSignal): Promise<Start> {
  const home = mkdtempSync(join(tmpdir(), "relaywatch-bench-"));
  const { offset, release } = await leasePorts();
  try {
    const startedMs = performance.now();
    const running = startRelaywatch(["up", "--until-first-result", "--port-offset", String(offset)], {
      XDG_STATE_HOME: home,
    });
    const onAbort = (): void => void running.stop();
    signal.addEventListener("abort", onAbort, { once: true });
    const { code, peakMb, complaints } = await running.ended;
    const ms = performance.now() - startedMs;
    signal.removeEventListener("abort", onAbort);
    if (code !== 0 || peakMb === undefined) throw new Error(`up ended with ${code}: ${complaints.trim()}`);
    return { ms, peakMb };
  } finally {
    release();
    rmSync(home, { recursive: true, force: true });
  }
}
