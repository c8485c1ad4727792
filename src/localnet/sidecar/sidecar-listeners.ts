import type { HttpRoute } from "../../platform/http/http-route.ts";
import { type Family, writeExposition } from "./exposition.ts";
import { createListeners, type Listeners } from "./listeners.ts";
import { createPriceRoutes, NOT_FOUND, type PriceRoutesDeps } from "./price-routes.ts";
import type { SidecarDeps, SidecarOptions } from "./sidecar-options.ts";

/** Content of the metrics pages. Both functions are called for each request. */
export interface MetricsPages {
  readonly oracleFamilies: () => readonly Family[];
  readonly sidecarFamilies: () => readonly Family[];
}

/** Creates the listeners of a sidecar, in this order: prices, oracle metrics, sidecar metrics. */
export function createSidecarListeners(
  options: SidecarOptions,
  deps: SidecarDeps,
  prices: PriceRoutesDeps,
  pages: MetricsPages,
): Listeners {
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

/** Serves a metrics page at every path, as deployed sidecars do. */
function pageRoute(families: () => readonly Family[]): HttpRoute {
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return {
    method: "GET",
    path: "*",
    handle: () => ({ status: 200, headers, body: writeExposition(families()) }),
  };
}
