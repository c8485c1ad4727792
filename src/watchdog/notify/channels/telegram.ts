import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import { httpUrlField, issueText, secretField } from "../../../platform/config/config-fields.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  MESSAGE_EVENTS,
  toSettings,
} from "../channel.ts";
import { postAccepted } from "../http-post.ts";
import { alertMessage, messageText } from "../message.ts";

/** Telegram, by the HTTP API for bots. */
export interface TelegramConfig extends ChannelSettings {
  readonly kind: "telegram";
  readonly botToken: Secret;
  /** Number of a chat, or "@name" of a public one. */
  readonly chatId: string;
  /** Root of the API, without a slash at the end. */
  readonly api: string;
}

/** Keys of a Telegram channel. */
export const telegramFields = z
  .strictObject({
    kind: z.literal("telegram"),
    ...COMMON_FIELDS,
    bot_token: secretField()
      .refine((token) => /^\d{1,20}:[\w-]{10,100}$/.test(token.reveal()), {
        error: issueText("does not hold a bot token", "digits, a colon, and letters"),
      })
      .describe("token of the bot; a secret"),
    chat_id: z
      .string()
      .regex(/^(?:-?\d{1,20}|@\w{1,64})$/, {
        error: issueText("is not a chat", 'a number in quotes, such as "-1001234", or "@name"'),
      })
      .describe("chat that receives the messages"),
    api: httpUrlField().prefault("https://api.telegram.org").describe("root of the API"),
  })
  .transform(
    (file): TelegramConfig => ({
      kind: "telegram",
      ...toSettings(file),
      botToken: file.bot_token,
      chatId: file.chat_id,
      api: file.api.replace(/\/$/, ""),
    }),
  );

/** Telegram refuses texts of more than 4,096 characters. */
const TEXT_LIMIT = 4096;

export function createTelegram(config: TelegramConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MESSAGE_EVENTS,
    send: (events, signal) =>
      postAccepted(post, "Telegram", {
        url: `${config.api}/bot${config.botToken.reveal()}/sendMessage`,
        // Without `parse_mode` the text is plain: characters of other hosts are not read as markup.
        body: {
          chat_id: config.chatId,
          text: messageText(alertMessage(events), TEXT_LIMIT),
          disable_web_page_preview: true,
        },
        signal,
      }),
  };
}
