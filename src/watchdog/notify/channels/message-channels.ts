import { z } from "zod";
import { isoTime } from "../../../platform/base/time.ts";
import { costView } from "../../policy/cost-text.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, secretUrlField, toSettings } from "./channel.ts";
import { alertMessage, clip, cutLines, messageText, reportBlock } from "./message.ts";
import { isRecord, parseJson } from "../../../platform/base/json.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import {
  checkedSecretField,
  httpUrlField,
  issueText,
  secretField,
} from "../../../platform/config/config-fields.ts";

const SLACK_COLORS = {
  critical: "#b00020",
  warning: "#b36b00",
  info: "#1f5fbf",
  resolved: "#1e7b34",
} as const;

/** Slack refuses texts longer than 3,000 characters. */
const SLACK_LIMIT = 2900;

export const slack = defineChannel({
  kind: "slack",
  receiver: "Slack",
  about: "Slack, through an incoming webhook",
  schema: z
    .strictObject({
      kind: z.literal("slack"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("the incoming webhook's URL (a secret)"),
    })
    .transform(toSettings),
  example: { name: "slack", url: { env: "ORACLE_WATCHDOG_SLACK_URL" } },
  maxEvents: MESSAGE_EVENTS,
  words: {
    gone: /\b(?:no_service|no_service_id|no_team|no_active_hooks|team_disabled|invalid_token|channel_not_found|channel_is_archived|user_not_found|action_prohibited|posting_to_general_channel_denied)\b/,
    rejected: /\b(?:invalid_payload|invalid_blocks|no_text|too_many_attachments|msg_too_long)\b/,
  },
  alert: (events, { url }) => [{ url: url.reveal(), body: slackBody(events) }],
  report: (report, { url }) => {
    const escaped = { ...report, subject: escapeSlack(report.subject), text: escapeSlack(report.text) };
    return { url: url.reveal(), body: { text: reportBlock(escaped, SLACK_LIMIT) } };
  },
});

/** Encodes events as the body of an incoming webhook's request, with the subject and one coloured attachment per event. */
function slackBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  const { subject, paragraphs } = alertMessage(events);
  return {
    text: escapeSlack(subject),
    attachments: events.map((event, index) => ({
      color: SLACK_COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      text: escapeSlack(clip(paragraphs[index] ?? "", SLACK_LIMIT)),
      fallback: escapeSlack(clip(paragraphs[index] ?? "", 200)),
      ts: Math.floor(event.atMs / 1000),
      mrkdwn_in: [],
    })),
  };
}

/** Escapes `&`, `<` and `>`, which Slack uses for markup. Unescaped text from other hosts could ping everyone with `<!channel>`. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const DISCORD_COLORS = { critical: 0xb00020, warning: 0xb36b00, info: 0x1f5fbf, resolved: 0x1e7b34 } as const;

/** Discord allows ten embeds with 6,000 characters in total. Five embeds of at most 1,000 characters stay below this limit. */
const MAX_EMBEDS = 5;
const EMBED_LIMIT = 1000;
const CONTENT_LIMIT = 2000;
const DISCORD_REPORT_LIMIT = 1900;

/** Makes Discord treat mentions such as "@everyone" as plain text, because text from other hosts must not ping people. */
const NO_MENTIONS = { parse: [] };

export const discord = defineChannel({
  kind: "discord",
  receiver: "Discord",
  about: "Discord, through a text channel's webhook",
  schema: z
    .strictObject({
      kind: z.literal("discord"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("the webhook's URL (a secret)"),
    })
    .transform(toSettings),
  example: { name: "discord", url: { env: "ORACLE_WATCHDOG_DISCORD_URL" } },
  maxEvents: MAX_EMBEDS,
  // Discord sends these replies if the webhook or channel no longer exists, or if the token is wrong.
  words: { gone: /Unknown (?:Webhook|Channel|Guild)|Invalid Webhook Token/i },
  alert: (events, { url }) => [{ url: url.reveal(), body: discordBody(events) }],
  report: (report, { url }) => ({
    url: url.reveal(),
    body: { content: reportBlock(report, DISCORD_REPORT_LIMIT), allowed_mentions: NO_MENTIONS },
  }),
});

/** Encodes events as a webhook body with the subject and one coloured embed per event. */
function discordBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  const { subject, paragraphs } = alertMessage(events);
  return {
    content: clip(subject, CONTENT_LIMIT),
    embeds: events.map((event, index) => ({
      color: DISCORD_COLORS[event.kind === "resolved" ? "resolved" : event.severity],
      description: clip(paragraphs[index] ?? "", EMBED_LIMIT),
      timestamp: new Date(event.atMs).toISOString(),
    })),
    allowed_mentions: NO_MENTIONS,
  };
}

