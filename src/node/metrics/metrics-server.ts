import type { Registry } from "prom-client";
import type { Logger } from "../../base/logger.ts";
import { type HttpReply, textReply } from "../../ops/http-route.ts";
import { type OpenHttpServer, openHttpServer } from "../../ops/http-server.ts";
import type { ServerAddress } from "../node-options.ts";
import type { NodeServer } from "../node-view.ts";

/** Scrapes at once; as on a real node one more gets 503. */
const MAX_SCRAPES = 3;

/** Serves a registry as Prometheus text on every path, as a real node does. */
export function createMetricsServer(
  address: ServerAddress,
  deps: { readonly registry: Registry; readonly logger: Logger },
): NodeServer {
  let scrapes = 0;
  const page = async (): Promise<HttpReply> => {
    if (scrapes >= MAX_SCRAPES) {
      return textReply(503, `Limit of concurrent requests reached (${MAX_SCRAPES}), try again later.\n`);
    }
    scrapes += 1;
    try {
      const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
      return { status: 200, headers, body: await deps.registry.metrics() };
    } finally {
      scrapes -= 1;
    }
  };
  let server: OpenHttpServer | undefined;
  return {
    name: "metrics",
    listen: async () => {
      server = await openHttpServer(
        {
          name: "node metrics",
          listen: { host: address.host, port: address.port },
          portOption: address.portOption,
          routes: [{ method: "GET", path: "*", handle: page }],
        },
        deps,
      );
      return server.address.port;
    },
    close: async () => server?.close(),
  };
}
