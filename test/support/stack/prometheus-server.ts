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
  /** Scrapes these targets from now on, and no others. */
  readonly scrape: (targets: ScrapeTargets) => void;
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
  const configure = (wanted: ScrapeTargets): void => {
    // It scrapes itself, so that rules about it have data.
    const all = { ...wanted, prometheus: { target: `127.0.0.1:${port}`, labels: {} } };
    const global = { scrape_interval: every, scrape_timeout: every, evaluation_interval: "1s" };
    // YAML contains JSON.
    writeFileSync(config, JSON.stringify({ global, scrape_configs: jobsOf(all), ...ruleSettings }));
  };
  configure(targets);
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
  const scrape = (wanted: ScrapeTargets): void => {
    configure(wanted);
    server.kill("SIGHUP");
  };
  return { url, scrape, close };
}

function jobsOf(targets: ScrapeTargets): readonly object[] {
  return Object.entries(targets).map(([name, { target, labels }]) => ({
    job_name: name,
    honor_labels: true,
    static_configs: [{ targets: [target], labels }],
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
