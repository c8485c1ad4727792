import { z } from "zod";
import type { Secret } from "../../platform/base/secret.ts";
import {
  durationField,
  hostNamesField,
  issueText,
  listenField,
  logSchema,
  secretField,
} from "../../platform/config/config-fields.ts";
import type { ListenAddress, LogConfig } from "../../platform/config/config-fields.ts";
import type { ConfigKind } from "../../platform/config/daemon-config.ts";
import { tlsSchema } from "../../platform/config/endpoint-field.ts";
import type { NetworkOptions } from "../../platform/http/remote.ts";
import { linksSchema } from "../../platform/monitoring/alerts/links.ts";
import { alertsSchema } from "../conditions/alerts-config.ts";
import { notifySchema } from "../notify/notify-config.ts";
import type { BackfillOptions } from "../prometheus-api/backfill.ts";
import { backfill, prometheus, toBackfill, toPrometheusConfig } from "../prometheus-api/prometheus-config.ts";
import type { PrometheusConfig } from "../prometheus-api/prometheus-config.ts";
import { policy } from "../policy/policy-config.ts";
import { refuseReportChannels, reportsSchema, withDirectory } from "../report/reports-config.ts";
import type { ReportsConfig } from "../report/reports-config.ts";
import { maintenanceField } from "../alerts/maintenance.ts";
import { refuseStatusPage, statusPageOf, statusPageSchema } from "../status-page/status-page-config.ts";
import type { StatusPageConfig } from "../status-page/status-page-config.ts";
import type { PollSettings } from "../polling/poll-loop.ts";
import { chain } from "../sources/chain-config.ts";
import { identity, refuseTwoForms, source, sources, toValidators, validators } from "./validators-config.ts";
import type { SourceKeys, ValidatorKeys } from "./validators-config.ts";

export interface WatchdogConfig extends PollSettings {
  readonly listen: ListenAddress;
  /**
   * Additional host names that the HTTP server accepts in requests. If absent, a server on a loopback address accepts only loopback names,
   * and any other server accepts every name.
   */
  readonly hosts?: readonly string[];
  /** Proxy and certificate settings. If absent, the environment's proxies and public certificates are used. */
  readonly network?: NetworkOptions;
  /** The token that requests for changes must send; if absent, the HTTP API refuses changes. */
  readonly token?: Secret;
  readonly reports: ReportsConfig;
  /** The public status page's settings; if absent, there is no status page. */
  readonly statusPage?: StatusPageConfig;
  readonly prometheus?: PrometheusConfig;
  /** How to fill gaps in the counts from Prometheus, which requires `prometheus`; if absent, gaps are not filled. */
  readonly backfill?: BackfillOptions;
}

/** The parsed configuration file: the watchdog's settings, and settings of its process such as logging. */
export interface WatchdogDaemonConfig extends WatchdogConfig {
  readonly log: LogConfig;
}

