import { createHash, timingSafeEqual } from "node:crypto";
import { untilAborted } from "../base/abort.ts";
import { attempt, errorText } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";
import type { Service } from "../base/service.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { createDeferred } from "../process/deferred.ts";
import type { HttpAccess } from "./http-access.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRequest,
  HttpRequestError,
  type HttpRoute,
  withHeaders,
} from "./http-route.ts";
import {
  type HttpLimits,
  type HttpServerOptions,
  type OpenHttpServer,
  openHttpServer,
} from "./http-server.ts";
import type { ListenOptions } from "./listen.ts";

export interface RouteServerOptions extends ListenOptions, Pick<HttpServerOptions, "dateMs"> {
  readonly routes: readonly HttpRoute[];
  readonly access?: HttpAccess;
  /** Bearer token that grants access to the guarded routes. Without a token, guarded routes reply with status 403. */
  readonly token?: Secret | undefined;
  /** Reply to a request for a path without a route; by default, a JSON 404. */
  readonly notFound?: HttpReply;
  /** Limits that override {@link ROUTE_SERVER_LIMITS}. */
  readonly limits?: Partial<HttpLimits>;
}

/** Limits for the daemons' HTTP servers: suitable for small requests from people, scrapers and scripts. */
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
 * Opens an HTTP server with a route table. The server's own errors are JSON replies: 400, 401, 403, 404, 405, 413, 500. Rejects
 * with `ListenError` if the address cannot be bound.
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
    return options.notFound ?? errorReply(404, "not-found", `not found: ${path}`);
  }
  if (match.kind === "other-method") return methodNotAllowed(match.allowed);
  const { route, params } = match;
  // Check the token before reading the body, so that a client without the token cannot make the server buffer data.
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

/** Returns the error reply for a request that may not use a guarded route, or undefined for an authorized request. */
function refuse(authorization: string | undefined, token: Secret | undefined): HttpReply | undefined {
  if (token === undefined) {
    return errorReply(
      403,
      "no-token-configured",
      "this request needs a token, but none is configured; set http.token or state_dir",
    );
  }
  if (hasBearerToken(authorization, token)) return undefined;
  const refusal = errorReply(401, "unauthorized", "send the header Authorization: Bearer <token>");
  return withHeaders(refusal, { "WWW-Authenticate": "Bearer" });
}

/** Returns true if an `Authorization` header contains the bearer token. The check takes the same time for every wrong token. */
function hasBearerToken(header: string | undefined, token: Secret): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token.reveal()));
}

/** Hashes a token for comparison, since `timingSafeEqual` requires equal lengths. */
function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function methodNotAllowed(allowed: readonly string[]): HttpReply {
  const methods = allowed.join(", ");
  const refusal = errorReply(405, "method-not-allowed", `this path accepts only ${methods}`);
  return withHeaders(refusal, { Allow: methods });
}

function failureReply(error: unknown): HttpReply {
  if (error instanceof HttpRequestError) {
    return errorReply(error.facts.status, error.facts.code, error.message);
  }
  return errorReply(500, "internal", `the request failed: ${errorText(error)}`);
}

type RouteMatch =
  | { readonly kind: "route"; readonly route: HttpRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other-method"; readonly allowed: readonly string[] }
  | { readonly kind: "none" };

/**
 * Returns the first matching route with its path values, or the supported methods if only the method differs, or no match. Takes
 * time linear in the number of routes.
 */
export function matchRoute(routes: readonly HttpRoute[], method: string, path: string): RouteMatch {
  const wanted = method === "HEAD" ? "GET" : method;
  const allowed = new Set<string>();
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (params === undefined) continue;
    if (route.method === wanted) return { kind: "route", route, params };
    allowed.add(route.method);
  }
  return allowed.size === 0 ? { kind: "none" } : { kind: "other-method", allowed: [...allowed] };
}

function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  if (pattern === "*" || pattern === path) return {};
  // Return early for routes without `:name`, because splitting every route would take longer than the rest of a small request.
  if (!pattern.includes("/:")) return undefined;
  const parts = pattern.split("/");
  const segments = path.split("/");
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = attempt(() => decodeURIComponent(segment));
    if (value === undefined || value === "") return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

export interface HttpService extends Service {
  /** Resolves with the bound address, or rejects if the address cannot be bound. */
  readonly ready: Promise<ListenAddress>;
}

/** Creates a service that starts to listen in `run` and stops when its signal aborts. */
export function createHttpService(
  options: RouteServerOptions,
  deps: { readonly logger: Logger },
): HttpService {
  const ready = createDeferred<ListenAddress>();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const server = await openRouteServer(options, deps);
      ready.resolve(server.address);
      await untilAborted(signal);
      await server.close();
    } catch (error) {
      ready.reject(error);
      throw error;
    }
  };
  return { name: options.name, run, ready: ready.promise };
}
