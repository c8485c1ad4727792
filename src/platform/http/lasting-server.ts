import { onAbort, untilAborted } from "../base/abort.ts";
import type { Logger } from "../base/logger.ts";
import { createDeferred } from "../process/deferred.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { errorReply, type HttpReply, type HttpRoute, textReply, withHeaders } from "./http-route.ts";
import type { OpenHttpServer } from "./http-server.ts";
import { type HttpService, openRouteServer, type RouteServerOptions } from "./route-server.ts";

/** An HTTP server that stays open while the services behind it stop and restart. */
export interface LastingServer {
  /**
   * Creates a service that serves these routes with this token while it runs. The first service opens the server, and later
   * services keep that service's address and access rules. While no service runs, requests get status 503.
   */
  readonly serve: (options: RouteServerOptions) => HttpService;
  readonly close: () => Promise<void>;
}

/** Routes while no service runs, of which `/livez` succeeds, because the process is alive and a supervisor must not kill it. */
const RESTING: readonly HttpRoute[] = [
  { method: "GET", path: "/livez", handle: () => textReply(200, "ok\n") },
  ...(["GET", "POST", "PUT", "DELETE"] as const).map(
    (method): HttpRoute => ({ method, path: "*", handle: restingReply }),
  ),
];

function restingReply(): HttpReply {
  const reply = errorReply(503, "restarting", "the services are restarting with other settings; try again");
  return withHeaders(reply, { "Retry-After": "1" });
}

export function createLastingServer(deps: { readonly logger: Logger }): LastingServer {
  let current: RouteServerOptions | undefined;
  let opened: Promise<OpenHttpServer> | undefined;
  const open = (first: RouteServerOptions): Promise<OpenHttpServer> =>
    openRouteServer(
      {
        ...first,
        get routes() {
          return current?.routes ?? RESTING;
        },
        // Don't fall back to the first service's token.
        get token() {
          return current?.token;
        },
      },
      deps,
    );
  const serve = (options: RouteServerOptions): HttpService => {
    const ready = createDeferred<ListenAddress>();
    const run = async (signal: AbortSignal): Promise<void> => {
      const own = { ...options, routes: options.routes.map((route) => endingWith(route, signal)) };
      try {
        current = own;
        const { address } = await (opened ??= open(options));
        ready.resolve(address);
        await untilAborted(signal);
      } catch (error) {
        opened = undefined;
        ready.reject(error);
        throw error;
      } finally {
        if (current === own) current = undefined;
      }
    };
    return { name: options.name, run, ready: ready.promise };
  };
  return { serve, close: async () => (await opened?.catch(() => undefined))?.close() };
}

/**
 * Ends a route's streams together with their service, so that an open page reconnects and does not show the old services' state
 * forever.
 */
function endingWith(route: HttpRoute, signal: AbortSignal): HttpRoute {
  return {
    ...route,
    handle: async (request) => {
      const reply = await route.handle(request);
      const { stream } = reply;
      if (stream === undefined) return reply;
      return {
        ...reply,
        stream: {
          run: async (write, client) => {
            const end = new AbortController();
            const unwatch = [signal, client].map((one) => onAbort(one, (reason) => end.abort(reason)));
            try {
              await stream.run(write, end.signal);
            } finally {
              for (const stop of unwatch) stop();
            }
          },
        },
      };
    },
  };
}
