import { request } from "undici";
import { HOUR_MS } from "../../../platform/base/time.ts";
import { onAbort } from "../../../platform/base/abort.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import type { Secret } from "../../../platform/base/secret.ts";

/** A POST of JSON. The URL and the headers can be secret: an error must not contain them. */
export interface JsonPost {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** The response of a receiver. */
interface PostReply {
  readonly status: number;
  /** Time that the receiver asked to wait for (`Retry-After`), ms. */
  readonly retryAfterMs?: number;
}

/** Sends a POST. Rejects when there is no response. */
export type PostJson = (post: JsonPost) => Promise<PostReply>;

/** Why a receiver did not accept a notification. */
export type ChannelErrorFacts =
  | { readonly code: "refused"; readonly status: number; readonly retryAfterMs?: number }
  /** The receiver cannot accept this content; another attempt with it is useless. */
  | { readonly code: "rejected"; readonly status: number }
  | { readonly code: "not-sent"; readonly reason: string };

/** Thrown when a notification was not accepted. The message contains no secret. */
export class ChannelError extends CodedError<ChannelErrorFacts> {}

/** HTTP statuses that reject the content: bad request, too large, not processable. */
export const HTTP_REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Sends a POST and throws {@link ChannelError} unless the status is 2xx. `receiver` begins the error text. */
export async function postAccepted(
  post: PostJson,
  receiver: string,
  call: JsonPost,
  rejections: ReadonlySet<number> = HTTP_REJECTIONS,
): Promise<void> {
  const { status, retryAfterMs } = await post(call).catch((error: unknown) => {
    if (call.signal.aborted) throw error;
    throw new ChannelError({ code: "not-sent", reason: safeText(error) }, `${receiver}: ${safeText(error)}`);
  });
  if (status >= 200 && status < 300) return;
  const text = `${receiver} answered HTTP ${status}`;
  if (rejections.has(status)) throw new ChannelError({ code: "rejected", status }, text);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  throw new ChannelError({ code: "refused", status, ...wait }, text);
}

/** A {@link PostJson} over HTTP. */
export const postJson: PostJson = async ({ url, headers, body, signal }) => {
  const response = await request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
  // Only the status matters. The body is read to the end, within a limit, so that the connection can be used again.
  await response.body.dump({ limit: 65_536, signal });
  const retryAfterMs = retryAfter(response.headers["retry-after"]);
  return { status: response.statusCode, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
};

/** Longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/** Parses `Retry-After` in seconds, also with a fraction (Discord). Dates are ignored: the backoff is then used. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds =
    typeof header === "string" && /^\d{1,9}(?:\.\d+)?$/.test(header) ? Number(header) : undefined;
  return seconds === undefined ? undefined : Math.min(MAX_RETRY_AFTER_MS, seconds * 1000);
}

/** Returns a text without a URL: the message of our own errors, only the code or the name of others. */
export function safeText(error: unknown): string {
  if (error instanceof CodedError) return error.message;
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

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

interface MailOptions {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** SMTP reply codes that reject the content, not the connection or the account. */
  readonly rejections: ReadonlySet<number>;
}

/** Sends an e-mail. Resolves when the server accepted it for every recipient. */
export type SendMail = (server: MailServer, mail: Mail, options: MailOptions) => Promise<void>;

/** Longest wait for the greeting and for each reply; the deadline of the channel ends the whole delivery. */
const MAX_STEP_MS = 30_000;

/** A {@link SendMail} over SMTP. One connection for each e-mail: alerts are rare. */
export const sendSmtp: SendMail = async (server, mail, { deadlineMs, signal, rejections }) => {
  const stepMs = Math.min(deadlineMs, MAX_STEP_MS);
  // Few watchdogs send e-mail, and the library takes long to load.
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
    throw error instanceof ChannelError ? error : toChannelError(error, rejections);
  } finally {
    unwatch();
    transport.close();
  }
};

function toChannelError(error: unknown, rejections: ReadonlySet<number>): ChannelError {
  const reply = error instanceof Error && "responseCode" in error ? error.responseCode : undefined;
  if (typeof reply === "number" && rejections.has(reply))
    return new ChannelError({ code: "rejected", status: reply }, `the mail server replied ${reply}`);
  // The text of a reply can repeat the user name, so only the code is shown.
  return notSent(typeof reply === "number" ? `the mail server replied ${reply}` : safeText(error));
}

function notSent(reason: string): ChannelError {
  return new ChannelError({ code: "not-sent", reason }, `e-mail not sent: ${reason}`);
}