const fileSchema = z.strictObject({
  http: z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9998")
        .describe(
          "address on which the watchdog serves its status page, API, metrics and health checks over HTTP",
        )
        .meta({ reload: "process" }),
      hosts: hostNamesField()
        .exactOptional()
        .describe(
          "host names that clients may use to reach the server, in addition to loopback names; default: only loopback names on a loopback address, every name on other addresses",
        )
        .meta({ example: ["watchdog.example"], reload: "process" }),
      token: secretField()
        .exactOptional()
        .describe(
          "bearer token (a secret) that clients must send with requests that change something, e.g. silences; default: the token in the file control-token in state_dir",
        )
        .meta({ example: { env: "ORACLE_WATCHDOG_TOKEN" } }),
    })
    .prefault({})
    .describe("the watchdog's HTTP server"),
  ...identity,
  state_dir: z
    .string()
    .min(1)
    .optional()
    .describe(
      "folder in which the watchdog stores its state file. Without this folder, each restart resets the counts",
    )
    .meta({ example: "/var/lib/oracle-watchdog", reload: "process" }),
  interval: durationField(100).prefault("5s").describe("time between polls"),
  source: source
    .default("scrape")
    .describe(
      "source of the node and sidecar metrics. With scrape, the watchdog reads the metrics pages; with prometheus, it reads samples from a Prometheus server. Each entry in validators can override this setting",
    ),
  prometheus: prometheus
    .optional()
    .describe(
      "the API of Prometheus, Thanos, Mimir or VictoriaMetrics, used by backfill and if source is prometheus",
    ),
  backfill: backfill
    .optional()
    .describe("how to use Prometheus to fill gaps left by watchdog downtime or failed scrapes"),
  sources: sources.prefault({}).describe("the URLs of the node and its sidecar, and limits for all scrapes"),
  chain: chain
    .optional()
    .describe("the chain's endpoints. The chain's block times determine the month in which a block counts"),
  tls: tlsSchema("sources and receivers"),
  policy: policy.prefault({}).describe("how a month's reward depends on the success rate"),
  validators: validators.optional().meta({ commentedOut: true }),
  alerts: alertsSchema,
  notify: notifySchema.describe("who receives notifications, and when"),
  links: linksSchema,
  maintenance: z
    .array(maintenanceField)
    .max(100)
    .default([])
    .describe("planned work, in UTC, during which alerts notify nobody. Blocks still count")
    .meta({
      example: [
        { reason: "Weekly sidecar restart", days: ["tuesday"], at: "09:00", duration: "30m" },
        {
          reason: "Chain upgrade",
          validators: ["default"],
          from: "2026-12-01T14:00:00Z",
          duration: "2h",
        },
      ],
    }),
  reports: reportsSchema,
  status_page: statusPageSchema
    .optional()
    .describe(
      "a public read-only page about the last 90 days, on a separate server that may be reachable from the internet. Without this section, no page is served",
    ),
  log: logSchema().prefault({}).describe("log lines").meta({ reload: "process" }),
});

/** Schema of the watchdog's configuration file, in which every key is optional. */
export const watchdogConfigSchema = fileSchema
  .superRefine(refuseTwoForms)
  .superRefine(refusePrometheusKeys)
  .superRefine(refuseReportChannels)
  .superRefine(refuseStatusPage)
  .transform(toWatchdogConfig);

/** The watchdog's configuration kind, which names its schema and environment variables. */
export const watchdogConfigKind: ConfigKind<WatchdogDaemonConfig> = {
  name: "oracle-watchdog",
  prefix: "RELAYWATCH_WATCHDOG_",
  schema: watchdogConfigSchema,
};

/** Returns a warning if a reload would remove all channels or all validators; otherwise undefined. */
export function lossOf(before: WatchdogDaemonConfig, after: WatchdogDaemonConfig): string | undefined {
  const count = before.notify.channels.length;
  if (count > 0 && after.notify.channels.length === 0)
    return `the configuration has no notify.channels, but the running one has ${count}: nobody would be notified`;
  const namesOf = (config: WatchdogDaemonConfig) => config.validators.map(({ target }) => target.name);
  const kept = namesOf(after);
  if (namesOf(before).some((name) => kept.includes(name))) return undefined;
  return `the configuration has none of the running validators: ${namesOf(before).slice(0, 5).join(", ")}`;
}

