import type { HttpRoute } from "../ops/http-route.ts";
import { type Family, writeExposition } from "./exposition.ts";
import { createListeners, type Faces } from "./listeners.ts";
import { createPriceRoutes, NOT_FOUND, type PriceRoutesDeps } from "./price-routes.ts";
import type { SidecarDeps, SidecarOptions } from "./sidecar-options.ts";

/** What the metric pages read, anew for each request. */
export interface PagesDeps {
  readonly oracleFamilies: () => readonly Family[];
  readonly sidecarFamilies: () => readonly Family[];
}

/** The three ports of a sidecar: prices, oracle metrics, sidecar metrics, in this order. */
export function createSidecarListeners(
  options: SidecarOptions,
  deps: SidecarDeps,
  prices: PriceRoutesDeps,
  pages: PagesDeps,
): Faces {
  const { listen, portOption = "--port-offset" } = options;
  return createListeners(
    [
      {
        name: "sidecar prices",
        listen: listen.prices,
        portOption,
        routes: createPriceRoutes(prices),
        notFound: NOT_FOUND,
      },
      {
        name: "sidecar oracle metrics",
        listen: listen.oracleMetrics,
        portOption,
        routes: [pageRoute(pages.oracleFamilies)],
      },
      {
        name: "sidecar metrics",
        listen: listen.sidecarMetrics,
        portOption,
        routes: [pageRoute(pages.sidecarFamilies)],
      },
    ],
    deps,
  );
}

/** A metrics page at every path, as the deployed servers have it. */
function pageRoute(families: () => readonly Family[]): HttpRoute {
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return {
    method: "GET",
    path: "*",
    handle: () => ({ status: 200, headers, body: writeExposition(families()) }),
  };
}
