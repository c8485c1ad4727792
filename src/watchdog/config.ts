import { z } from "zod";
import type { Secret } from "../base/secret.ts";
import {
  durationField,
  hostNamesField,
  httpUrlField,
  type ListenAddress,
  listenField,
  secretField,
} from "../ops/config-fields.ts";
import { type AlertsConfig, alertsSchema } from "./conditions/alerts-config.ts";
import { type NotifyConfig, notifySchema } from "./notify/notify-config.ts";
import { maintenanceField, type MaintenanceWindow } from "./silences/maintenance.ts";
import type { SourcesConfig } from "./sources/poller.ts";

/** Configuration of the watchdog. */
export interface WatchdogConfig {
  readonly listen: ListenAddress;
  /** Names that clients may use besides the loopback names. Absent: none on a loopback address, else every name. */
  readonly hosts?: readonly string[];
  /** The chain that the node must be on. Absent: the chain of the first reading. */
  readonly chainId?: string;
  /** Folder of the state file. Absent: a restart begins a new count. */
  readonly stateDir?: string;
  /** Time from the end of one poll to the start of the next. */
  readonly intervalMs: number;
  readonly sources: SourcesConfig;
  /** Opens the routes that change something. Absent: they are closed. */
  readonly token?: Secret;
  readonly alerts: AlertsConfig;
  readonly notify: NotifyConfig;
  readonly maintenance: readonly MaintenanceWindow[];
}

const sources = z.strictObject({
  node: httpUrlField()
    .prefault("http://127.0.0.1:26660/metrics")
    .describe("metrics page of the validator's node"),
  prices: httpUrlField()
    .prefault("http://127.0.0.1:8080/")
    .describe("price API of the sidecar; without a path, the watchdog tries both known paths"),
  oracle_metrics: httpUrlField()
    .nullable()
    .prefault("http://127.0.0.1:8001/metrics")
    .describe("oracle metrics; many machines have none, which is normal; null disables the source"),
  sidecar_metrics: httpUrlField()
    .nullable()
    .prefault("http://127.0.0.1:8002/metrics")
    .describe("metrics page of the sidecar; null disables the source"),
  deadline: durationField(100)
    .prefault("4s")
    .describe("limit for one scrape of one source, including the body"),
  max_page_bytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .describe("the scrape of a larger metrics page fails"),
});

const fileSchema = z.strictObject({
  http: z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9998")
        .describe("address of the watchdog's own HTTP server: page, status, metrics, health"),
      hosts: hostNamesField()
        .optional()
        .describe(
          "names that clients may use, besides the loopback names; default: none on a loopback address, else every name",
        ),
      token: secretField()
        .optional()
        .describe("opens the routes that change something, such as silences; a secret"),
    })
    .prefault({}),
  chain_id: z.string().min(1).max(50).optional().describe("the chain that the node must be on"),
  state_dir: z
    .string()
    .min(1)
    .optional()
    .describe("folder of the state file; without it, a restart of the watchdog begins a new count"),
  interval: durationField(100).prefault("5s").describe("time between polls"),
  sources: sources.prefault({}),
  alerts: alertsSchema,
  notify: notifySchema,
  maintenance: z
    .array(maintenanceField)
    .max(100)
    .default([])
    .describe("planned work: alerts do not notify, blocks are still counted"),
});

/** Schema of the configuration file. Every key is optional. */
export const watchdogConfigSchema = fileSchema.transform(toWatchdogConfig);

function toWatchdogConfig(file: z.output<typeof fileSchema>): WatchdogConfig {
  const { chain_id: chainId, state_dir: stateDir } = file;
  return {
    listen: file.http.listen,
    ...(file.http.hosts === undefined ? {} : { hosts: file.http.hosts }),
    ...(file.http.token === undefined ? {} : { token: file.http.token }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(stateDir === undefined ? {} : { stateDir }),
    intervalMs: file.interval,
    sources: toSources(file.sources),
    alerts: file.alerts,
    notify: file.notify,
    maintenance: file.maintenance,
  };
}

function toSources(file: z.output<typeof sources>): SourcesConfig {
  return {
    node: file.node,
    prices: file.prices,
    ...(file.oracle_metrics === null ? {} : { oracleMetrics: file.oracle_metrics }),
    ...(file.sidecar_metrics === null ? {} : { sidecarMetrics: file.sidecar_metrics }),
    deadlineMs: file.deadline,
    maxPageBytes: file.max_page_bytes,
  };
}
