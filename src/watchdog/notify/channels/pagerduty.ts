import { z } from "zod";
import { httpUrlField, secretField } from "../../../platform/config/config-fields.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { COMMON_FIELDS, defineChannel, severityField, toSettings } from "./channel.ts";
import { clip, eventText, linksOf } from "./message.ts";

const SUMMARY_LIMIT = 1024;

export const pagerduty = defineChannel({
  kind: "pagerduty",
  receiver: "PagerDuty",
  about: "PagerDuty, through the Events API version 2",
  schema: z
    .strictObject({
      kind: z.literal("pagerduty"),
      ...COMMON_FIELDS,
      // PagerDuty repeats and escalates on its own.
      reminders: z.boolean().default(false).describe("send reminders; PagerDuty escalates on its own"),
      min_severity: severityField("critical"),
      routing_key: secretField().describe("the service's integration key; a secret"),
      url: httpUrlField()
        .prefault("https://events.pagerduty.com/v2/enqueue")
        .describe("URL of the Events API"),
    })
    .transform(({ routing_key: routingKey, ...file }) => ({ ...toSettings(file), routingKey })),
  example: { name: "on-call", routing_key: { env: "ORACLE_WATCHDOG_PAGERDUTY_KEY" } },
  maxEvents: 1,
  words: { gone: /routing[ _]key|integration key|service (?:is )?(?:disabled|not found|deleted)/i },
  alert: (events, { url, routingKey }) =>
    events.map((event) => ({ url, body: pagerdutyBody(event, routingKey.reveal()) })),
});

/** Encodes an event. The alert's key is the `dedup_key`, so two watchdogs for the same validator open a single incident. */
function pagerdutyBody(event: AlertEvent, routingKey: string): Readonly<Record<string, unknown>> {
  const { chainId, validator, title, reason } = event;
  const links = linksOf(event).filter(({ href }) => /^https?:/.test(href));
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
      custom_details: { text: eventText(event), event_id: event.id },
    },
    ...(links.length === 0 ? {} : { links }),
  };
}