function toWatchdogConfig(file: z.output<typeof fileSchema>): WatchdogDaemonConfig {
  const { state_dir: stateDir, status_page: page } = file;
  const all = toValidators(file);
  const shown = all.map(({ target }) => ({
    name: target.name,
    hasVotes: target.consensusAddress !== undefined,
  }));
  const network = file.tls === undefined ? {} : { network: { ca: file.tls.ca_file } };
  return {
    ...file.http,
    ...(stateDir === undefined ? {} : { stateDir }),
    intervalMs: file.interval,
    limits: { deadlineMs: file.sources.deadline, maxPageBytes: file.sources.max_page_bytes },
    ...network,
    validators: all,
    alerts: file.alerts,
    notify: { ...file.notify, links: file.links, ...network },
    maintenance: file.maintenance,
    reports: withDirectory(file.reports, stateDir),
    ...(page === undefined ? {} : { statusPage: statusPageOf(page, shown) }),
    log: file.log,
    ...(file.prometheus === undefined ? {} : { prometheus: toPrometheusConfig(file.prometheus, network) }),
    ...(file.backfill === undefined ? {} : { backfill: toBackfill(file.backfill) }),
  };
}

type Path = readonly (string | number)[];

/** Adds issues for Prometheus keys that conflict or have no effect. */
function refusePrometheusKeys(file: ValidatorKeys, context: z.RefinementCtx): void {
  const all = file.validators?.map(({ source: own, nodes }, index) => ({
    kind: own ?? file.source,
    path: own === undefined ? ["source"] : ["validators", index, "source"],
    nodes: nodes.map((node, at) => ({ node, path: ["validators", index, "nodes", at] })),
  })) ?? [{ kind: file.source, path: ["source"], nodes: [{ node: file.sources, path: ["sources"] }] }];
  const hasBackfill = file.backfill !== undefined;
  const stored = all.find(({ kind }) => kind === "prometheus");
  const issues = [
    ...sectionIssues(file, stored?.path),
    ...all.flatMap(({ kind, nodes }) =>
      nodes.flatMap(({ node, path }) =>
        nodeIssues(kind, node, hasBackfill).map(([key, text]): Issue => [[...path, ...key], text]),
      ),
    ),
  ];
  for (const [path, message] of issues) context.addIssue({ code: "custom", path: [...path], message });
}

/** Returns the issues of the `prometheus` section. `stored` is the path of the first `source: prometheus` in the file. */
function sectionIssues(
  { prometheus: section, backfill: filling }: ValidatorKeys,
  stored?: Path,
): readonly Issue[] {
  const wanted = "a prometheus section with a url";
  if (section === undefined)
    return [
      ...(stored === undefined
        ? []
        : [[stored, issueText("is prometheus, but no prometheus section exists", wanted)] as const]),
      ...(filling === undefined
        ? []
        : [[["backfill"], issueText("needs Prometheus, but no prometheus section exists", wanted)] as const]),
    ];
  if (stored !== undefined || filling !== undefined) return [];
  return [[["prometheus"], issueText("has no effect", "source: prometheus, or a backfill section")]];
}

type Issue = readonly [path: Path, text: string];

/** Returns a node's issues, with paths relative to the node. */
function nodeIssues(kind: ValidatorKeys["source"], node: SourceKeys, hasBackfill: boolean): readonly Issue[] {
  const { labels, sidecar_labels: ofSidecar } = node;
  const expected = "labels, e.g. {instance: 10.0.0.1:26660}";
  if (kind === "scrape") {
    const unused: Issue[] = [];
    if (hasBackfill && labels === undefined)
      unused.push([[], issueText("has no labels, but backfill selects series by labels", expected)]);
    if (!hasBackfill && labels !== undefined)
      unused.push([["labels"], issueText("has no effect", "source: prometheus, or a backfill section")]);
    if (ofSidecar !== undefined)
      unused.push([["sidecar_labels"], issueText("has no effect", "source: prometheus")]);
    return unused;
  }
  const { node: url, oracle_metrics, sidecar_metrics } = node;
  const scraped = Object.entries({ node: url, oracle_metrics, sidecar_metrics })
    .filter(([, given]) => given !== undefined && given !== null)
    .map(([key]): Issue => [[key], issueText("is not scraped with source: prometheus", "labels instead")]);
  if (labels !== undefined) return scraped;
  return [
    ...scraped,
    [[], issueText("has no labels, but source: prometheus selects series by labels", expected)],
  ];
}
