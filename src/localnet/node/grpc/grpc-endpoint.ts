import { createServer, type Server as NetServer } from "node:net";
import { type Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import type { Logger } from "../../../platform/base/logger.ts";
import { listen } from "../../../platform/http/listen.ts";
import { createSendBudget } from "../../../platform/http/http-connections.ts";
import type { ServerAddress } from "../node-options.ts";
import type { ServerFactory } from "../node-server.ts";
import { createGrpcConnections, type GrpcConnectionLimits } from "./grpc-connections.ts";
import { createGrpcServer } from "./grpc-server.ts";

export interface GrpcEndpointOptions extends ServerAddress {
  /** First part of the type URLs of the chain's own modules: "neutron". */
  readonly chainName: string;
}

/** Bounds of the gRPC server. */
export const GRPC_LIMITS: GrpcConnectionLimits & { readonly maxUnsentBytes: number } = {
  maxConnections: 256,
  prefaceTimeoutMs: 10_000,
  maxUnsentBytes: 67_108_864,
};
/** Time that open calls get at close. */
const GRACE_MS = 500;

/** Creates the gRPC server ("grpc"), without TLS: every method of the router, and server reflection. */
export function createGrpcEndpoint(
  options: GrpcEndpointOptions,
  deps: { readonly logger: Logger },
  limits: typeof GRPC_LIMITS = GRPC_LIMITS,
): ServerFactory {
  const { host, port, portOption, chainName } = options;
  const logger = deps.logger.child({ server: "grpc" });
  return (router) => {
    const budget = createSendBudget(limits.maxUnsentBytes);
    const connections = createGrpcConnections(limits, budget);
    const { interceptor } = connections;
    const server = createGrpcServer({ router, chainName, budget, interceptor, logger });
    // The library's own `bindAsync` loses the reason of a failure, prints to the console, and cannot limit connections.
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = createServer((socket) => {
      socket.on("error", (error) => logger.debug("grpc connection failed", { error: error.message }));
      connections.add(socket);
      injector.injectConnection(socket);
    });
    return {
      name: "grpc",
      listen: async () => (await listen(listener, { name: "grpc", listen: { host, port }, portOption })).port,
      close: () => close(listener, server),
    };
  };
}

/** Stops accepting connections, lets open calls end, then cuts them. */
async function close(listener: NetServer, server: GrpcServer): Promise<void> {
  const stopped = new Promise<void>((resolve) => listener.close(() => resolve()));
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
  // The listener closes only after all its connections, so this wait comes last.
  await stopped;
}
