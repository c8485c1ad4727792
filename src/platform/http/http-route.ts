import type { HttpReply } from "./http-reply.ts";
import type { HttpRequest } from "./http-request.ts";

/** A request as the handler of a route receives it, with the complete body. */
export interface RouteRequest extends Pick<HttpRequest, "method" | "headers" | "signal"> {
  readonly path: string;
  /** Values of the `:name` parts of the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Uint8Array;
}

/** One row of a route table. A GET route also serves HEAD. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Exact path, or with `:name` for one segment: `/faults/:name`. `*` alone matches every path. */
  readonly path: string;
  /** Requires the server's bearer token. Set it on every route that changes something. */
  readonly guarded?: boolean;
  readonly handle: (request: RouteRequest) => HttpReply | Promise<HttpReply>;
}

/** Result of {@link matchRoute}: the route with its path values, or the methods that the path has, or no match. */
export type RouteMatch =
  | { readonly kind: "route"; readonly route: HttpRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other-method"; readonly allowed: readonly string[] }
  | { readonly kind: "none" };

/** Finds the first route that matches. Linear in the number of routes. */
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
  const parts = pattern.split("/");
  const segments = path.split("/");
  if (parts.length !== segments.length || !pattern.includes("/:")) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? "";
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
