import { untilAborted } from "../base/abort.ts";
import type { Service } from "../base/service.ts";
import type { ListenAddress } from "./config-fields.ts";
import { createDeferred } from "./deferred.ts";
import { type HttpServerDeps, type HttpServerOptions, openHttpServer } from "./http-server.ts";

/** An HTTP face under supervision. */
export interface HttpService extends Service {
  /** The bound address, once listening; rejects when the address cannot be had. */
  readonly ready: Promise<ListenAddress>;
}

/** Creates a service that listens from `run` until its signal fires. */
export function createHttpService(options: HttpServerOptions, deps: HttpServerDeps): HttpService {
  const ready = createDeferred<ListenAddress>();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const server = await openHttpServer(options, deps);
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
