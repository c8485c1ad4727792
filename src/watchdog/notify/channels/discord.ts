import { z } from "zod";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { COMMON_FIELDS, defineChannel, secretUrlField, toSettings } from "./channel.ts";
import { alertMessage, clip, reportBlock } from "./message.ts";

const COLORS = { critical: 0xb00020, warning: 0xb36b00, info: 0x1f5fbf, resolved: 0x1e7b34 } as const;

/** Discord allows ten embeds with 6,000 characters in total; five with at most 1,000 characters each stay below the limit. */
const MAX_EMBEDS = 5;
const EMBED_LIMIT = 1000;
const CONTENT_LIMIT = 2000;
const REPORT_LIMIT = 1900;

/** Text from other hosts must not ping people, so "@everyone" stays plain text. */
const NO_MENTIONS = { parse: [] };

export const discord = defineChannel({
  kind: "discord",
  receiver: "Discord",
  about: "Discord, through a text channel's webhook",
  schema: z
    .strictObject({
      kind: z.literal("discord"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("webhook URL; a secret"),
    })
    .transform(toSettings),
  example: { name: "discord", url: { env: "ORACLE_WATCHDOG_DISCORD_URL" } },
  maxEvents: MAX_EMBEDS,
  // A deleted webhook, a webhook with another token, and a nonexistent channel.
  words: { gone: /Unknown (?:Webhook|Channel|Guild)|Invalid Webhook Token/i },
  alert: (events, { url }) => [{ url: url.reveal(), body: alertBody(events) }],
  report: (report, { url }) => ({
    url: url.reveal(),
    body: { content: reportBlock(report, REPORT_LIMIT), allowed_mentions: NO_MENTIONS },
  }),
});

/** Encodes events as a webhook body with the subject and one coloured embed per event. */
function alertBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  const { subject, paragraphs } = alertMessage(events);
  return {
    content: clip(subject, CONTENT_LIMIT),
    embeds: events.map((event, index) => ({
      color: COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      description: clip(paragraphs[index] ?? "", EMBED_LIMIT),
      timestamp: new Date(event.atMs).toISOString(),
    })),
    allowed_mentions: NO_MENTIONS,
  };
}
