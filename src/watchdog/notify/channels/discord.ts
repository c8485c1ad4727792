import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  secretUrlField,
  toSettings,
} from "../channel.ts";
import type { AlertEvent } from "../alert-event.ts";
import { postAccepted } from "../http-post.ts";
import { alertMessage, clip, eventText } from "../message.ts";

/** Discord, by a webhook of a text channel. */
export interface DiscordConfig extends ChannelSettings {
  readonly kind: "discord";
  readonly url: Secret;
}

/** Keys of a Discord channel. */
export const discordFields = z
  .strictObject({
    kind: z.literal("discord"),
    ...COMMON_FIELDS,
    url: secretUrlField().describe("URL of the webhook; a secret"),
  })
  .transform((file): DiscordConfig => ({ kind: "discord", ...toSettings(file), url: file.url }));

const COLORS = { critical: 0xb00020, warning: 0xb36b00, info: 0x1f5fbf, resolved: 0x1e7b34 } as const;

/** Discord allows ten embeds of together 6,000 characters; five of at most 1,000 characters stay below. */
const MAX_EMBEDS = 5;
const EMBED_LIMIT = 1000;
const CONTENT_LIMIT = 2000;

export function createDiscord(config: DiscordConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MAX_EMBEDS,
    send: (events, signal) =>
      postAccepted(post, "Discord", { url: config.url.reveal(), body: discordBody(events), signal }),
  };
}

/** Encodes events as the body of a webhook: the subject, and one coloured embed for each event. */
function discordBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  return {
    content: clip(alertMessage(events).subject, CONTENT_LIMIT),
    embeds: events.map((event) => ({
      color: COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      description: clip(eventText(event), EMBED_LIMIT),
      timestamp: new Date(event.atMs).toISOString(),
    })),
    // Texts of other hosts must not call people: "@everyone" stays text.
    allowed_mentions: { parse: [] },
  };
}
