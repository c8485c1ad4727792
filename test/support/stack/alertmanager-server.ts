import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leasePort } from "../port-lease.ts";
import { programPath } from "./programs.ts";

/** An Alertmanager of one test, in a directory of its own, on a free port of loopback. */
export interface AlertmanagerServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const START_MS = 30_000;

/** Settings of an Alertmanager besides its receiver. */
export interface AlertmanagerSettings {
  /** Labels of a group. */
  readonly groupBy?: readonly string[];
  /** Time for which a new group waits for further alerts: "5s". */
  readonly groupWait?: string;
  readonly inhibitRules?: readonly object[];
}

/** Starts Alertmanager. By default it sends each group of alerts to `webhookUrl` as soon as it changes. */
export async function startAlertmanager(
  webhookUrl: string,
  {
    groupBy = ["alertname", "chain_id", "validator"],
    groupWait = "0s",
    inhibitRules = [],
  }: AlertmanagerSettings = {},
): Promise<AlertmanagerServer> {
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-alertmanager-"));
  const config = join(directory, "alertmanager.json");
  const route = {
    receiver: "test",
    group_by: groupBy,
    group_wait: groupWait,
    group_interval: "1s",
    repeat_interval: "1h",
  };
  // YAML contains JSON.
  const receivers = [{ name: "test", webhook_configs: [{ url: webhookUrl, send_resolved: true }] }];
  writeFileSync(config, JSON.stringify({ route, receivers, inhibit_rules: inhibitRules }));
  const port = await leasePort();
  const options = [
    `--config.file=${config}`,
    `--storage.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    // Without it, Alertmanager listens on all addresses for other members of a cluster.
    "--cluster.listen-address=",
  ];
  const server = spawn(programPath("prometheus-alertmanager"), options, { stdio: "ignore" });
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
  return { url, close };
}

async function untilReady(url: string): Promise<void> {
  const endMs = Date.now() + START_MS;
  for (;;) {
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (response?.ok === true) return;
    if (Date.now() > endMs) throw new Error("Alertmanager is not ready");
    await sleep(50);
  }
}
