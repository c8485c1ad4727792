import type { Registry } from "prom-client";
import type { Logger } from "../../../platform/base/logger.ts";
import { type HttpReply, textReply } from "../../../platform/http/http-route.ts";
import { openRouteServer } from "../../../platform/http/route-server.ts";
import { toNodeServer } from "../node-http-server.ts";
import type { ServerAddress } from "../node-options.ts";
import type { NodeServer } from "../node-server.ts";

/** Concurrent scrapes; CometBFT's default for `max_open_connections` of its metrics. */
const MAX_SCRAPES = 3;

/** Creates the metrics endpoint: the registry in Prometheus' text format on every path, as CometBFT serves it. */
export function createMetricsServer(
  { host, port, portOption, access }: ServerAddress,
  deps: { readonly registry: Registry; readonly logger: Logger },
): NodeServer {
  const routes = [{ method: "GET", path: "*", handle: createPage(deps.registry) }] as const;
  return toNodeServer("metrics", () =>
    openRouteServer(
      { name: "node metrics", listen: { host, port }, portOption, routes, access: access ?? {} },
      deps,
    ),
  );
}

function createPage(registry: Registry): () => Promise<HttpReply> {
  let scrapes = 0;
  return async () => {
    if (scrapes >= MAX_SCRAPES) {
      return textReply(503, `Limit of concurrent requests reached (${MAX_SCRAPES}), try again later.\n`);
    }
    scrapes += 1;
    try {
      const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
      return { status: 200, headers, body: await registry.metrics() };
    } finally {
      scrapes -= 1;
    }
  };
}
