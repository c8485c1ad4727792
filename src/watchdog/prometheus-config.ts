import { z } from "zod";
import { durationField, httpUrlField, secretField } from "../ops/config-fields.ts";
import { issueText } from "../ops/config-issue.ts";
import type { PrometheusConnection, PrometheusCredentials } from "./prometheus-api/api-client.ts";
import type { BackfillOptions } from "./prometheus-api/plan-backfill.ts";

/** Section `prometheus`. */
export interface PrometheusConfig {
  readonly connection: PrometheusConnection;
  /** Older samples are not used. */
  readonly staleMs: number;
}

/** Where the metrics of nodes and sidecars come from. */
export const METRIC_SOURCES = ["scrape", "prometheus"] as const;

/** Labels that select series. */
export function labelsField() {
  const name = z.string().refine((text) => /^[a-zA-Z_]\w{0,127}$/.test(text) && text !== "__name__", {
    error: issueText("is not the name of a label", 'letters, digits and "_"'),
  });
  return z.record(name, z.string().min(1).max(256)).refine(
    (labels) => {
      const { length } = Object.keys(labels);
      return length >= 1 && length <= 10;
    },
    { error: issueText("has no labels, or too many", "1 to 10 labels, such as {instance: 10.0.0.1:26660}") },
  );
}

/** Section `prometheus`: a connection that `source: prometheus` and `backfill` share. */
export const prometheus = z
  .strictObject({
    url: httpUrlField().describe("URL of the API, without /api/v1; no default"),
    token: secretField().optional().describe("bearer token; a secret"),
    username: z.string().min(1).max(256).optional().describe("user name, with password"),
    password: secretField().optional().describe("password; a secret"),
    tenant: z
      .string()
      .regex(/^[\x21-\x7e]{1,150}$/)
      .optional()
      .describe("value of the header X-Scope-OrgID (Mimir, Cortex, Loki)"),
    deadline: durationField(100)
      .prefault("10s")
      .refine((ms) => ms <= 60_000, { error: issueText("is too long", "at most 1m") })
      .describe("limit for one query, including the body"),
    max_response_bytes: z
      .int()
      .min(1024)
      .max(256 * 1024 * 1024)
      .default(32 * 1024 * 1024)
      .describe("a larger response fails"),
    stale_after: durationField(1000)
      .prefault("1m")
      .refine((ms) => ms <= 3_600_000, { error: issueText("is too long", "at most 1h") })
      .describe(
        "older samples are not used: the watchdog cannot see the target; at least twice the scrape interval",
      ),
  })
  .superRefine(({ token, username, password }, context) => {
    const add = (key: string, message: string): void => {
      context.addIssue({ code: "custom", path: [key], message });
    };
    if (token !== undefined && username !== undefined)
      add("token", issueText("is used beside username", "either a token, or username and password"));
    if (username !== undefined && password === undefined)
      add("username", issueText("has no password", "username and password"));
    if (username === undefined && password !== undefined)
      add("password", issueText("has no username", "username and password"));
  });

/** Section `backfill`. */
export const backfill = z.strictObject({
  after: durationField(10_000)
    .prefault("1m")
    .describe("gaps in the readings that are longer than this are filled"),
  longest: durationField(60_000)
    .prefault("31d")
    .describe("no older samples are read; the rest of a longer gap stays as the node's counters show it"),
  give_up_after: durationField(1000)
    .prefault("15m")
    .describe(
      "after failing for this long the gap is counted without Prometheus; until then counting waits, alerts go on",
    ),
});

/** Converts the section. */
export function toPrometheusConfig(given: z.output<typeof prometheus>): PrometheusConfig {
  const { url, tenant, deadline, max_response_bytes: maxResponseBytes, stale_after: staleMs } = given;
  const credentials = credentialsOf(given);
  return {
    connection: {
      url,
      ...(credentials === undefined ? {} : { credentials }),
      ...(tenant === undefined ? {} : { tenant }),
      deadlineMs: deadline,
      maxResponseBytes,
    },
    staleMs,
  };
}

function credentialsOf({
  token,
  username,
  password,
}: z.output<typeof prometheus>): PrometheusCredentials | undefined {
  if (token !== undefined) return { kind: "bearer", token };
  if (username === undefined || password === undefined) return undefined;
  return { kind: "basic", username, password };
}

/** Converts the section. */
export function toBackfill(given: z.output<typeof backfill>): BackfillOptions {
  return { afterMs: given.after, longestMs: given.longest, giveUpMs: given.give_up_after };
}

/** A part of the file that says where the metrics of a validator come from. */
interface SourceOf {
  readonly source: (typeof METRIC_SOURCES)[number];
  /** Path of the key `source`, for errors. */
  readonly path: readonly (string | number)[];
  readonly nodes: readonly NodeKeys[];
}

interface NodeKeys {
  readonly path: readonly (string | number)[];
  readonly node?: string | undefined;
  readonly oracle_metrics?: string | null | undefined;
  readonly sidecar_metrics?: string | null | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly sidecar_labels?: Readonly<Record<string, string>> | undefined;
}

/** What the file has of Prometheus. */
interface PrometheusKeys {
  readonly prometheus?: unknown;
  readonly backfill?: unknown;
}

/** Refuses keys that contradict each other or have no effect. */
export function refuseContradictions(
  file: PrometheusKeys,
  validators: readonly SourceOf[],
  context: z.RefinementCtx,
): void {
  const add = (path: readonly (string | number)[], text: string): void => {
    context.addIssue({ code: "custom", path: [...path], message: text });
  };
  const hasBackfill = file.backfill !== undefined;
  const stored = validators.filter(({ source }) => source === "prometheus");
  if (file.prometheus === undefined) {
    const [first] = stored;
    const section = "a section prometheus with its url";
    if (first !== undefined) add(first.path, issueText("is prometheus, and there is none", section));
    if (hasBackfill) add(["backfill"], issueText("needs Prometheus, and there is none", section));
  } else if (stored.length === 0 && !hasBackfill)
    add(["prometheus"], issueText("is not used", "source: prometheus, or a section backfill"));
  for (const { source, nodes } of validators)
    for (const node of nodes)
      for (const [path, text] of nodeIssues(source, node, hasBackfill)) add(path, text);
}

type Issue = readonly [path: readonly (string | number)[], text: string];

function nodeIssues(source: SourceOf["source"], node: NodeKeys, hasBackfill: boolean): readonly Issue[] {
  const isStored = source === "prometheus";
  const issues: Issue[] = [];
  const urls = {
    node: node.node,
    oracle_metrics: node.oracle_metrics,
    sidecar_metrics: node.sidecar_metrics,
  };
  if (isStored)
    for (const [key, url] of Object.entries(urls))
      if (typeof url === "string")
        issues.push([
          [...node.path, key],
          issueText("is not scraped with source: prometheus", "labels instead"),
        ]);
  if (node.labels === undefined && (isStored || hasBackfill))
    issues.push([
      node.path,
      issueText(
        `has no labels, and ${isStored ? "source: prometheus" : "backfill"} selects series by them`,
        "labels such as {instance: 10.0.0.1:26660}",
      ),
    ]);
  if (!isStored && !hasBackfill && node.labels !== undefined)
    issues.push([
      [...node.path, "labels"],
      issueText("is not used", "source: prometheus, or a section backfill"),
    ]);
  if (!isStored && node.sidecar_labels !== undefined)
    issues.push([[...node.path, "sidecar_labels"], issueText("is not used", "source: prometheus")]);
  return issues;
}
