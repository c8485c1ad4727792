import { z } from "zod";
import { unreachable } from "../base/errors.ts";
import {
  durationField,
  hostNamesField,
  httpUrlField,
  isPlainHttpUrl,
  type ListenAddress,
  listenField,
  secretField,
} from "../ops/config-fields.ts";
import { issueText } from "../ops/config-issue.ts";
import type { AlertRule } from "./conditions/condition.ts";
import { CONDITIONS } from "./conditions/conditions.ts";
import type { WebhookConfig } from "./notify/webhook.ts";
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
  /** All alerts, in the order of the API and the page. */
  readonly alerts: readonly AlertRule[];
  /** Absent: notifications go to the log only. */
  readonly webhook?: WebhookConfig;
}

const webhook = z.strictObject({
  url: secretField()
    .refine((secret) => isPlainHttpUrl(secret.reveal()), {
      error: issueText("does not hold a usable URL", "http:// or https://"),
    })
    .describe(
      "receives notifications as JSON; the URL is a secret, so the file names the place that holds it",
    ),
  deadline: durationField(100).prefault("10s").describe("limit for one request"),
});

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

/** One section per alert, from the table of conditions. */
const alerts = z
  .strictObject(
    Object.fromEntries(
      CONDITIONS.map(({ id, defaultFor, forDescription }) => [
        alertKey(id),
        z
          .strictObject({ for: durationField(1000).prefault(defaultFor).describe(forDescription) })
          .prefault({}),
      ]),
    ),
  )
  .prefault({});

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
  alerts,
  notify: z.strictObject({ webhook: webhook.optional() }).prefault({}),
});

/** Schema of the configuration file. Every key is optional. */
export const watchdogConfigSchema = fileSchema.transform(toWatchdogConfig);

function toWatchdogConfig(file: z.output<typeof fileSchema>): WatchdogConfig {
  const { chain_id: chainId, state_dir: stateDir } = file;
  const hook = file.notify.webhook;
  return {
    listen: file.http.listen,
    ...(file.http.hosts === undefined ? {} : { hosts: file.http.hosts }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(stateDir === undefined ? {} : { stateDir }),
    intervalMs: file.interval,
    sources: toSources(file.sources),
    alerts: CONDITIONS.map((condition) => ({
      condition,
      forMs: file.alerts[alertKey(condition.id)]?.for ?? unreachable(`no section for ${condition.id}`),
    })),
    ...(hook === undefined ? {} : { webhook: { url: hook.url, deadlineMs: hook.deadline } }),
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

function alertKey(id: string): string {
  return id.replaceAll("-", "_");
}
