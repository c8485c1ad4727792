import { onAbort } from "../../../platform/base/abort.ts";
import { isRecord } from "../../../platform/base/json.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { cutText } from "../../../platform/base/text.ts";
import { type NetworkOptions, trustedCertificates } from "../../../platform/http/remote.ts";
import { ChannelError, MAX_WORDS, safeText, withoutSecrets, wordsOf } from "./transport.ts";

/** An SMTP server and the account to use. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** "tls" encrypts from the start, "starttls" requires the connection to be upgraded, and "none" does not encrypt. */
  readonly security: "tls" | "starttls" | "none";
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The message id, without angle brackets. Repeated deliveries have the same id. */
  readonly messageId: string;
  /** Id of the first message in the thread, without angle brackets. */
  readonly threadId: string;
}

interface MailOptions {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

interface RefusedRecipient {
  readonly address: string;
  /** SMTP reply code, or 0 if the server sent no code. */
  readonly status: number;
  readonly words: string;
}

/** Sends an e-mail. Resolves with the rejected recipients, which is an empty list if the server accepted all recipients. */
export type SendMail = (
  server: MailServer,
  mail: Mail,
  options: MailOptions,
) => Promise<readonly RefusedRecipient[] | void>;

/** Maximum number of accepted items stored per recipient. An outbox contains fewer items. */
const MAX_ACCEPTED = 500;

/** SMTP replies that reject the content because it is too large or refused by a filter. */
const SMTP_REJECTIONS: ReadonlySet<number> = new Set([552, 554]);

/**
 * Returns a function that e-mails items to all recipients, and rejects with {@link ChannelError} if any recipient is refused. A
 * repeated call sends no recipient the same item twice. For each group of recipients that lack the same items, `mailOf` composes an
 * e-mail with these items.
 */
export function createMailing<Item extends { readonly id: string }>(
  { server, to: all }: { readonly server: MailServer; readonly to: readonly string[] },
  mailOf: (items: readonly Item[], to: readonly string[]) => Mail,
  mail: SendMail,
): (items: readonly Item[], options: MailOptions) => Promise<void> {
  /** The ids of items that a recipient has accepted while other recipients have not, by recipient. */
  const accepted = new Map<string, Set<string>>(all.map((address) => [address, new Set()]));
  return async (items, options) => {
    const groups = new Map<string, { readonly open: readonly Item[]; readonly to: string[] }>();
    for (const address of all) {
      const open = items.filter(({ id }) => accepted.get(address)?.has(id) !== true);
      if (open.length === 0) continue;
      const key = open.map(({ id }) => id).join("\n");
      const group = groups.get(key) ?? { open, to: [] };
      groups.set(key, group);
      group.to.push(address);
    }
    const refused: RefusedRecipient[] = [];
    for (const { open, to } of groups.values()) {
      const own = (await mail(server, mailOf(open, to), options)) ?? [];
      refused.push(...own);
      for (const address of to)
        if (!own.some((one) => one.address === address))
          for (const { id } of open) accepted.get(address)?.add(id);
    }
    for (const ids of accepted.values())
      if (refused.length === 0) for (const { id } of items) ids.delete(id);
      else for (const id of [...ids].slice(0, -MAX_ACCEPTED)) ids.delete(id);
    if (refused.length > 0) throw refusedRecipients(refused, all.length);
  };
}

/**
 * Creates the error for recipients that the server refused. The error allows a retry if the server may accept a refused recipient
 * later. A retry is sent only to recipients who have not received the mail yet.
 */
function refusedRecipients(refused: readonly RefusedRecipient[], count: number): ChannelError {
  const list = refused.map(({ address, words }) => `${address} (${words})`).join(", ");
  const others = refused.length < count ? "; the other recipients received it" : "";
  const text = cutText(`the mail server refused ${list}`, MAX_WORDS) + others;
  const [later] = refused.filter(({ status }) => status < 500);
  const status = (later ?? refused[0])?.status ?? 0;
  return new ChannelError(later === undefined ? { code: "gone", status } : { code: "refused", status }, text);
}

/** Maximum time to wait for the SMTP server's greeting and for each reply. The channel's deadline limits the whole delivery. */
const MAX_STEP_MS = 30_000;

/** Creates a {@link SendMail} that uses SMTP. Each e-mail has its own connection, because alerts are rare. */
export function createSendMail(network: NetworkOptions = {}): SendMail {
  const ca = trustedCertificates(network);
  return (server, mail, options) => sendSmtp(server, mail, options, ca);
}

async function sendSmtp(
  server: MailServer,
  mail: Mail,
  { deadlineMs, signal }: MailOptions,
  ca: readonly string[] | undefined,
): ReturnType<SendMail> {
  const stepMs = Math.min(deadlineMs, MAX_STEP_MS);
  // Import the library on demand, because the import is slow and few watchdogs send e-mail.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === "tls",
    requireTLS: server.security === "starttls",
    ignoreTLS: server.security === "none",
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    // Prevent the library from reading files or URLs that an alert's text might name.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca: [...ca] } }),
    ...(server.user === undefined
      ? {}
      : { auth: { user: server.user, pass: server.password?.reveal() ?? "" } }),
  });
  const unwatch = onAbort(signal, () => transport.close());
  try {
    const { rejected, rejectedErrors } = await transport.sendMail({
      from: mail.from,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.messageId}>`,
      references: `<${mail.threadId}>`,
    });
    return toRefused(rejected, rejectedErrors, server);
  } catch (error) {
    const { rejected, rejectedErrors } = isRecord(error) ? error : {};
    // The library throws if no recipient was accepted.
    if (Array.isArray(rejectedErrors) && Array.isArray(rejected))
      return toRefused(rejected, rejectedErrors, server);
    throw toChannelError(error, server);
  } finally {
    unwatch();
    transport.close();
  }
}

function toRefused(
  rejected: readonly unknown[],
  errors: readonly unknown[] | undefined,
  server: MailServer,
): readonly RefusedRecipient[] {
  return rejected.map((address, index) => {
    const { status, words } = smtpReply(errors?.[index], server);
    return { address: String(address), status, words: words === "" ? "no reason given" : words };
  });
}

function toChannelError(error: unknown, server: MailServer): ChannelError {
  const { status, words } = smtpReply(error, server);
  if (SMTP_REJECTIONS.has(status))
    return new ChannelError({ code: "rejected", status }, `the mail server replied ${words}`);
  const reason = status === 0 ? safeText(error) : `the mail server replied ${words}`;
  return new ChannelError({ code: "not-sent", reason }, `e-mail not sent: ${reason}`);
}

/** Returns an SMTP reply's code and text. The account's name and password are redacted. */
function smtpReply(
  error: unknown,
  { user = "", password }: MailServer,
): { readonly status: number; readonly words: string } {
  const { responseCode, response } = isRecord(error) ? error : {};
  const status = typeof responseCode === "number" ? responseCode : 0;
  const text = typeof response === "string" ? response : `${status === 0 ? "" : status}`;
  const secrets = [user, password?.reveal() ?? ""].flatMap((one) => [
    one,
    Buffer.from(one).toString("base64"),
  ]);
  return { status, words: withoutSecrets(wordsOf(text), secrets) };
}
