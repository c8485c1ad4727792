import { createHash } from "node:crypto";
import { z } from "zod";
import { issueText, secretField } from "../../../platform/config/config-fields.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  MESSAGE_EVENTS,
  toSettings,
} from "../channel.ts";
import type { AlertEvent } from "../alert-event.ts";
import { alertMessage, clip, messageText } from "../message.ts";
import type { Mail, MailServer } from "../send-mail.ts";

/** E-mail by SMTP. */
export interface EmailConfig extends ChannelSettings {
  readonly kind: "email";
  readonly server: MailServer;
  readonly from: string;
  readonly to: readonly string[];
}

/** An address without a display name. Line feeds are excluded: they would add header lines. */
const address = z.string().regex(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,190}$/, {
  error: issueText("is not an e-mail address", "name@host"),
});

/** Keys of an e-mail channel. */
export const emailFields = z
  .strictObject({
    kind: z.literal("email"),
    ...COMMON_FIELDS,
    host: z
      .string()
      .regex(/^[A-Za-z0-9.:-]{1,253}$/, { error: issueText("is not a host", "a host name or an IP address") })
      .describe("SMTP server"),
    port: z.int().min(1).max(65_535).default(587).describe("port of the SMTP server"),
    security: z
      .enum(["starttls", "tls", "none"])
      .default("starttls")
      .describe("tls: encrypted from the start (port 465); none: not encrypted"),
    user: z.string().min(1).max(320).optional().describe("account on the server"),
    password: secretField().optional().describe("password of the account; a secret"),
    from: address.describe("sender"),
    to: z.array(address).min(1).max(50).describe("recipients"),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ["password"],
    error: issueText("does not fit to user", "both or neither"),
  })
  .transform(
    (file): EmailConfig => ({
      kind: "email",
      ...toSettings(file),
      server: {
        host: file.host,
        port: file.port,
        security: file.security,
        ...(file.user === undefined ? {} : { user: file.user }),
        ...(file.password === undefined ? {} : { password: file.password }),
      },
      from: file.from,
      to: file.to,
    }),
  );

const SUBJECT_LIMIT = 200;
const TEXT_LIMIT = 20_000;

export function createEmail(config: EmailConfig, { mail }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MESSAGE_EVENTS,
    send: (events, signal) =>
      mail(config.server, toMail(events, config), { deadlineMs: config.deadlineMs, signal }),
  };
}

/** A repeated delivery has the same message id, so that mail programs show it once. Messages of one alert are a thread. */
function toMail(events: readonly AlertEvent[], { from, to }: EmailConfig): Mail {
  const message = alertMessage(events);
  const host = from.slice(from.lastIndexOf("@") + 1);
  return {
    from,
    to,
    subject: clip(message.subject, SUBJECT_LIMIT),
    text: messageText(message, TEXT_LIMIT),
    messageId: `${hash(events.map(({ id }) => id).join("\n"))}@${host}`,
    threadId: `${hash(events[0]?.key ?? "")}@${host}`,
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
