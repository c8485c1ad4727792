import { type Dispatcher, request } from "undici";
import { HOUR_MS } from "../../../platform/base/time.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import { isRecord, parseJson, stringifyJson } from "../../../platform/base/json.ts";
import { cutText, wellFormed } from "../../../platform/base/text.ts";
import { createRemoteConnections, type NetworkOptions } from "../../../platform/http/remote.ts";

/** A POST request with a JSON body. Error messages must not contain the URL or the headers, which may be secret. */
export interface JsonPost {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export interface PostReply {
  readonly status: number;
  /** The delay that the receiver requested before the next attempt, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** The beginning of the response body. Absent if there is no body. */
  readonly text?: string;
}

/** Sends a POST request. Resolves with any response, including HTTP errors, and only rejects if there is no response. */
export type PostJson = (post: JsonPost) => Promise<PostReply>;

/** The kinds of delivery failures, each with the details that callers need. */
export type ChannelErrorFacts =
  /** The receiver may accept the notification later. */
  | { readonly code: "refused"; readonly status: number; readonly retryAfterMs?: number | undefined }
  /** The receiver cannot accept the content, so another attempt is pointless. */
  | { readonly code: "rejected"; readonly status: number }
  /** The receiver no longer exists or does not recognise the account. Only the operator can correct the configuration. */
  | { readonly code: "gone"; readonly status: number }
  | { readonly code: "not-sent"; readonly reason: string };

/** Thrown if a notification is not accepted. The message quotes the receiver's explanation and contains no secrets. */
export class ChannelError extends CodedError<ChannelErrorFacts> {}

/**
 * Patterns of replies that make another attempt pointless, in addition to certain HTTP statuses. The patterns are matched against
 * the status and the receiver's explanation.
 */
export interface ReceiverWords {
  readonly gone?: RegExp;
  readonly rejected?: RegExp;
}

/** HTTP statuses that reject the content: bad request, content too large, unprocessable content. */
const HTTP_REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);
const HTTP_GONE = 410;

/**
 * Sends a POST request. Throws {@link ChannelError} unless the response has a 2xx status and its body reports no failure, such as
 * `{"ok": false}` from chat servers. The error message starts with the name in `receiver`.
 */
export async function postAccepted(
  post: PostJson,
  receiver: string,
  call: JsonPost,
  words: ReceiverWords = {},
): Promise<void> {
  const reply = await post(call).catch((error: unknown) => {
    if (call.signal.aborted) throw error;
    throw new ChannelError({ code: "not-sent", reason: safeText(error) }, `${receiver}: ${safeText(error)}`);
  });
  if (reply.status < 200 || reply.status >= 300 || isRefusal(reply))
    throw refusal(receiver, reply, call, words);
}

function isRefusal({ text = "" }: PostReply): boolean {
  const body = parseJson(text);
  return isRecord(body) && (body["ok"] === false || body["success"] === false);
}

/** Creates the error for a refusal, which is permanent ("gone"), caused by the content ("rejected") or temporary ("refused"). */
function refusal(
  receiver: string,
  { status, retryAfterMs, text = "" }: PostReply,
  call: JsonPost,
  { gone, rejected }: ReceiverWords,
): ChannelError {
  const said = withoutSecrets(wordsOf(text), secretsOf(call));
  const whole = `${status} ${said}`;
  const message = `${receiver} answered HTTP ${status}${said === "" ? "" : `: ${said}`}`;
  if (status === HTTP_GONE || gone?.test(whole)) return new ChannelError({ code: "gone", status }, message);
  if (HTTP_REJECTIONS.has(status) || rejected?.test(whole))
    return new ChannelError({ code: "rejected", status }, message);
  return new ChannelError({ code: "refused", status, retryAfterMs }, message);
}

/** Maximum length of a receiver's explanation in logs and errors, in characters. */
export const MAX_WORDS = 300;

/** The JSON keys in which receivers explain a refusal. */
const WORD_KEYS = ["message", "description", "error", "errors", "detail", "title", "reason"] as const;

