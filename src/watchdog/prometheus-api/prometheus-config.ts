import { z } from "zod";
import { HOUR_MS } from "../../platform/base/time.ts";
import { durationField, httpUrlField, issueText, secretField } from "../../platform/config/config-fields.ts";
import type { PrometheusConnection, PrometheusCredentials } from "./api-client.ts";
import type { BackfillOptions } from "./backfill.ts";

export interface PrometheusConfig {
  readonly connection: PrometheusConnection;
  /** Maximum age of a target's newest sample, in ms. If all samples are older, the target is treated as unreadable. */
  readonly staleMs: number;
}

/** Schema of the labels and values that select series by equality. */
export function labelsField() {
  const name = z.string().refine((text) => /^[a-zA-Z_]\w{0,127}$/.test(text) && text !== "__name__", {
    error: issueText("is not a label name", 'letters, digits and "_"'),
  });
  return z.record(name, z.string().min(1).max(256)).refine(
    (labels) => {
      const { length } = Object.keys(labels);
      return length >= 1 && length <= 10;
    },
    { error: issueText("has no labels, or too many", "1 to 10 labels, e.g. {instance: 10.0.0.1:26660}") },
  );
}

/** Schema of the `prometheus` section, which configures the connection for `source: prometheus` and `backfill`. */
export const prometheus = z
  .strictObject({
    url: httpUrlField()
      .describe("URL of the Prometheus API, without /api/v1")
      .meta({ example: "http://127.0.0.1:9090" }),
    token: secretField()
      .optional()
      .describe(
        "bearer token (a secret) for the Prometheus API. Use either a token, or a username and password",
      )
      .meta({ example: { env: "ORACLE_WATCHDOG_PROMETHEUS_TOKEN" }, commentedOut: true }),
    username: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe("user name for the Prometheus API. If this key is set, password must also be set")
      .meta({ example: "watchdog" }),
    password: secretField()
      .optional()
      .describe("password (a secret)")
      .meta({ example: { env: "ORACLE_WATCHDOG_PROMETHEUS_PASSWORD" } }),
    tenant: z
      .string()
      .regex(/^[\x21-\x7e]{1,150}$/)
      .optional()
      .describe("tenant in Mimir, Cortex or Loki, sent as the X-Scope-OrgID header")
      .meta({ example: "validators" }),
    deadline: durationField(100)
      .prefault("10s")
      .refine((ms) => ms <= 60_000, { error: issueText("is too long", "at most 1m") })
      .describe("maximum duration of one query, including the time to read the response body"),
    max_response_bytes: z
      .int()
      .min(1024)
      .max(256 * 1024 * 1024)
      .default(32 * 1024 * 1024)
      .describe("maximum size of a response in bytes. A query fails if its response is larger"),
    max_series: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(50_000)
      .describe("the maximum number of series in a response. Each series needs about 1 kB of memory"),
    max_points: z
      .int()
      .min(1000)
      .max(20_000_000)
      .default(500_000)
      .describe("the maximum number of samples in a response. Each sample needs about 100 bytes of memory"),
    stale_after: durationField(1000)
      .prefault("1m")
      .refine((ms) => ms <= HOUR_MS, { error: issueText("is too long", "at most 1h") })
      .describe(
        "maximum age of a target's newest sample. If the sample is older, the watchdog treats the target as unreadable. Use at least twice the scrape interval",
      ),
  })
  .superRefine(({ token, username, password }, context) => {
    const add = (key: string, message: string): void => {
      context.addIssue({ code: "custom", path: [key], message });
    };
    if (token !== undefined && username !== undefined)
      add("token", issueText("cannot be combined with username", "either a token, or username and password"));
    if (username !== undefined && password === undefined)
      add("username", issueText("has no password", "username and password"));
    if (username === undefined && password !== undefined)
      add("password", issueText("has no username", "username and password"));
  });

export const backfill = z.strictObject({
  after: durationField(10_000)
    .prefault("1m")
    .describe("minimum length of a gap in the readings that the watchdog fills with samples from Prometheus"),
  longest: durationField(60_000)
    .prefault("31d")
    .describe(
      "how far back the watchdog reads samples from Prometheus. The older part of a longer gap is counted from the node's counters",
    ),
  give_up_after: durationField(1000)
    .prefault("15m")
    .describe(
      "time after which the watchdog stops retrying a failing backfill and counts the gap without Prometheus. Until then, counting pauses, but alerts continue",
    ),
});

type Section = z.output<typeof prometheus>;

/** Converts the `prometheus` section to the settings for reading from the API. */
export function toPrometheusConfig(
  given: Section,
  network: Pick<PrometheusConnection, "network">,
): PrometheusConfig {
  const { url, tenant, deadline, stale_after: staleMs } = given;
  const credentials = credentialsOf(given);
  return {
    connection: {
      url,
      ...(credentials === undefined ? {} : { credentials }),
      ...(tenant === undefined ? {} : { tenant }),
      deadlineMs: deadline,
      maxResponseBytes: given.max_response_bytes,
      maxSeries: given.max_series,
      maxPoints: given.max_points,
      ...network,
    },
    staleMs,
  };
}

function credentialsOf({ token, username, password }: Section): PrometheusCredentials | undefined {
  if (token !== undefined) return { kind: "bearer", token };
  if (username === undefined || password === undefined) return undefined;
  return { kind: "basic", username, password };
}

export function toBackfill(given: z.output<typeof backfill>): BackfillOptions {
  return { afterMs: given.after, longestMs: given.longest, giveUpMs: given.give_up_after };
}
