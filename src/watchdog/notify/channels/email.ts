import { createHash } from "node:crypto";
import { z } from "zod";
import { wellFormed } from "../../../platform/base/text.ts";
import { issueText, secretField } from "../../../platform/config/config-fields.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, toSettings } from "./channel.ts";
import { alertMessage, clip, cutLines, messageText, type ReportMessage } from "./message.ts";
import type { Mail, MailServer } from "./mail.ts";

/** An address without a display name. Line feeds are excluded because they would inject header lines. */
const address = z.string().regex(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,190}$/, {
  error: issueText("is not an e-mail address", "name@host"),
});

const SUBJECT_LIMIT = 200;
const TEXT_LIMIT = 20_000;
const REPORT_LIMIT = 100_000;

export const email = defineChannel({
  kind: "email",
  receiver: "the mail server",
  about: "e-mail, over SMTP",
  schema: z
    .strictObject({
      kind: z.literal("email"),
      ...COMMON_FIELDS,
      host: z
        .string()
        .regex(/^[A-Za-z0-9.:-]{1,253}$/, {
          error: issueText("is not a host", "a host name or an IP address"),
        })
        .describe("SMTP server"),
      port: z.int().min(1).max(65_535).default(587).describe("port of the SMTP server"),
      security: z
        .enum(["starttls", "tls", "none"])
        .default("starttls")
        .describe("encryption: starttls, tls (from the start, port 465), or none"),
      user: z.string().min(1).max(320).optional().describe("user name on the server"),
      password: secretField().optional().describe("password; a secret"),
      from: address.describe("sender"),
      to: z.array(address).min(1).max(50).describe("recipients"),
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      path: ["password"],
      error: issueText("must be set together with user", "both or neither"),
    })
    .transform(({ host, port, security, user, password, ...file }) => {
      const server: MailServer = { host, port, security, user, password };
      return { ...toSettings(file), server };
    }),
  example: {
    name: "mail",
    deadline: "30s",
    host: "mail.example",
    user: "watchdog",
    password: { env: "ORACLE_WATCHDOG_MAIL_PASSWORD" },
    from: "watchdog@validator.example",
    to: ["on-call@validator.example"],
  },
  maxEvents: MESSAGE_EVENTS,
  mails: { server: (config) => config, alert: alertMail, report: reportMail },
});

type Sender = Pick<Mail, "from">;

/** A repeated delivery has the same message id, so mail programs show it only once. Messages about an alert form a thread. */
function alertMail(events: readonly AlertEvent[], { from }: Sender, to: readonly string[]): Mail {
  const message = alertMessage(events);
  return {
    from,
    to,
    subject: clip(wellFormed(message.subject), SUBJECT_LIMIT),
    text: wellFormed(messageText(message, TEXT_LIMIT)),
    messageId: mailId(events.map(({ id }) => id).join("\n"), from),
    threadId: mailId(events[0]?.key ?? "", from),
  };
}

function reportMail({ id, subject, text }: ReportMessage, { from }: Sender, to: readonly string[]): Mail {
  const messageId = mailId(id, from);
  return { from, to, subject, text: cutLines(text, REPORT_LIMIT), messageId, threadId: messageId };
}

/** Derives a message id from a text and the sender's host. */
function mailId(text: string, from: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return `${hash}@${from.slice(from.lastIndexOf("@") + 1)}`;
}