/**
 * Extracts the receiver's explanation from a response body, as one line. Returns an empty string for web pages, because a web page
 * does not explain the refusal.
 */
export function wordsOf(text: string): string {
  const body = parseJson(text);
  const said = isRecord(body)
    ? WORD_KEYS.flatMap((key) => {
        const value = body[key];
        return value === undefined || value === null
          ? []
          : [typeof value === "string" ? value : stringifyJson(value)];
      }).join("; ")
    : text;
  const line = said.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.startsWith("<") ? "" : line;
}

/** Minimum length of the strings that are redacted as secrets. Shorter parts of a URL are ordinary words such as "hook". */
const MIN_SECRET = 6;

/** Returns the strings in a request that may be secret, i.e. the URL's components, the header values, and a routing key. */
function secretsOf({ url, headers = {}, body }: JsonPost): readonly string[] {
  const { pathname, search, hash, username, password } = new URL(url);
  const key = isRecord(body) ? body["routing_key"] : undefined;
  return [
    ...[pathname, search, hash, username, password].flatMap((part) => decodeURI(part).split(/[/:?&=#]/)),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(" ")]),
    ...(typeof key === "string" ? [key] : []),
  ];
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
  return cutText(hidden, MAX_WORDS);
}

/** Maximum number of bytes read from a response. The receiver's explanation is at the beginning. */
const MAX_REPLY_BYTES = 65_536;
const MAX_REPLY_TEXT = 4096;

/** Creates a {@link PostJson} that reuses HTTP connections and reads at most 64 KiB of a response. */
export function createPostJson(network: NetworkOptions = {}): PostJson {
  const connections = createRemoteConnections({}, network);
  return (post) => sendPost(post, connections.to(new URL(post.url)));
}

async function sendPost(
  { url, headers, body, signal }: JsonPost,
  dispatcher: Dispatcher,
): Promise<PostReply> {
  const response = await request(url, {
    method: "POST",
    dispatcher,
    headers: { "content-type": "application/json", ...headers },
    // Repair text from other hosts, because receivers reject JSON that contains unpaired surrogates.
    body: JSON.stringify(body, (_key, value: unknown) =>
      typeof value === "string" ? wellFormed(value) : value,
    ),
    signal,
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Read the body to the end, within a limit, so that the connection can be reused.
  for await (const chunk of response.body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_REPLY_BYTES) break;
  }
  const { location } = response.headers;
  const text =
    typeof location === "string" && response.statusCode >= 300 && response.statusCode < 400
      ? redirectText(location, url)
      : Buffer.concat(chunks).toString("utf8").slice(0, MAX_REPLY_TEXT);
  const retryAfterMs = retryAfter(response.headers["retry-after"], text);
  return { status: response.statusCode, text, retryAfterMs };
}

/** Describes a redirect, which is not followed. The description omits the path, because the path may be secret. */
function redirectText(location: string, from: string): string {
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined;
  return target === undefined
    ? "it redirects to an invalid URL"
    : `it redirects to ${target.protocol}//${target.host}; configure the URL there`;
}

/** Maximum delay that a receiver may request. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Parses the `Retry-After` header in seconds, with or without a fraction. Otherwise, parses `retry_after` in the body (Discord) or
 * in the body's `parameters` (Telegram). Dates are ignored, so that the normal backoff applies.
 */
function retryAfter(header: string | string[] | undefined, text: string): number | undefined {
  const body = parseJson(text);
  const { retry_after: own, parameters } = isRecord(body) ? body : {};
  const given: readonly unknown[] = [header, own, isRecord(parameters) && parameters["retry_after"]];
  const seconds = given.map(String).find((one) => /^\d{1,9}(?:\.\d+)?$/.test(one));
  return seconds === undefined ? undefined : Math.min(MAX_RETRY_AFTER_MS, Number(seconds) * 1000);
}

/** Returns an error text without URLs. The text is the message for this project's errors, and the code or name for other errors. */
export function safeText(error: unknown): string {
  if (error instanceof CodedError) return error.message;
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
