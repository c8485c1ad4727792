import { z } from "zod";
import {
  durationField,
  httpUrlField,
  type ListenAddress,
  listenField,
  secretField,
} from "../ops/config-fields.ts";
import { isPlainHttpUrl } from "../ops/config-fields.ts";
import { issueText } from "../ops/config-issue.ts";
import type { Secret } from "../base/secret.ts";

/** What the watchdog runs with. */
export interface WatchdogConfig {
  readonly listen: ListenAddress;
  /** The chain that the node must be on; without it the node's own word is taken. */
  readonly chainId?: string;
  /** Folder of the durable state; without it a restart begins a new count. */
  readonly stateDir?: string;
  /** Time between looks. */
  readonly intervalMs: number;
  readonly sources: SourcesConfig;
  /** How long all prices must be missing before the alert. */
  readonly allPricesMissingForMs: number;
  readonly webhook?: WebhookConfig;
}

/** Where the watchdog looks. An absent URL is not looked at. */
export interface SourcesConfig {
  readonly node: string;
  readonly prices: string;
  readonly oracleMetrics?: string;
  readonly sidecarMetrics?: string;
  /** For one whole look at one source. */
  readonly deadlineMs: number;
  readonly maxPageBytes: number;
}

/** Where notices are posted. */
export interface WebhookConfig {
  readonly url: Secret;
  readonly deadlineMs: number;
}

const webhook = z.strictObject({
  url: secretField()
    .refine((secret) => isPlainHttpUrl(secret.reveal()), {
      error: issueText("does not hold a usable URL", "http:// or https://"),
    })
    .describe("where notices are posted as JSON; the URL is a secret, so it is given by reference"),
  deadline: durationField(100).prefault("10s").describe("for one post"),
});

const sources = z.strictObject({
  node: httpUrlField().prefault("http://127.0.0.1:26660/metrics").describe("metrics of the validator's node"),
  prices: httpUrlField()
    .prefault("http://127.0.0.1:8080/")
    .describe("the sidecar's price API; without a path both known paths are tried"),
  oracle_metrics: httpUrlField()
    .nullable()
    .prefault("http://127.0.0.1:8001/metrics")
    .describe("oracle metrics; nothing listens there on many machines, which is fine; null to leave it out"),
  sidecar_metrics: httpUrlField()
    .nullable()
    .prefault("http://127.0.0.1:8002/metrics")
    .describe("metrics of the sidecar; null to leave it out"),
  deadline: durationField(100).prefault("4s").describe("for one whole look at one source"),
  max_page_bytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .describe("a larger metrics page is refused"),
});

const fileSchema = z.strictObject({
  http: z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9998")
        .describe("the watchdog's own face: metrics, health, status"),
    })
    .prefault({}),
  chain_id: z.string().min(1).max(50).optional().describe("the chain that the node must be on"),
  state_dir: z
    .string()
    .min(1)
    .optional()
    .describe("folder of the durable state; without it a restart begins a new count"),
  interval: durationField(100).prefault("5s").describe("time between looks"),
  sources: sources.prefault({}),
  alerts: z
    .strictObject({
      all_prices_missing: z
        .strictObject({
          for: durationField(1000)
            .prefault("5m")
            .describe("how long all prices must be missing before the alert"),
        })
        .prefault({}),
    })
    .prefault({}),
  notify: z.strictObject({ webhook: webhook.optional() }).prefault({}),
});

/** Schema of the watchdog's configuration file; every key has a default. */
export const watchdogConfigSchema = fileSchema.transform(toWatchdogConfig);

function toWatchdogConfig(file: z.output<typeof fileSchema>): WatchdogConfig {
  const { chain_id: chainId, state_dir: stateDir } = file;
  const hook = file.notify.webhook;
  return {
    listen: file.http.listen,
    ...(chainId === undefined ? {} : { chainId }),
    ...(stateDir === undefined ? {} : { stateDir }),
    intervalMs: file.interval,
    sources: toSources(file.sources),
    allPricesMissingForMs: file.alerts.all_prices_missing.for,
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
