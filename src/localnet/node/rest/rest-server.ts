import type { Clock } from "../../../platform/base/clock.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createNodeHttpServer } from "../node-http-server.ts";
import type { ServerAddress } from "../node-options.ts";
import type { ServerFactory } from "../node-server.ts";
import { createGateway } from "./gateway.ts";

export interface RestServerOptions extends ServerAddress {
  /** First part of the REST paths and type URLs of the chain's own modules: "neutron". */
  readonly chainName: string;
}

export interface RestServerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Creates the REST server ("rest"): the gRPC methods of application and node as JSON over HTTP. */
export function createRestServer(options: RestServerOptions, deps: RestServerDeps): ServerFactory {
  const { host, port, portOption, access, chainName } = options;
  const logger = deps.logger.child({ server: "rest" });
  return (router) => {
    const gateway = createGateway({ router, chainName, logger });
    return createNodeHttpServer(
      "rest",
      { host, port, portOption, ...(access === undefined ? {} : { access }) },
      {
        handle: async (request) => {
          const { headers, ...reply } = gateway(request, await request.readBody());
          const serverTime = String(Math.floor(deps.clock.nowMs() / 1000));
          return { ...reply, headers: { ...headers, "X-Server-Time": serverTime } };
        },
      },
      { logger: deps.logger },
    );
  };
}
