import { type Clock, systemClock } from "../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { Secret } from "../../../src/platform/base/secret.ts";
import type { HttpRoute } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";
import { type LivePage, livePageRoutes } from "../../../src/platform/web/live-page.ts";

/** A server of pages, on a free port of loopback. */
export interface PageServer {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface PageServerOptions {
  readonly pages: readonly LivePage[];
  readonly routes?: readonly HttpRoute[];
  readonly token?: Secret;
  readonly port?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: "A daemon". */
  readonly heading?: string;
}

/** Serves pages whose contents the caller chooses. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { pages, routes = [], token, port = 0, heading = "A daemon", clock = systemClock } = options;
  const frame = {
    heading,
    version: "1.0.0",
    startedAtMs: Date.UTC(2026, 10, 20, 7),
    links: [{ path: "/api/status", text: "Status as JSON" }],
  };
  const server = await openRouteServer(
    {
      name: "page",
      listen: { host: "127.0.0.1", port },
      portOption: "none",
      routes: [...livePageRoutes({ frame, pages }, clock), ...routes],
      ...(token === undefined ? {} : { token }),
    },
    { logger: silentLogger },
  );
  return {
    url: `http://127.0.0.1:${server.address.port}`,
    port: server.address.port,
    close: server.close,
  };
}