/** Telegram refuses texts longer than 4,096 characters. */
const TELEGRAM_LIMIT = 4096;
const TELEGRAM_REPORT_LIMIT = 4000;

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
      ).describe("the bot's token (a secret)"),
      chat_id: z
        .string()
        .regex(/^(?:-?\d{1,20}|@\w{1,64})$/, {
          error: issueText("is not a chat id", 'a number in quotes, e.g. "-1001234", or "@name"'),
        })
        .describe('the chat that receives the messages: a number in quotes, or "@name"'),
      api: httpUrlField().prefault("https://api.telegram.org").describe("the API's root URL"),
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
  // A Telegram group gets a new id when it becomes a supergroup.
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
  // Don't set `parse_mode`, so that text from other hosts is not parsed as markup.
  alert: (events, config) => [
    {
      url: sendMessageUrl(config),
      body: {
        chat_id: config.chatId,
        text: messageText(alertMessage(events), TELEGRAM_LIMIT),
        disable_web_page_preview: true,
      },
    },
  ],
  report: ({ subject, text }, config) => ({
    url: sendMessageUrl(config),
    body: { chat_id: config.chatId, text: cutLines(`${subject}\n\n${text}`, TELEGRAM_REPORT_LIMIT) },
  }),
});

function sendMessageUrl({ api, botToken }: { readonly api: string; readonly botToken: Secret }): string {
  return `${api}/bot${botToken.reveal()}/sendMessage`;
}

/** Discord, which accepts the webhook's JSON, refuses `content` longer than 2,000 characters. */
const WEBHOOK_LIMIT = 2000;
const WEBHOOK_REPORT_LIMIT = 100_000;

/** The channel for generic webhooks. The JSON body has all fields, including `content` and `text`, which Discord and Slack show. */
export const webhook = defineChannel({
  kind: "webhook",
  receiver: "the webhook",
  about: "any JSON receiver",
  schema: z
    .strictObject({
      kind: z.literal("webhook"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("the URL (a secret) to which JSON is posted"),
      authorization: secretField().optional().describe("the Authorization header (a secret)"),
    })
    .transform(toSettings),
  example: {
    name: "webhook",
    url: { env: "ORACLE_WATCHDOG_WEBHOOK_URL" },
    authorization: { env: "ORACLE_WATCHDOG_WEBHOOK_AUTHORIZATION" },
  },
  maxEvents: MESSAGE_EVENTS,
  alert: (events, config) => {
    const text = messageText(alertMessage(events), WEBHOOK_LIMIT);
    const body = { version: 2, alerts: events.map(eventJson), content: text, text };
    // Use the newest event's id, so that a retry with additional events has a different id than the failed delivery.
    return [{ ...endpoint(config, events.at(-1)?.id ?? ""), body }];
  },
  report: ({ id, subject, text }, config) => ({
    ...endpoint(config, id),
    body: { version: 2, report: id, subject, text: cutLines(text, WEBHOOK_REPORT_LIMIT) },
  }),
});

function endpoint(
  { url, authorization }: { readonly url: Secret; readonly authorization?: Secret | undefined },
  idempotencyKey: string,
) {
  const headers = {
    "idempotency-key": idempotencyKey,
    ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
  };
  return { url: url.reveal(), headers };
}

/** Encodes one event for the webhook's `alerts` list. Times are in ISO 8601, and block counts are strings. */
function eventJson(event: AlertEvent): Readonly<Record<string, unknown>> {
  return {
    id: event.id,
    key: event.key,
    alert: event.alert,
    kind: event.kind,
    severity: event.severity,
    chain_id: event.chainId,
    validator: event.validator,
    title: event.title,
    since: isoTime(event.sinceMs),
    at: isoTime(event.atMs),
    reason: event.reason,
    description: event.description,
    action: event.action,
    impact: event.impact,
    runbook: event.runbook,
    dashboard: event.dashboard ?? null,
    page: event.page ?? null,
    cost: event.cost === undefined ? null : costView.json(event.cost),
  };
}
