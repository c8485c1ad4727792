import { z } from "zod";
import { withDeadline, withTimeout } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { durationField, httpUrlField, secretField } from "../../../platform/config/config-fields.ts";
import { alertName } from "../../conditions/condition.ts";
import { isAtLeast } from "../../../platform/monitoring/severity.ts";
import type { AlertEvent } from "../alert-event.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  MESSAGE_EVENTS,
  toSettings,
} from "../channel.ts";
import type { DeliveryOutcome } from "../delivery.ts";
import { type PostJson, postAccepted, safeText } from "../http-post.ts";
import { costText } from "../message.ts";

/** Prometheus Alertmanager, by its API version 2. It routes, groups and repeats by itself. */
export interface AlertmanagerConfig extends ChannelSettings {
  readonly kind: "alertmanager";
  /** Root of each Alertmanager of a cluster, without a slash at the end: every one must receive every alert. */
  readonly urls: readonly string[];
  /** Value of the header `Authorization`. */
  readonly authorization?: Secret;
  /** Time between two pushes, ms. */
  readonly resendMs: number;
}

/** Keys of an Alertmanager channel. */
export const alertmanagerFields = z
  .strictObject({
    kind: z.literal("alertmanager"),
    name: COMMON_FIELDS.name,
    min_severity: COMMON_FIELDS.min_severity
      .unwrap()
      .default("info")
      .describe("less severe alerts are not sent"),
    deadline: COMMON_FIELDS.deadline,
    urls: z.array(httpUrlField()).min(1).max(10).describe("root of each Alertmanager of the cluster"),
    authorization: secretField().optional().describe("value of the header Authorization; a secret"),
    resend: durationField(1000).prefault("1m").describe("time between two pushes of the firing alerts"),
  })
  .transform(
    (file): AlertmanagerConfig => ({
      kind: "alertmanager",
      ...toSettings({ ...file, reminders: false, resolved: true }),
      urls: file.urls.map((url) => url.replace(/\/$/, "")),
      ...(file.authorization === undefined ? {} : { authorization: file.authorization }),
      resendMs: file.resend,
    }),
  );

/** An alert as Alertmanager shows it now. */
export interface CurrentAlert {
  /** Its latest event. */
  readonly event: AlertEvent;
  /** Absent while it fires. */
  readonly resolvedAtMs?: number;
}

export interface AlertmanagerDeps {
  readonly clock: Clock;
  readonly post: PostJson;
  readonly logger: Logger;
  /** Notified alerts that fire, and those that were resolved in the last minutes. */
  readonly current: () => readonly CurrentAlert[];
  /** Resolves when an alert changed. Rejects on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly count: (channel: string, outcome: DeliveryOutcome) => void;
}

/** Pushes that an alert outlives when no further one comes: Alertmanager then resolves it. */
const VALID_PUSHES = 4;

/**
 * Pushes the state of all alerts to every Alertmanager, at each change and every `resendMs`, until the signal fires. The
 * push is complete each time, so a lost one needs no outbox: the next one repeats it. Alertmanager gets the end of an alert
 * for as long as the alert is in the state.
 */
export async function runAlertmanager(
  config: AlertmanagerConfig,
  deps: AlertmanagerDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await Promise.all(config.urls.map((url) => pushOnce(url, config, deps, signal)));
      await withTimeout(config.resendMs, deps.clock, signal, deps.changed);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Creates a channel that pushes events once, for tests of the configuration. The alerts end at once. */
export function createAlertmanagerTest(config: AlertmanagerConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MESSAGE_EVENTS,
    send: async (events, signal) => {
      const alerts = events.map((event) => alertJson({ event, resolvedAtMs: event.atMs }, event.atMs));
      await Promise.all(config.urls.map((url) => push(url, alerts, { ...config, post }, signal)));
    },
  };
}

async function pushOnce(
  url: string,
  config: AlertmanagerConfig,
  { clock, post, logger, current, count }: AlertmanagerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name, deadlineMs, resendMs, minSeverity } = config;
  const validUntilMs = clock.nowMs() + VALID_PUSHES * resendMs;
  const alerts = current()
    .filter(({ event }) => isAtLeast(event.severity, minSeverity))
    .map((alert) => alertJson(alert, validUntilMs));
  if (alerts.length === 0) return;
  try {
    await withDeadline(`channel ${name}`, deadlineMs, signal, (inner) =>
      push(url, alerts, { ...config, post }, inner),
    );
    count(name, "delivered");
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn("alerts not pushed, repeating", {
      channel: name,
      alerts: alerts.length,
      reason: safeText(error),
    });
    count(name, "failed");
  }
}

function push(
  url: string,
  alerts: readonly unknown[],
  { authorization, post }: Pick<AlertmanagerConfig, "authorization"> & { readonly post: PostJson },
  signal: AbortSignal,
): Promise<void> {
  return postAccepted(post, "Alertmanager", {
    url: `${url}/api/v2/alerts`,
    headers: authorization === undefined ? {} : { authorization: authorization.reveal() },
    body: alerts,
    signal,
  });
}

/** Encodes an alert. Labels identify it, so they contain nothing that changes while it fires. */
function alertJson(
  { event, resolvedAtMs }: CurrentAlert,
  validUntilMs: number,
): Readonly<Record<string, unknown>> {
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
      description: `${event.reason}. ${event.description}`,
      impact: event.impact,
      action: event.action,
      runbook_url: runbook,
      ...(resolvedAtMs === undefined
        ? {}
        : { resolved_summary: `Now: ${event.reason}. ${costText(event.cost)}` }),
    },
    startsAt: new Date(event.sinceMs).toISOString(),
    endsAt: new Date(resolvedAtMs ?? validUntilMs).toISOString(),
  };
}
