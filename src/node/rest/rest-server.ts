import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { createCallRouter } from "../grpc/call-router.ts";
import type { ServiceContext } from "../grpc/node-method.ts";
import { createHttpListener } from "../http/http-listener.ts";
import type { ServerAddress } from "../node-options.ts";
import type { ServerFactory } from "../node-view.ts";
import { createGateway } from "./gateway.ts";

/** A block-sized transaction in base64 fits; the SDK's own limit is 1 MB. */
const MAX_BODY_BYTES = 4_000_000;

/** Where the REST face listens and what its answers say of the node. */
export type RestServerOptions = ServerAddress & Omit<ServiceContext, "view">;

/** What the REST face needs. */
export interface RestServerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Creates the REST face ("rest"): the gRPC methods of application and node as JSON over HTTP. */
export function createRestServer(options: RestServerOptions, deps: RestServerDeps): ServerFactory {
  const { host, port, portOption, ...context } = options;
  const logger = deps.logger.child({ face: "rest" });
  return (view) => {
    const router = createCallRouter({ ...context, view }, logger);
    const gateway = createGateway({ router, chainName: context.chainName, logger });
    return createHttpListener(
      { face: "rest", host, port, portOption, maxBodyBytes: MAX_BODY_BYTES },
      {
        logger,
        answer: (request) => {
          const { headers, ...answer } = gateway(request);
          const serverTime = String(Math.floor(deps.clock.nowMs() / 1000));
          return { ...answer, headers: { ...headers, "X-Server-Time": serverTime } };
        },
      },
    );
  };
}
