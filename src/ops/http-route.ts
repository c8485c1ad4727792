import { stringifyJson } from "../base/json.ts";

/** What a route sees of a request. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Values of the `:name` parts of the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, at most the server's limit. */
  readonly body: Uint8Array;
  /** Fires when the client has gone or the server closes. */
  readonly signal: AbortSignal;
}

/** What a route answers. `content-length` is added. A list as header value repeats the header. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array;
}

/** One row of a server's table. A GET route answers HEAD too. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Exact path, or with `:name` for one segment: `/faults/:name`; `*` alone matches every path. */
  readonly path: string;
  /** Only with the server's bearer token: for every route that changes something. */
  readonly guarded?: boolean;
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
}

/** A JSON answer; bigint prints as a decimal string. */
export function jsonReply(status: number, value: unknown): HttpReply {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", "x-content-type-options": "nosniff" },
    body: `${stringifyJson(value)}\n`,
  };
}

/** A plain text answer. */
export function textReply(status: number, text: string): HttpReply {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: text,
  };
}

/** The JSON form of every error answer: `{"error": code, "message": text}`. */
export function errorReply(status: number, code: string, message: string): HttpReply {
  return jsonReply(status, { error: code, message });
}

/** A route that fits a request, with its path values; or the methods that the path has; or nothing at that path. */
export type RouteMatch =
  | { readonly kind: "route"; readonly route: HttpRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other-method"; readonly allowed: readonly string[] }
  | { readonly kind: "none" };

/** Finds the first fitting row. */
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
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length || !pattern.includes("/:")) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = decodeSegment(segment);
    if (value === undefined || value === "") return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
