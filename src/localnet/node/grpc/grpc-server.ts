import { Buffer } from "node:buffer";
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type ServerInterceptor,
  status,
} from "@grpc/grpc-js";
import type { Logger } from "../../../platform/base/logger.ts";
import type { SendBudget } from "../../../platform/http/http-connections.ts";
import {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../../cosmos/proto/gen/grpc/reflection/v1/reflection.ts";
import { BLOCK_HEIGHT_KEY } from "./block-height.ts";
import type { CallRouter } from "./call-router.ts";
import { GRPC } from "./grpc-status.ts";
import { createReflectionStream, REFLECTION_PATHS } from "./reflection.ts";

export interface GrpcServerDeps {
  readonly router: CallRouter;
  readonly chainName: string;
  /** Delays calls while clients do not read. */
  readonly budget: SendBudget;
  readonly interceptor: ServerInterceptor;
  readonly logger: Logger;
}

/** The SDK's default. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** The SDK's default is 2 GiB, with which one response could fill the memory of this process. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const MAX_STREAMS_PER_CONNECTION = 100;
const MAX_IDLE_MS = 10 * 60_000;
const KEEPALIVE_MS = 60_000;

/**
 * Creates a gRPC server with every unary method of the router and server reflection. It passes the bytes of requests and
 * responses through. The caller gives it its connections.
 */
export function createGrpcServer(deps: GrpcServerDeps): Server {
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
  const reflection = { paths: router.paths, chainName };
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
    const heights = call.metadata.get(BLOCK_HEIGHT_KEY).map(String);
    const reply = router.call({ path, data: call.request, heights });
    if (reply.height !== undefined) {
      const metadata = new Metadata();
      metadata.set(BLOCK_HEIGHT_KEY, reply.height.toString());
      // Header metadata, also for an error. Clients of the SDK read the height there. The trailers come after the response
      // and carry status and message.
      call.sendMetadata(metadata);
    }
    if (reply.code === GRPC.ok) done(null, reply.value);
    else done({ code: reply.code, details: reply.message });
  };
  return (call, done) => {
    const capacity = budget.untilCapacity();
    if (capacity === undefined) respond(call, done);
    else void capacity.then(() => !call.cancelled && respond(call, done));
  };
}

/** Handles reflection streams. Responses have the order of the requests. */
function reflectionHandler(
  openStream: () => ReturnType<typeof createReflectionStream>,
  logger: Logger,
): handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> {
  return (call) => {
    const stream = openStream();
    call.on("data", (request: ServerReflectionRequest) => {
      if (call.write(stream.respond(request))) return;
      // A response is many times larger than its request. Without this a client that does not read would fill the memory.
      call.pause();
      call.once("drain", () => call.resume());
    });
    call.on("error", (error: Error) => {
      logger.debug("reflection stream ended", { error: error.message, code: status.CANCELLED });
    });
    call.on("end", () => call.end());
  };
}
