import { createHash, timingSafeEqual } from "node:crypto";
import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";
import { errorReply, type HttpReply } from "./http-reply.ts";
import { type HttpRoute, matchRoute } from "./http-route.ts";
import { type HttpRequest, HttpRequestError } from "./http-request.ts";
import { type HttpLimits, type OpenHttpServer, openHttpServer } from "./http-server.ts";
import type { HttpAccess } from "./http-access.ts";
import type { ListenOptions } from "./listen.ts";

export interface RouteServerOptions extends ListenOptions {
  readonly routes: readonly HttpRoute[];
  readonly access?: HttpAccess;
  /** Opens the guarded routes. Without it they always reply 403. */
  readonly token?: Secret;
  /** The reply for a path without a route; default JSON 404. */
  readonly notFound?: HttpReply;
  /** Overrides of {@link ROUTE_SERVER_LIMITS}. */
  readonly limits?: Partial<HttpLimits>;
}

/** Bounds of the daemons' HTTP servers: small requests from people, scrapers and scripts. */
export const ROUTE_SERVER_LIMITS: HttpLimits = {
  maxBodyBytes: 64 * 1024,
  maxConnections: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  keepAliveMs: 5_000,
  maxUnsentBytes: 16_777_216,
  stalledMs: 10_000,
  closeGraceMs: 1_000,
};

/**
 * Opens an HTTP server over a route table. Its own replies are JSON: 400, 401, 403, 404, 405, 413, 500.
 * Rejects with `ListenError` when it cannot bind the address.
 */
export function openRouteServer(
  options: RouteServerOptions,
  deps: { readonly logger: Logger },
): Promise<OpenHttpServer> {
  return openHttpServer(
    {
      ...options,
      limits: { ...ROUTE_SERVER_LIMITS, ...options.limits },
      handle: (request) => handle(request, options),
      failureReply,
    },
    deps,
  );
}

async function handle(request: HttpRequest, options: RouteServerOptions): Promise<HttpReply> {
  const { method, headers } = request;
  const { pathname: path, searchParams: query } = request.url;
  const match = matchRoute(options.routes, method, path);
  if (match.kind === "none") {
    return options.notFound ?? errorReply(404, "not-found", `nothing is at ${path}`);
  }
  if (match.kind === "other-method") return methodNotAllowed(match.allowed);
  const { route, params } = match;
  // Before the body is read: a client without the token cannot make the server buffer anything.
  const refusal = route.guarded === true ? refuse(headers.authorization, options.token) : undefined;
  if (refusal !== undefined) return refusal;
  const body = await request.readBody();
  return route.handle({
    method,
    path,
    params,
    query,
    headers,
    body,
    get signal() {
      return request.signal;
    },
  });
}

/** The reply to a request that may not use a guarded route, or undefined when it may. */
function refuse(authorization: string | undefined, token: Secret | undefined): HttpReply | undefined {
  if (token === undefined) {
    return errorReply(403, "no-token-configured", "this needs a token, and none is configured");
  }
  if (hasBearerToken(authorization, token)) return undefined;
  const refusal = errorReply(401, "unauthorized", "send the header Authorization: Bearer <token>");
  return { ...refusal, headers: { ...refusal.headers, "WWW-Authenticate": "Bearer" } };
}

/** Whether an `Authorization` header carries this bearer token. Takes the same time for every wrong token. */
function hasBearerToken(header: string | undefined, token: Secret): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token.reveal()));
}

/** Hashes both sides of the comparison, since `timingSafeEqual` requires equal lengths. */
function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function methodNotAllowed(allowed: readonly string[]): HttpReply {
  const methods = allowed.join(", ");
  const refusal = errorReply(405, "method-not-allowed", `this path answers ${methods}`);
  return { ...refusal, headers: { ...refusal.headers, Allow: methods } };
}

function failureReply(error: unknown): HttpReply {
  if (error instanceof HttpRequestError) {
    return errorReply(error.facts.status, error.facts.code, error.message);
  }
  return errorReply(500, "internal", `the request failed: ${errorText(error)}`);
}
