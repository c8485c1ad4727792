import { type HttpRule, httpRules } from "../../../cosmos/proto/http-rules.ts";
import { toChainRestPath, toChainTypeUrl } from "../../../cosmos/proto/type-urls.ts";
import { matchPath, parsePathTemplate, type PathTemplate } from "./path-template.ts";

/** One route of the gateway. */
export interface Route {
  readonly method: HttpRule["method"];
  readonly template: PathTemplate;
  /** gRPC path under the chain's own name. */
  readonly path: string;
  /** Canonical name of the message, as the `.proto` file has it. */
  readonly requestType: string;
  /** Canonical name of the message. */
  readonly responseType: string;
  readonly body: HttpRule["body"];
}

/** A matching route with the values of its path variables. */
export interface FoundRoute {
  readonly route: Route;
  readonly variables: ReadonlyMap<string, string>;
}

/** The routes of a gateway. */
export interface RouteTable {
  /** Returns the first matching route in the order of the definitions. `segments` are the decoded parts of the path. */
  readonly find: (method: string, segments: readonly string[]) => FoundRoute | undefined;
}

/** Creates the table of the routes whose gRPC paths are served. */
export function createRouteTable(servedPaths: readonly string[], chainName: string): RouteTable {
  const served = new Set(servedPaths);
  const routes = httpRules()
    .map((rule) => toRoute(rule, chainName))
    .filter(({ path }) => served.has(path));
  return {
    find: (method, segments) =>
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
