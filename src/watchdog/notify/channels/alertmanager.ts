import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import { isoTime } from "../../../platform/base/time.ts";
import { durationField, httpUrlField, secretField } from "../../../platform/config/config-fields.ts";
import { alertName } from "../../conditions/condition.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, severityField, toSettings } from "./channel.ts";
import type { AlertEvent, CurrentAlert } from "../../alerts/alert-event.ts";
import { costText } from "../../policy/cost-text.ts";
import { sinceLine, stateLine } from "./message.ts";

/** The servers of a cluster: each of them must receive every alert. */
interface Cluster {
  /** Root URLs, without trailing slashes. */
  readonly urls: readonly string[];
  readonly authorization?: Secret | undefined;
}

/** Number of push intervals for which an alert stays valid without another push; Alertmanager then resolves it. */
const VALID_PUSHES = 4;

/** Prometheus Alertmanager does its own routing, grouping and repeating, so it receives the state of all alerts. */
export const alertmanager = defineChannel({
  kind: "alertmanager",
  receiver: "Alertmanager",
  about: "Prometheus Alertmanager, through its API version 2",
  schema: z
    .strictObject({
      kind: z.literal("alertmanager"),
      name: COMMON_FIELDS.name,
      min_severity: severityField("info"),
      deadline: COMMON_FIELDS.deadline,
      urls: z
        .array(httpUrlField())
        .min(1)
        .max(10)
        .describe("root URLs of all Alertmanagers in the cluster; each gets all alerts"),
      authorization: secretField().optional().describe("value of the Authorization header; a secret"),
      resend: durationField(1000).prefault("1m").describe("time between pushes of the firing alerts"),
    })
    .transform(({ urls, resend, ...file }) => {
      const roots: Cluster["urls"] = urls.map((url) => url.replace(/\/$/, ""));
      return { ...toSettings({ ...file, reminders: false, resolved: true }), urls: roots, resendMs: resend };
    }),
  example: {
    name: "alertmanager",
    urls: ["http://127.0.0.1:9093"],
    authorization: { env: "ORACLE_WATCHDOG_ALERTMANAGER_AUTHORIZATION" },
  },
  maxEvents: MESSAGE_EVENTS,
  // Test alerts end immediately.
  alert: (events, config) =>
    requests(
      config,
      events.map((event) => alertJson({ event, resolvedAtMs: event.atMs }, event.atMs)),
    ),
  state: (config) => ({
    everyMs: config.resendMs,
    requests: (alerts, nowMs) =>
      requests(
        config,
        alerts.map((alert) => alertJson(alert, nowMs + VALID_PUSHES * config.resendMs)),
      ),
  }),
});

function requests({ urls, authorization }: Cluster, body: readonly unknown[]) {
  const headers = authorization === undefined ? {} : { authorization: authorization.reveal() };
  return urls.map((url) => ({ url: `${url}/api/v2/alerts`, headers, body }));
}

/** Encodes an alert. Its labels identify it, so they include nothing that changes while it fires. */
function alertJson(
  { event: latest, resolvedAtMs, acknowledged }: CurrentAlert,
  validUntilMs: number,
): Readonly<Record<string, unknown>> {
  const event: AlertEvent =
    resolvedAtMs === undefined ? latest : { ...latest, kind: "resolved", atMs: resolvedAtMs };
  const { alert, severity, chainId, validator, runbook } = event;
  return {
    labels: {
      alertname: alertName(alert),
      severity,
      chain_id: chainId,
      validator,
      component: "oracle-watchdog",
    },
    annotations: {
      summary: `${event.title}.`,
      description: `${stateLine(event)} ${sinceLine(event)}`,
      impact: event.impact,
      action: event.action,
      runbook_url: runbook,
      acknowledged,
      dashboard_url: event.dashboard,
      page_url: event.page,
      resolved_summary: resolvedAtMs === undefined ? undefined : stateLine(event),
      cost: event.cost && costText(event.cost),
    },
    // Alertmanager rejects an alert that ends before it starts.
    startsAt: isoTime(Math.min(event.sinceMs, resolvedAtMs ?? validUntilMs)),
    endsAt: isoTime(resolvedAtMs ?? validUntilMs),
  };
}
