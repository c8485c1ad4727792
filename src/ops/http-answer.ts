import type { IncomingMessage, ServerResponse } from "node:http";
import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { hasBearerToken } from "./bearer-token.ts";
import { BodyTooLargeError, readBody } from "./http-body.ts";
import { errorReply, type HttpReply, type HttpRequest, type HttpRoute, matchRoute } from "./http-route.ts";
import type { Secret } from "../base/secret.ts";

/** How a server answers. */
export interface AnswerOptions {
  /** For logs and errors, e.g. "oracle-watchdog HTTP". */
  readonly name: string;
  readonly routes: readonly HttpRoute[];
  /** Opens the guarded routes; without it they always answer 403. */
  readonly token?: Secret;
  /** Default 64 KiB. */
  readonly bodyLimitBytes?: number;
  /** The answer for a path that no route has; default JSON 404. */
  readonly notFound?: HttpReply;
}

/** The server that a request came to. */
export interface HttpCall {
  readonly options: AnswerOptions;
  readonly logger: Logger;
  /** Requests that are being answered; the close aborts them. */
  readonly open: Set<AbortController>;
}

/** Answers one request; never throws. A request whose client has gone, or that the close cuts, gets nothing. */
export async function answerRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  call: HttpCall,
): Promise<void> {
  const cut = new AbortController();
  call.open.add(cut);
  outgoing.on("close", () => cut.abort(new Error("the client has gone")));
  try {
    send(incoming, outgoing, await reply(incoming, cut.signal, call.options));
  } catch (error) {
    if (cut.signal.aborted) outgoing.destroy();
    else send(incoming, outgoing, errorReplyOf(error, call));
  } finally {
    call.open.delete(cut);
  }
}

async function reply(
  incoming: IncomingMessage,
  signal: AbortSignal,
  options: AnswerOptions,
): Promise<HttpReply> {
  const url = parseTarget(incoming.url ?? "/");
  if (url === undefined) return errorReply(400, "bad-request", "the request target is not a path");
  const method = incoming.method ?? "GET";
  const match = matchRoute(options.routes, method, url.pathname);
  if (match.kind === "none")
    return options.notFound ?? errorReply(404, "not-found", `nothing is at ${url.pathname}`);
  if (match.kind === "other-method") return methodReply(match.allowed);
  const refusal = match.route.guarded === true ? refuse(incoming, options.token) : undefined;
  if (refusal !== undefined) return refusal;
  const body = await readBody(incoming, options.bodyLimitBytes ?? 64 * 1024);
  const request: HttpRequest = {
    method,
    path: url.pathname,
    params: match.params,
    query: url.searchParams,
    headers: plainHeaders(incoming),
    body,
    signal,
  };
  return match.route.handle(request);
}

function refuse(incoming: IncomingMessage, token: Secret | undefined): HttpReply | undefined {
  if (token === undefined)
    return errorReply(403, "no-token-configured", "this needs a token, and none is configured");
  if (hasBearerToken(incoming.headers.authorization, token)) return undefined;
  const refusal = errorReply(401, "unauthorized", "send the header Authorization: Bearer <token>");
  return { ...refusal, headers: { ...refusal.headers, "www-authenticate": "Bearer" } };
}

function methodReply(allowed: readonly string[]): HttpReply {
  const refusal = errorReply(405, "method-not-allowed", `this path answers ${allowed.join(", ")}`);
  return { ...refusal, headers: { ...refusal.headers, allow: allowed.join(", ") } };
}

function errorReplyOf(error: unknown, call: HttpCall): HttpReply {
  if (error instanceof BodyTooLargeError) {
    const refusal = errorReply(413, error.facts.code, error.message);
    return { ...refusal, headers: { ...refusal.headers, connection: "close" } };
  }
  call.logger.error("http request failed", { server: call.options.name, error });
  return errorReply(500, "internal", `the request failed: ${errorText(error)}`);
}

function send(incoming: IncomingMessage, outgoing: ServerResponse, given: HttpReply): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const bytes = typeof given.body === "string" ? new TextEncoder().encode(given.body) : given.body;
  const headers = Object.entries(given.headers ?? {}).map(([name, value]) => [
    name,
    typeof value === "string" ? value : [...value],
  ]);
  outgoing.writeHead(given.status, {
    ...Object.fromEntries(headers),
    "content-length": String(bytes.length),
  });
  outgoing.end(incoming.method === "HEAD" ? undefined : bytes);
}

function parseTarget(target: string): URL | undefined {
  return target.startsWith("/") && URL.canParse(target, "http://localhost")
    ? new URL(`http://localhost${target}`)
    : undefined;
}

function plainHeaders(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const pairs = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return Object.fromEntries(pairs);
}
