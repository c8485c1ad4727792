import { Buffer } from "node:buffer";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type Server as GrpcServer,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from "@grpc/grpc-js";
import {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../../cosmos/proto/gen/grpc/reflection/v1/reflection.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createSendBudget, type SendBudget } from "../../../platform/http/http-connections.ts";
import { listen } from "../../../platform/http/listen.ts";
import { GrpcCode } from "../../chain/runtime/errors.ts";
import type { ServerAddress } from "../base/node-server.ts";
import { callInQueue, type CallRouter, type ServerFactory, type UnaryReply } from "./call-router.ts";
import { BLOCK_HEIGHT_KEY } from "./node-method.ts";
import { createReflectionStream, REFLECTION_PATHS } from "./reflection.ts";

export interface GrpcEndpointOptions extends ServerAddress {
  readonly chainName: string;
}

export const GRPC_LIMITS: GrpcConnectionLimits & { readonly maxUnsentBytes: number } = {
  maxConnections: 256,
  prefaceTimeoutMs: 10_000,
  maxUnsentBytes: 67_108_864,
};
/** Maximum time that a closing server waits for open calls to finish. */
const GRACE_MS = 500;

/** Creates the gRPC server ("grpc"), without TLS. The server offers all of the router's methods, and server reflection. */
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
    // Don't use the library's `bindAsync`, which loses the reason for a failure, prints to the console, and cannot limit connections.
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

/** Stops accepting connections, lets open calls finish, then closes all remaining connections. */
async function close(listener: NetServer, server: GrpcServer): Promise<void> {
  const stopped = new Promise<void>((resolve) => listener.close(() => resolve()));
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
  // Wait for the listener last, because it closes only after all of its connections have closed.
  await stopped;
}

interface GrpcServerDeps {
  readonly router: CallRouter;
  readonly chainName: string;
  /** Budget for unsent bytes, which delays calls while clients do not read their responses. */
  readonly budget: SendBudget;
  readonly interceptor: ServerInterceptor;
  readonly logger: Logger;
}

/** Maximum request size, as in the SDK. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** Maximum response size. With the SDK's default of 2 GiB, a single response could fill the process's memory. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const MAX_STREAMS_PER_CONNECTION = 100;
const MAX_IDLE_MS = 10 * 60_000;
const KEEPALIVE_MS = 60_000;

/**
 * Creates a server for reflection and the router's unary methods. The caller passes connections to the server. The server does not
 * decode the messages of unary methods.
 */
