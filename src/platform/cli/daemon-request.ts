import type { IncomingMessage, RequestOptions } from "node:http";
import { withDeadline } from "../base/abort.ts";
import { CliError, EXIT } from "../base/errors.ts";
import { isRecord, parseJson } from "../base/json.ts";
import { readTextBody } from "../base/read-text.ts";
import type { Secret } from "../base/secret.ts";

export interface DaemonRequest {
  /** The daemon's name in messages, for example "oracle-watchdog". */
  readonly daemon: string;
  /** The daemon's base URL, for example "http://127.0.0.1:9998". */
  readonly url: string;
  readonly path: string;
  /** The HTTP method; by default, POST if there is a body, otherwise GET. */
  readonly method?: "DELETE" | "POST";
  /** Request body, which is sent as JSON. */
  readonly body?: unknown;
  /** Error statuses (400 or above) for which the response body is returned as a result. */
  readonly accepts?: readonly number[];
  readonly token?: Secret;
  /** Hint on how to find or specify the token, shown if the token is missing or wrong. */
  readonly tokenHint?: string;
  /** Maximum wait for the response; 10 s by default. */
  readonly deadlineMs?: number;
  /** Hint on how to start the daemon or select another one, shown if the daemon is unreachable. */
  readonly hint: string;
}

const DEADLINE_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Sends a request and returns the JSON of a response with a status below 400. Throws `CliError`: exit code 3 if the daemon does not
 * respond, 2 if the request names something unknown to the daemon, and 1 for any other status.
 */
export async function askDaemon(asked: DaemonRequest, signal: AbortSignal): Promise<unknown> {
  const { daemon, url, hint } = asked;
  const { status, text } = await send(asked, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new CliError(EXIT.unseen, `${daemon} does not respond at ${new URL(url).host}; ${hint}`, { cause });
  });
  const value = parseJson(text);
  if ((status < 400 || asked.accepts?.includes(status)) && value !== undefined) return value;
  const hasNoToken = isRecord(value) && value["error"] === "no-token-configured";
  if (status === 401 || hasNoToken) {
    const given = asked.token === undefined ? "a token is required" : "the token does not match the daemon's";
    const problem = hasNoToken ? "the daemon has no token" : given;
    const rest = asked.tokenHint === undefined ? "" : `; ${asked.tokenHint}`;
    throw new CliError(
      EXIT.fatal,
      `${daemon} at ${new URL(url).host} refused ${asked.path}: ${problem}${rest}`,
    );
  }
  const reason =
    isRecord(value) && typeof value["message"] === "string" ? value["message"] : `HTTP ${status}`;
  // The user gave a name that is unknown to the daemon.
  if (isRecord(value) && String(value["error"]).startsWith("unknown-"))
    throw new CliError(EXIT.usage, reason);
  throw new CliError(EXIT.fatal, `${daemon} at ${new URL(url).host} refused ${asked.path}: ${reason}`);
}

function send(
  { daemon, url, path, method, body, token, deadlineMs = DEADLINE_MS }: DaemonRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  return withDeadline(daemon, deadlineMs, signal, async (inner) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await openRequest(
      `${url}${path}`,
      {
        method: method ?? (text === undefined ? "GET" : "POST"),
        headers: token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
        signal: inner,
        // Don't use keep-alive: commands send few requests, and the daemon may close an idle connection just before the next
        // request.
        agent: false,
      },
      text,
    );
    return { status: response.statusCode ?? 0, text: await readTextBody(response, MAX_BODY_BYTES) };
  });
}

/** Sends a request with Node's built-in client, because loading an HTTP library takes longer than most commands run. */
async function openRequest(
  url: string,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> {
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    request(url, options, resolve).on("error", reject).end(body);
  });
}
