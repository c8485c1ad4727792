import { createTransport } from "nodemailer";
import { onAbort } from "../../platform/base/abort.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { ChannelError, safeText } from "./http-post.ts";

/** An SMTP server and its account. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** "tls": TLS from the start. "starttls": the connection must be upgraded. "none": no encryption. */
  readonly security: "tls" | "starttls" | "none";
  readonly user?: string;
  readonly password?: Secret;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Without angle brackets. The same for a repeated delivery. */
  readonly messageId: string;
  /** Id of the thread's first message, without angle brackets. */
  readonly threadId: string;
}

/** Sends an e-mail. Resolves when the server accepted it for every recipient. */
export type SendMail = (
  server: MailServer,
  mail: Mail,
  options: { readonly deadlineMs: number; readonly signal: AbortSignal },
) => Promise<void>;

/** Longest wait for the greeting and for each reply; the deadline of the channel ends the whole delivery. */
const MAX_STEP_MS = 30_000;

/** SMTP replies that refuse the content for good, not the connection or the account. */
const CONTENT_REFUSED: ReadonlySet<number> = new Set([552, 554]);

/** A {@link SendMail} over SMTP. One connection for each e-mail: alerts are rare. */
export const sendSmtp: SendMail = async (server, mail, { deadlineMs, signal }) => {
  const stepMs = Math.min(deadlineMs, MAX_STEP_MS);
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === "tls",
    requireTLS: server.security === "starttls",
    ignoreTLS: server.security === "none",
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    // A text of an alert must never read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(server.user === undefined
      ? {}
      : { auth: { user: server.user, pass: server.password?.reveal() ?? "" } }),
  });
  const unwatch = onAbort(signal, () => transport.close());
  try {
    const { rejected } = await transport.sendMail({
      from: mail.from,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.messageId}>`,
      references: `<${mail.threadId}>`,
    });
    if (rejected.length > 0) throw notSent(`the mail server refused ${rejected.length} of the recipients`);
  } catch (error) {
    throw error instanceof ChannelError ? error : toChannelError(error);
  } finally {
    unwatch();
    transport.close();
  }
};

function toChannelError(error: unknown): ChannelError {
  const reply = error instanceof Error && "responseCode" in error ? error.responseCode : undefined;
  if (typeof reply === "number" && CONTENT_REFUSED.has(reply))
    return new ChannelError({ code: "rejected", status: reply }, `the mail server replied ${reply}`);
  // The text of a reply can repeat the user name, so only the code is shown.
  return notSent(typeof reply === "number" ? `the mail server replied ${reply}` : safeText(error));
}

function notSent(reason: string): ChannelError {
  return new ChannelError({ code: "not-sent", reason }, `e-mail not sent: ${reason}`);
}
