import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import type { AlertEvent } from "../alert-event.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  MESSAGE_EVENTS,
  secretUrlField,
  toSettings,
} from "../channel.ts";
import { postAccepted } from "../http-post.ts";
import { alertMessage, clip, eventText } from "../message.ts";

/** Slack, by an incoming webhook. */
export interface SlackConfig extends ChannelSettings {
  readonly kind: "slack";
  readonly url: Secret;
}

/** Keys of a Slack channel. */
export const slackFields = z
  .strictObject({
    kind: z.literal("slack"),
    ...COMMON_FIELDS,
    url: secretUrlField().describe("URL of the incoming webhook; a secret"),
  })
  .transform((file): SlackConfig => ({ kind: "slack", ...toSettings(file), url: file.url }));

const COLORS = { critical: "#b00020", warning: "#b36b00", info: "#1f5fbf", resolved: "#1e7b34" } as const;

/** Longest text of one attachment that Slack shows without a fold is shorter; its limit for a text is 3,000. */
const TEXT_LIMIT = 2900;

export function createSlack(config: SlackConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MESSAGE_EVENTS,
    send: (events, signal) =>
      postAccepted(post, "Slack", { url: config.url.reveal(), body: slackBody(events), signal }),
  };
}

/** Encodes events as the body of an incoming webhook: the subject, and one coloured attachment for each event. */
function slackBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  return {
    text: escapeSlack(alertMessage(events).subject),
    attachments: events.map((event) => ({
      color: COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      text: escapeSlack(clip(eventText(event), TEXT_LIMIT)),
      fallback: escapeSlack(clip(eventText(event), 200)),
      ts: Math.floor(event.atMs / 1000),
      mrkdwn_in: [],
    })),
  };
}

/** Slack reads `&`, `<` and `>` as control characters: `<!channel>` in a text of another host would call everyone. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
