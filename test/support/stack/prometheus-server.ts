import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leasePort } from "../port-lease.ts";
import { programPath } from "./programs.ts";

/** A Prometheus of one test, in a directory of its own, on a free port of loopback. */
export interface PrometheusServer {
  readonly url: string;
  /** Scrapes the target of this job no longer; undefined: scrapes all targets. */
  readonly leaveOut: (job: string | undefined) => void;
  readonly close: () => Promise<void>;
}

/** A Prometheus with given samples. */
export type StoredPrometheus = Pick<PrometheusServer, "url" | "close">;

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

/** Starts a Prometheus that scrapes nothing and receives samples of any time of the last years (`remote-write.ts`). */
export async function openPrometheus(): Promise<StoredPrometheus> {
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-prometheus-"));
  const config = join(directory, "prometheus.json");
  writeFileSync(config, "{}");
  const options = [
    "--web.enable-remote-write-receiver",
    // Samples older than half a block are refused.
    "--storage.tsdb.min-block-duration=2000d",
    "--storage.tsdb.max-block-duration=2000d",
    "--storage.tsdb.retention.time=100y",
  ];
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const { url, close } = await run({
      config,
      data: join(directory, "data"),
      port: await leasePort(),
      options,
    });
    return { url, close: () => close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Starts Prometheus. It scrapes all targets once a second, with rules every two seconds. Their labels win over its own. */
export async function startPrometheus(
  targets: ScrapeTargets,
  rules?: PrometheusRules,
): Promise<PrometheusServer> {
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-prometheus-"));
  const config = join(directory, "prometheus.json");
  const port = await leasePort();
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
  try {
    const server = await run({ config, data: join(directory, "data"), port });
    const leaveOut = (job: string | undefined): void => {
      configure(job);
      server.reload();
    };
    const close = async (): Promise<void> => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    };
    return { url: server.url, leaveOut, close };
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

interface Launch {
  readonly config: string;
  readonly data: string;
  readonly port: number;
  readonly options?: readonly string[];
}

/** Starts the program, and waits until it is ready. */
async function run({ config, data, port, options = [] }: Launch) {
  const own = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server = spawn(programPath("prometheus"), [...own, ...options], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    const exited = once(server, "exit");
    if (server.exitCode === null && server.kill()) await exited;
  };
  try {
    await untilReady(url);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close, reload: () => server.kill("SIGHUP") };
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
