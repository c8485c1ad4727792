import { type HttpRule, httpRules } from "../../../cosmos/proto/http-rules.ts";
import { toChainRestPath, toChainTypeUrl } from "../../../cosmos/proto/registry.ts";
import { unreachable } from "../../../platform/base/errors.ts";

export interface Route {
  readonly method: HttpRule["method"];
  readonly template: PathTemplate;
  /** gRPC path of the route's method, with the chain's own name. */
  readonly path: string;
  /** Canonical name of the request type, as in the `.proto` file. */
  readonly requestType: string;
  /** Canonical name of the response type, as in the `.proto` file. */
  readonly responseType: string;
  readonly body: HttpRule["body"];
}

/** A matching route, and the values of its path variables. */
export interface FoundRoute {
  readonly route: Route;
  readonly variables: ReadonlyMap<string, string>;
}

export type RouteTable = ReturnType<typeof createRouteTable>;

/** Creates a table of the routes whose gRPC methods the server serves. */
export function createRouteTable(servedPaths: readonly string[], chainName: string) {
  const served = new Set(servedPaths);
  const routes = httpRules()
    .map((rule) => toRoute(rule, chainName))
    .filter(({ path }) => served.has(path));
  return {
    /** Returns the first route, in definition order, that matches the method and the path's decoded `segments`. */
    find: (method: string, segments: readonly string[]): FoundRoute | undefined =>
      firstMatch(
        routes.filter((route) => route.method === method),
        segments,
      ),
  };
}

function firstMatch(routes: readonly Route[], segments: readonly string[]): FoundRoute | undefined {
  for (const route of routes) {
    const variables = matchPath(route.template, segments);
    if (variables !== undefined) return { route, variables };
  }
  return undefined;
}

function toRoute(rule: HttpRule, chainName: string): Route {
  return {
    method: rule.method,
    template: parsePathTemplate(toChainRestPath(rule.template, chainName)),
    path: toChainTypeUrl(`/${rule.service}/${rule.rpc}`, chainName),
    requestType: rule.requestType,
    responseType: rule.responseType,
    body: rule.body,
  };
}

/** Part of a path template: a fixed segment, a variable for one segment, or a variable for any number of segments (`=**`). */
type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "segments"; readonly name: string };

/** A path template from a `google.api.http` option, compiled for matching. */
interface PathTemplate {
  readonly parts: readonly Part[];
  /** Names of the path variables, in the order in which they occur. */
  readonly variables: readonly string[];
}

const VARIABLE = /^\{([\w.]+)(=\*\*)?\}$/;

/** Compiles a path template such as `/cosmos/bank/v1beta1/denom_owners/{denom=**}`, in which `**` matches any number of segments. */
export function parsePathTemplate(template: string): PathTemplate {
  const parts = template.slice(1).split("/").map(parsePart);
  const variables = parts.flatMap((part) => (part.kind === "literal" ? [] : [part.name]));
  return { parts, variables };
}

function parsePart(text: string): Part {
  if (!text.startsWith("{")) return { kind: "literal", text };
  const [, name, stars] =
    VARIABLE.exec(text) ?? unreachable(`path template part ${text} has an unsupported format`);
  if (name === undefined) return unreachable(`path template part ${text} has no name`);
  return { kind: stars === undefined ? "variable" : "segments", name };
}

/**
 * Matches a path's decoded segments against a template. Returns the variables' values, or undefined if the path does not match. A
 * template has at most one `**`, which matches any number of segments, including none.
 */
export function matchPath(
  template: PathTemplate,
  segments: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  const { parts } = template;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "segments") {
      // Leave one segment for each part after the `**` part, because each of these parts matches exactly one segment.
      const end = segments.length - (parts.length - index - 1);
      if (end < at) return undefined;
      values.set(part.name, segments.slice(at, end).join("/"));
      at = end;
      continue;
    }
    const segment = segments[at];
    if (segment === undefined || (part.kind === "literal" && part.text !== segment)) return undefined;
    if (part.kind === "variable") values.set(part.name, segment);
    at += 1;
  }
  return at === segments.length ? values : undefined;
}
