import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import { httpUrlField, secretField } from "../../../platform/config/config-fields.ts";
import type { AlertEvent } from "../alert-event.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  toSettings,
} from "../channel.ts";
import { postAccepted } from "../http-post.ts";
import { clip, costText, eventText } from "../message.ts";

/** PagerDuty, by the Events API version 2. */
export interface PagerdutyConfig extends ChannelSettings {
  readonly kind: "pagerduty";
  readonly routingKey: Secret;
  readonly url: string;
}

/** Keys of a PagerDuty channel. */
export const pagerdutyFields = z
  .strictObject({
    kind: z.literal("pagerduty"),
    ...COMMON_FIELDS,
    // PagerDuty repeats and escalates by itself.
    reminders: z
      .boolean()
      .default(false)
      .describe("whether reminders are sent; PagerDuty escalates by itself"),
    min_severity: COMMON_FIELDS.min_severity
      .unwrap()
      .default("critical")
      .describe("less severe alerts are not sent"),
    routing_key: secretField().describe("integration key of the service; a secret"),
    url: httpUrlField()
      .prefault("https://events.pagerduty.com/v2/enqueue")
      .describe("address of the Events API"),
  })
  .transform(
    (file): PagerdutyConfig => ({
      kind: "pagerduty",
      ...toSettings(file),
      routingKey: file.routing_key,
      url: file.url,
    }),
  );

const SUMMARY_LIMIT = 1024;

export function createPagerduty(config: PagerdutyConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: 1,
    send: async (events, signal) => {
      for (const event of events)
        await postAccepted(post, "PagerDuty", {
          url: config.url,
          body: pagerdutyBody(event, config.routingKey.reveal()),
          signal,
        });
    },
  };
}

/** Encodes an event. The alert's key is the `dedup_key`, so two watchdogs of one validator open one incident. */
function pagerdutyBody(event: AlertEvent, routingKey: string): Readonly<Record<string, unknown>> {
  const { chainId, validator, title, reason, runbook } = event;
  return {
    routing_key: routingKey,
    event_action: event.kind === "resolved" ? "resolve" : "trigger",
    dedup_key: event.key,
    client: "relaywatch oracle watchdog",
    payload: {
      summary: clip(`${chainId} ${validator}: ${title}: ${reason}`, SUMMARY_LIMIT),
      severity: event.severity,
      timestamp: new Date(event.atMs).toISOString(),
      source: `${chainId}/${validator}`,
      component: "oracle",
      group: chainId,
      class: event.alert,
      custom_details: { text: eventText(event), cost: costText(event.cost), event_id: event.id },
    },
    ...(/^https?:/.test(runbook) ? { links: [{ href: runbook, text: "Runbook" }] } : {}),
  };
}
