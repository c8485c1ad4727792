import { createHash } from "node:crypto";
import { unreachable } from "../../../platform/base/errors.ts";
import { type PostJson, postAccepted } from "../../notify/http-post.ts";
import type { ChannelConfig } from "../../notify/notify-config.ts";
import type { SendMail } from "../../notify/send-mail.ts";

/** A report as a message. */
export interface ReportMessage {
  /** Identifies the report: a repeated delivery has the same one. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

export interface SendDeps {
  readonly post: PostJson;
  readonly mail: SendMail;
}

/** Longest texts that the receivers take. */
const LIMITS = { discord: 1900, slack: 2900, telegram: 4000, webhook: 100_000, email: 100_000 } as const;

/**
 * Sends a report to a channel. Resolves when the receiver accepted it. Throws `ChannelError`; its message contains no
 * secret. A text that is too long is cut, which the message says.
 */
export async function sendReport(
  channel: ChannelConfig,
  report: ReportMessage,
  { post, mail }: SendDeps,
  signal: AbortSignal,
): Promise<void> {
  switch (channel.kind) {
    case "email": {
      const { from, to, server, deadlineMs } = channel;
      const messageId = `${hash(report.id)}@${from.slice(from.lastIndexOf("@") + 1)}`;
      const text = cut(report.text, LIMITS.email);
      const message = { from, to, subject: report.subject, text, messageId, threadId: messageId };
      return mail(server, message, { deadlineMs, signal });
    }
    case "slack": {
      // Slack reads `&`, `<` and `>` as control characters.
      const escaped = { ...report, subject: escapeSlack(report.subject), text: escapeSlack(report.text) };
      const text = inCode(escaped, LIMITS.slack);
      return postAccepted(post, "Slack", { url: channel.url.reveal(), body: { text }, signal });
    }
    case "discord": {
      const body = { content: inCode(report, LIMITS.discord), allowed_mentions: { parse: [] } };
      return postAccepted(post, "Discord", { url: channel.url.reveal(), body, signal });
    }
    case "telegram": {
      const url = `${channel.api}/bot${channel.botToken.reveal()}/sendMessage`;
      const text = cut(`${report.subject}\n\n${report.text}`, LIMITS.telegram);
      return postAccepted(post, "Telegram", { url, body: { chat_id: channel.chatId, text }, signal });
    }
    case "webhook": {
      const { url, authorization } = channel;
      const headers = {
        "idempotency-key": report.id,
        ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
      };
      const body = {
        version: 2,
        report: report.id,
        subject: report.subject,
        text: cut(report.text, LIMITS.webhook),
      };
      return postAccepted(post, "the webhook", { url: url.reveal(), headers, body, signal });
    }
    case "alertmanager":
    case "pagerduty":
      return unreachable("the configuration refuses reports to this channel");
  }
}

/** The text in a block of fixed width: tables need it. */
function inCode({ subject, text }: ReportMessage, limit: number): string {
  return `${subject}\n\`\`\`\n${cut(text.replaceAll("```", "'''"), limit - subject.length - 10)}\n\`\`\``;
}

function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const CUT = "\n… cut; relaywatch report prints all of it";

/** Cuts a text at a line that fits. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit - CUT.length);
  return `${head.slice(0, Math.max(0, head.lastIndexOf("\n")))}${CUT}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
