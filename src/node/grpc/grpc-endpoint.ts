import { createServer, type Server as NetServer } from "node:net";
import { type Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import type { Logger } from "../../base/logger.ts";
import { toListenError } from "../../ops/listen-error.ts";
import type { ServerAddress } from "../node-options.ts";
import type { ServerFactory } from "../node-view.ts";
import { createCallRouter } from "./call-router.ts";
import { createGrpcServer } from "./grpc-server.ts";
import type { ServiceContext } from "./node-method.ts";

/** Where the gRPC face listens and what its answers say of the node. */
export type GrpcEndpointOptions = ServerAddress & Omit<ServiceContext, "view">;

/** Connections at a time. */
const MAX_CONNECTIONS = 256;
/** Time that open calls get at close. */
const GRACE_MS = 500;

/**
 * Creates the gRPC face ("grpc"), without TLS: every query service of the application, `cosmos.tx.v1beta1.Service`,
 * `cosmos.base.tendermint.v1beta1.Service`, and server reflection.
 */
export function createGrpcEndpoint(
  options: GrpcEndpointOptions,
  deps: { readonly logger: Logger },
): ServerFactory {
  const { host, port, portOption, ...context } = options;
  const logger = deps.logger.child({ face: "grpc" });
  return (view) => {
    const router = createCallRouter({ ...context, view }, logger);
    const server = createGrpcServer({ router, chainName: context.chainName, logger });
    // Own sockets: the library's own listening loses the reason of a failure and prints it to the console.
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = createServer((socket) => {
      socket.on("error", (error) => logger.debug("grpc connection failed", { error: error.message }));
      injector.injectConnection(socket);
    });
    listener.maxConnections = MAX_CONNECTIONS;
    return {
      name: "grpc",
      listen: () => listen(listener, { host, port, portOption }),
      close: () => close(listener, server),
    };
  };
}

function listen(listener: NetServer, address: ServerAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void =>
      reject(toListenError(cause, "grpc", address, address.portOption));
    listener.once("error", onError);
    listener.listen(address.port, address.host, () => {
      listener.removeListener("error", onError);
      const bound = listener.address();
      resolve(typeof bound === "object" && bound !== null ? bound.port : address.port);
    });
  });
}

/** Takes no more connections, lets open calls end, then cuts them. */
async function close(listener: NetServer, server: GrpcServer): Promise<void> {
  const stopped = new Promise<void>((resolve) => listener.close(() => resolve()));
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
  await stopped;
}