function createGrpcServer(deps: GrpcServerDeps): Server {
  const { router, chainName, logger } = deps;
  const server = new Server({
    "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
    "grpc.max_send_message_length": MAX_RESPONSE_BYTES,
    "grpc.max_concurrent_streams": MAX_STREAMS_PER_CONNECTION,
    "grpc.max_connection_idle_ms": MAX_IDLE_MS,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    interceptors: [deps.interceptor],
  });
  for (const path of router.paths) {
    server.register(path, unaryHandler(path, deps), toBuffer, (bytes) => bytes, "unary");
  }
  const reflection = { paths: router.paths, chainName, proto: router.proto };
  for (const path of REFLECTION_PATHS) {
    server.register(
      path,
      reflectionHandler(() => createReflectionStream(reflection), logger),
      (response: ServerReflectionResponse) => toBuffer(ServerReflectionResponse.encode(response).finish()),
      (bytes) => ServerReflectionRequest.decode(bytes),
      "bidi",
    );
  }
  return server;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unaryHandler(
  path: string,
  { router, budget }: GrpcServerDeps,
): handleUnaryCall<Uint8Array, Uint8Array> {
  const respond: handleUnaryCall<Uint8Array, Uint8Array> = (call, done) => {
    const send = (reply: UnaryReply): void => {
      if (reply.height !== undefined) {
        const metadata = new Metadata();
        metadata.set(BLOCK_HEIGHT_KEY, reply.height.toString());
        // Send header metadata even with an error, because SDK clients read the height from the header. The status and message follow
        // in the trailers.
        call.sendMetadata(metadata);
      }
      if (reply.code === GrpcCode.OK) done(null, reply.value);
      else done({ code: reply.code, details: reply.message });
    };
    const heights = call.metadata.get(BLOCK_HEIGHT_KEY).map(String);
    const waiter = { isGone: () => call.cancelled, budget };
    void callInQueue(router, { path, data: call.request, heights }, waiter, (reply) => reply).then(
      (reply) => !call.cancelled && send(reply),
    );
  };
  return (call, done) => {
    const capacity = budget.untilCapacity();
    if (capacity === undefined) respond(call, done);
    else void capacity.then(() => !call.cancelled && respond(call, done));
  };
}

/** Handles reflection streams, with responses in the order of the requests. */
function reflectionHandler(
  openStream: () => ReturnType<typeof createReflectionStream>,
  logger: Logger,
): handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> {
  return (call) => {
    const stream = openStream();
    call.on("data", (request: ServerReflectionRequest) => {
      if (call.write(stream.respond(request))) return;
      // Pause reading, because responses are much larger than requests, and a client that does not read could fill the memory.
      call.pause();
      call.once("drain", () => call.resume());
    });
    call.on("error", (error: Error) => {
      logger.debug("reflection stream ended", { error: error.message, code: status.CANCELLED });
    });
    call.on("end", () => call.end());
  };
}

interface GrpcConnectionLimits {
  /** Maximum number of connections. At the limit, each new connection replaces the connection that has been idle longest. */
  readonly maxConnections: number;
  /** Maximum time until the client's HTTP/2 preface arrives. */
  readonly prefaceTimeoutMs: number;
}

/** Size of the preface with which a client starts every HTTP/2 connection. */
const PREFACE_BYTES = 24;
interface Connection {
  readonly socket: Socket;
  /**
   * Number of bytes received up to the last check. A connection is active if this number has grown. Sent bytes are ignored, because
   * the server sends settings and pings to every client.
   */
  bytesRead: number;
}

/** Tracks the gRPC server's TCP connections, closes excess connections, and counts unsent response bytes. */
function createGrpcConnections(limits: GrpcConnectionLimits, budget: SendBudget) {
  // Connections by peer, longest idle first, because traffic moves a connection to the end.
  const connections = new Map<string, Connection>();
  const measure = (): void => {
    // Iterate over a copy, because an entry moved to the end of the map would be visited again.
    for (const [peer, connection] of Array.from(connections)) {
      const { bytesRead } = connection.socket;
      if (bytesRead === connection.bytesRead) continue;
      connection.bytesRead = bytesRead;
      connections.delete(peer);
      connections.set(peer, connection);
    }
  };
  const evict = (): void => {
    measure();
    const [longest] = connections;
    if (longest === undefined) return;
    connections.delete(longest[0]);
    longest[1].socket.destroy();
  };
  const interceptor: ServerInterceptor = (_method, call) => {
    const { remoteAddress, remotePort } = call.getConnectionInfo();
    const cut = (): void => void connections.get(`${remoteAddress} ${remotePort}`)?.socket.destroy();
    return new CountedCall(call, budget, cut);
  };
  return {
    add: (socket: Socket) => {
      const peer = peerOf(socket);
      if (connections.size >= limits.maxConnections) evict();
      connections.set(peer, { socket, bytesRead: 0 });
      const preface = setTimeout(() => {
        if (socket.bytesRead < PREFACE_BYTES) socket.destroy();
      }, limits.prefaceTimeoutMs);
      socket.once("close", () => {
        clearTimeout(preface);
        if (connections.get(peer)?.socket === socket) connections.delete(peer);
      });
    },
    /** Interceptor that charges unsent response bytes to the send budget. */
    interceptor,
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

type CallListener = Parameters<ServerInterceptingCall["start"]>[0];

/** A call whose responses count against the send budget until the client has read the responses. */
class CountedCall extends ServerInterceptingCall {
  readonly #budget: SendBudget;
  readonly #cut: () => void;
  readonly #holds = new Set<() => void>();

  constructor(
    call: ConstructorParameters<typeof ServerInterceptingCall>[0],
    budget: SendBudget,
    cut: () => void,
  ) {
    super(call);
    this.#budget = budget;
    this.#cut = cut;
  }

  override start(listener: CallListener): void {
    super.start({
      ...listener,
      // Release all reserved bytes on cancellation, because a cancelled call does not run the callbacks of its messages.
      onCancel: () => {
        for (const release of this.#holds) release();
        this.#holds.clear();
        listener.onCancel();
      },
    });
  }

  override sendMessage(message: unknown, callback: () => void): void {
    const bytes = message instanceof Uint8Array ? message.length : 0;
    const release = this.#budget.hold(bytes, this.#cut);
    this.#holds.add(release);
    super.sendMessage(message, () => {
      release();
      this.#holds.delete(release);
      callback();
    });
  }
}
