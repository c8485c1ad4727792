import { Buffer } from "node:buffer";
import { type handleBidiStreamingCall, type handleUnaryCall, Metadata, Server, status } from "@grpc/grpc-js";
import type { Logger } from "../../base/logger.ts";
import {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../proto/gen/grpc/reflection/v1/reflection.ts";
import { BLOCK_HEIGHT_KEY } from "./block-height.ts";
import type { CallRouter } from "./call-router.ts";
import { GRPC } from "./grpc-status.ts";
import { createReflectionStream, REFLECTION_PATHS, servedServices } from "./reflection.ts";

/** What a gRPC server serves. */
export interface GrpcServerDeps {
  readonly router: CallRouter;
  readonly chainName: string;
  readonly logger: Logger;
}

/** The SDK's default for requests; answers may be larger, but not without end. */
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const MAX_STREAMS_PER_CONNECTION = 100;
const MAX_IDLE_MS = 10 * 60_000;
const KEEPALIVE_MS = 60_000;

/** Creates a server with every unary method of the router, bytes passed through, and server reflection. It does not listen. */
export function createGrpcServer({ router, chainName, logger }: GrpcServerDeps): Server {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
    "grpc.max_send_message_length": MAX_RESPONSE_BYTES,
    "grpc.max_concurrent_streams": MAX_STREAMS_PER_CONNECTION,
    "grpc.max_connection_idle_ms": MAX_IDLE_MS,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
  });
  for (const path of router.paths) {
    server.register(path, unaryHandler(path, router), toBuffer, (bytes) => bytes, "unary");
  }
  const reflection = { serviceNames: servedServices(router.paths), chainName };
  for (const path of REFLECTION_PATHS) {
    server.register(
      path,
      reflectionHandler(() => createReflectionStream(reflection), logger),
      (answer: ServerReflectionResponse) => toBuffer(ServerReflectionResponse.encode(answer).finish()),
      (bytes) => ServerReflectionRequest.decode(bytes),
      "bidi",
    );
  }
  return server;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function unaryHandler(path: string, router: CallRouter): handleUnaryCall<Uint8Array, Uint8Array> {
  return (call, done) => {
    const heights = call.metadata.get(BLOCK_HEIGHT_KEY).map(String);
    const reply = router.call({ path, data: call.request, heights });
    if (reply.height !== undefined) {
      const metadata = new Metadata();
      metadata.set(BLOCK_HEIGHT_KEY, reply.height.toString());
      call.sendMetadata(metadata);
    }
    if (reply.code === GRPC.ok) done(null, reply.value);
    else done({ code: reply.code, details: reply.message });
  };
}

/** Answers in order; a client that does not read is not read from. */
function reflectionHandler(
  openStream: () => ReturnType<typeof createReflectionStream>,
  logger: Logger,
): handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> {
  return (call) => {
    const stream = openStream();
    call.on("data", (request: ServerReflectionRequest) => {
      if (call.write(stream.answer(request))) return;
      call.pause();
      call.once("drain", () => call.resume());
    });
    call.on("error", (error: Error) => {
      logger.debug("reflection stream ended", { error: error.message, code: status.CANCELLED });
    });
    call.on("end", () => call.end());
  };
}
