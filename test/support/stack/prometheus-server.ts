import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { programPath } from "./programs.ts";

/** A Prometheus of one test, in a directory of its own, on a free port of loopback. */
export interface PrometheusServer {
  readonly url: string;
  /** Scrapes the target of this job no longer; undefined: scrapes all targets. */
  readonly leaveOut: (job: string | undefined) => void;
  readonly close: () => Promise<void>;
}

/** What a Prometheus scrapes: "host:port" by job. */
export type ScrapeTargets = Readonly<Record<string, { readonly target: string; readonly labels: object }>>;

/** Rules of a Prometheus, and where it sends its alerts. */
export interface PrometheusRules {
  /** Content of each rule file by name. */
  readonly files: ReadonlyMap<string, string>;
  /** "host:port". */
  readonly alertmanager: string;
}

const START_MS = 30_000;

/** Starts Prometheus. It scrapes all targets once a second, with rules every two seconds. Their labels win over its own. */
export async function startPrometheus(
  targets: ScrapeTargets,
  rules?: PrometheusRules,
): Promise<PrometheusServer> {
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-prometheus-"));
  const config = join(directory, "prometheus.json");
  const port = await freePort();
  // A scrape that takes too long ends all alerts of its target, so a busy machine gets more time for rules.
  const every = rules === undefined ? "1s" : "2s";
  for (const [name, content] of rules?.files ?? []) writeFileSync(join(directory, name), content);
  const ruleSettings =
    rules === undefined
      ? {}
      : {
          rule_files: [...rules.files.keys()].map((name) => join(directory, name)),
          alerting: { alertmanagers: [{ static_configs: [{ targets: [rules.alertmanager] }] }] },
        };
  const configure = (leftOut?: string): void => {
    // It scrapes itself, so that rules about it have data.
    const all = { ...targets, prometheus: { target: `127.0.0.1:${port}`, labels: {} } };
    const global = { scrape_interval: every, scrape_timeout: every, evaluation_interval: "1s" };
    // YAML contains JSON.
    writeFileSync(config, JSON.stringify({ global, scrape_configs: jobsOf(all, leftOut), ...ruleSettings }));
  };
  configure();
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server = spawn(programPath("prometheus"), options, { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    const exited = once(server, "exit");
    if (server.exitCode === null && server.kill()) await exited;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await untilReady(url);
  } catch (error) {
    await close();
    throw error;
  }
  const leaveOut = (job: string | undefined): void => {
    configure(job);
    server.kill("SIGHUP");
  };
  return { url, leaveOut, close };
}

/** A job without its target stays: Prometheus ends the series of a target at once, and those of a job minutes later. */
function jobsOf(targets: ScrapeTargets, leftOut: string | undefined): readonly object[] {
  return Object.entries(targets).map(([name, { target, labels }]) => ({
    job_name: name,
    honor_labels: true,
    static_configs: name === leftOut ? [] : [{ targets: [target], labels }],
  }));
}

async function untilReady(url: string): Promise<void> {
  const endMs = Date.now() + START_MS;
  for (;;) {
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (response?.ok === true) return;
    if (Date.now() > endMs) throw new Error("Prometheus is not ready");
    await sleep(50);
  }
}
