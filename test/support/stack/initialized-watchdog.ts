import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import type { CliHome, CliProcess } from "../e2e/cli-process.ts";

/** A watchdog as `config init` writes it for a running localnet. */
export interface InitializedWatchdog {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly url: string;
  /** Starts it with these settings and the localnet's clock. */
  readonly start: (settings: object) => Promise<CliProcess>;
}

/** Runs `config init` against the localnet of this home. */
export async function initWatchdog(home: CliHome, ...more: readonly string[]): Promise<InitializedWatchdog> {
  const ports = portsAt(home.portOffset);
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const file = join(home.directory, "watchdog.yaml");
  const pages = ["--node", `${at(ports.localMetrics)}/metrics`, "--sidecar", `${at(ports.prices)}/`];
  const chain = ["--rpc", at(ports.localRpc), "--rest", at(ports.localRest)];
  const state = ["--state-dir", join(home.directory, "watchdog")];
  const words = ["config", "init", "watchdog", "--yes", "--output", file];
  const { code, stderr } = await home.run(...words, ...pages, ...chain, ...state, ...more);
  if (code !== 0) throw new Error(stderr);
  const settings = z.looseObject({ sources: z.looseObject({}) }).parse(parse(readFileSync(file, "utf8")));
  return {
    settings: {
      ...settings,
      // It looks for these pages, and listens, at the default ports.
      sources: {
        ...settings.sources,
        oracle_metrics: `${at(ports.oracleMetrics)}/metrics`,
        sidecar_metrics: `${at(ports.sidecarMetrics)}/metrics`,
      },
      http: { listen: new URL(at(ports.watchdog)).host },
    },
    url: at(ports.watchdog),
    start: async (all) => {
      // YAML contains JSON.
      writeFileSync(file, JSON.stringify(all));
      const watchdog = home.start("watchdog", "start", "--config", file, "--chain-clock", "$PORTS");
      await watchdog.printed(/oracle-watchdog +http/);
      return watchdog;
    },
  };
}

/** Thresholds for latencies and pauses of this machine, which pass `rate` times as fast for a watchdog on the localnet's clock. */
export function scaledAlerts(rate: number): Readonly<Record<string, object>> {
  return {
    sidecar_slow: { slow_after: `${rate * 500}ms` },
    clock_skew: { max_skew: `${rate * 2}s` },
    // The pause between two polls is one of them.
    watchdog_slow: { max_late: `${rate * 7}s` },
  };
}
