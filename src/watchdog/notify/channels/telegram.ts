import { z } from "zod";
import { isRecord, parseJson } from "../../../platform/base/json.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { checkedSecretField, httpUrlField, issueText } from "../../../platform/config/config-fields.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, toSettings } from "./channel.ts";
import { alertMessage, cutLines, messageText } from "./message.ts";

/** Telegram refuses texts longer than 4,096 characters. */
const TEXT_LIMIT = 4096;
const REPORT_LIMIT = 4000;

export const telegram = defineChannel({
  kind: "telegram",
  receiver: "Telegram",
  about: "Telegram, through the HTTP API for bots",
  schema: z
    .strictObject({
      kind: z.literal("telegram"),
      ...COMMON_FIELDS,
      bot_token: checkedSecretField(
        (token) => /^\d{1,20}:[\w-]{10,100}$/.test(token),
        issueText("does not contain a bot token", "digits, a colon, and letters"),
      ).describe("bot token; a secret"),
      chat_id: z
        .string()
        .regex(/^(?:-?\d{1,20}|@\w{1,64})$/, {
          error: issueText("is not a chat id", 'a number in quotes, e.g. "-1001234", or "@name"'),
        })
        .describe('chat that receives the messages: a number in quotes, or "@name"'),
      api: httpUrlField().prefault("https://api.telegram.org").describe("root URL of the API"),
    })
    .transform(({ bot_token: botToken, chat_id: chatId, api, ...file }) => ({
      ...toSettings(file),
      botToken,
      chatId,
      api: api.replace(/\/$/, ""),
    })),
  example: {
    name: "telegram",
    bot_token: { env: "ORACLE_WATCHDOG_TELEGRAM_TOKEN" },
    chat_id: "-1001234567890",
  },
  maxEvents: MESSAGE_EVENTS,
  words: {
    gone: /^(?:401|404) |chat not found|bot was (?:kicked|blocked)|bot is not a member|bot can't initiate|user is deactivated|group chat was (?:deactivated|deleted)|chat was deleted|have no rights|not enough rights|need administrator rights|CHAT_WRITE_FORBIDDEN|PEER_ID_INVALID|TOPIC_(?:CLOSED|DELETED)/i,
  },
  // A group that became a supergroup has a new id.
  moves: {
    idOf: ({ chatId }) => chatId,
    withId: (config, chatId) => ({ ...config, chatId }),
    newId: ({ text = "" }) => {
      const body = parseJson(text);
      const parameters = isRecord(body) ? body["parameters"] : undefined;
      const chatId = isRecord(parameters) ? String(parameters["migrate_to_chat_id"]) : "";
      return /^-?\d{1,20}$/.test(chatId) ? chatId : undefined;
    },
    advice: (chatId) => `the chat is now a supergroup; set chat_id: "${chatId}"`,
  },
  // Without `parse_mode`, the text is plain: characters from other hosts are not parsed as markup.
  alert: (events, config) => [
    {
      url: sendMessageUrl(config),
      body: {
        chat_id: config.chatId,
        text: messageText(alertMessage(events), TEXT_LIMIT),
        disable_web_page_preview: true,
      },
    },
  ],
  report: ({ subject, text }, config) => ({
    url: sendMessageUrl(config),
    body: { chat_id: config.chatId, text: cutLines(`${subject}\n\n${text}`, REPORT_LIMIT) },
  }),
});

function sendMessageUrl({ api, botToken }: { readonly api: string; readonly botToken: Secret }): string {
  return `${api}/bot${botToken.reveal()}/sendMessage`;
}
