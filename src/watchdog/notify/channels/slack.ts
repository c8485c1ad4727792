import { z } from "zod";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, secretUrlField, toSettings } from "./channel.ts";
import { alertMessage, clip, reportBlock } from "./message.ts";

const COLORS = { critical: "#b00020", warning: "#b36b00", info: "#1f5fbf", resolved: "#1e7b34" } as const;

/** Slack refuses texts longer than 3,000 characters. */
const TEXT_LIMIT = 2900;

export const slack = defineChannel({
  kind: "slack",
  receiver: "Slack",
  about: "Slack, through an incoming webhook",
  schema: z
    .strictObject({
      kind: z.literal("slack"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("incoming webhook URL; a secret"),
    })
    .transform(toSettings),
  example: { name: "slack", url: { env: "ORACLE_WATCHDOG_SLACK_URL" } },
  maxEvents: MESSAGE_EVENTS,
  words: {
    gone: /\b(?:no_service|no_service_id|no_team|no_active_hooks|team_disabled|invalid_token|channel_not_found|channel_is_archived|user_not_found|action_prohibited|posting_to_general_channel_denied)\b/,
    rejected: /\b(?:invalid_payload|invalid_blocks|no_text|too_many_attachments|msg_too_long)\b/,
  },
  alert: (events, { url }) => [{ url: url.reveal(), body: alertBody(events) }],
  report: (report, { url }) => {
    const escaped = { ...report, subject: escapeSlack(report.subject), text: escapeSlack(report.text) };
    return { url: url.reveal(), body: { text: reportBlock(escaped, TEXT_LIMIT) } };
  },
});

/** Encodes events as the body for an incoming webhook, with the subject and one coloured attachment per event. */
function alertBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  const { subject, paragraphs } = alertMessage(events);
  return {
    text: escapeSlack(subject),
    attachments: events.map((event, index) => ({
      color: COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      text: escapeSlack(clip(paragraphs[index] ?? "", TEXT_LIMIT)),
      fallback: escapeSlack(clip(paragraphs[index] ?? "", 200)),
      ts: Math.floor(event.atMs / 1000),
      mrkdwn_in: [],
    })),
  };
}

/** Escapes `&`, `<` and `>`, which control Slack's formatting: `<!channel>` in text from other hosts would ping everyone. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
