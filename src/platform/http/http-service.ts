import { untilAborted } from "../base/abort.ts";
import type { Logger } from "../base/logger.ts";
import type { Service } from "../base/service.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { createDeferred } from "../process/deferred.ts";
import { openRouteServer, type RouteServerOptions } from "./route-server.ts";

/** A route server under supervision. */
export interface HttpService extends Service {
  /** Resolves with the bound address. Rejects when the server cannot bind it. */
  readonly ready: Promise<ListenAddress>;
}

/** Creates a service that listens from `run` until its signal aborts. */
export function createHttpService(
  options: RouteServerOptions,
  deps: { readonly logger: Logger },
): HttpService {
  const ready = createDeferred<ListenAddress>();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const server = await openRouteServer(options, deps);
      ready.resolve(server.address);
      await untilAborted(signal);
      await server.close();
    } catch (error) {
      ready.reject(error);
      throw error;
    }
  };
  return { name: options.name, run, ready: ready.promise };
}
