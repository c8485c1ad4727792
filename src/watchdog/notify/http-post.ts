import { request } from "undici";
import { CodedError } from "../../platform/base/errors.ts";

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

/** Statuses that say that the content is wrong: bad request, too large, not processable. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Sends a POST and throws {@link ChannelError} unless the status is 2xx. */
export async function postAccepted(post: PostJson, what: string, call: JsonPost): Promise<void> {
  const { status, retryAfterMs } = await post(call).catch((error: unknown) => {
    if (call.signal.aborted) throw error;
    throw new ChannelError({ code: "not-sent", reason: safeText(error) }, `${what}: ${safeText(error)}`);
  });
  if (status >= 200 && status < 300) return;
  const text = `${what} answered HTTP ${status}`;
  if (REJECTIONS.has(status)) throw new ChannelError({ code: "rejected", status }, text);
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
const MAX_RETRY_AFTER_MS = 3_600_000;

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
