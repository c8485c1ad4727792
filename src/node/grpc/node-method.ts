import { GRPC } from "./grpc-status.ts";
import { QueryError } from "../../chain/runtime/module.ts";
import type { NodeView } from "../node-view.ts";

/** What the node-level services work on. */
export interface ServiceContext {
  readonly view: NodeView;
  /** First part of the chain's own type URLs. */
  readonly chainName: string;
  /** Human-readable part of consensus addresses: "neutronvalcons". */
  readonly consensusPrefix: string;
  /** Where the CometBFT RPC listens, "tcp://…". */
  readonly rpcAddress: () => string;
}

/**
 * A gRPC method that the node answers itself, beside those of the application. Encoded request to encoded response;
 * throws `QueryError` or `ModuleError`.
 */
export interface NodeMethod {
  readonly path: string;
  /** Looks at no height of the chain: it can be called before the first block, and its answer names no height. */
  readonly stateless?: boolean;
  readonly answer: (request: Uint8Array, context: ServiceContext) => Uint8Array;
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Makes a method of its codecs and what it does. Bytes that are no such request fail as in grpc-go. */
export function nodeMethod<Request, Response>(
  path: string,
  request: Decoder<Request>,
  response: Encoder<Response>,
  answer: (request: Request, context: ServiceContext) => Response,
): NodeMethod {
  return {
    path,
    answer: (bytes, context) => response.encode(answer(decodeRequest(request, bytes), context)).finish(),
  };
}

function decodeRequest<T>(type: Decoder<T>, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw unreadableRequest(thrown);
  }
}

/** The status of a request whose bytes are no such message. */
export function unreadableRequest(thrown: unknown): QueryError {
  const why = thrown instanceof Error ? thrown.message : "not protobuf";
  return new QueryError(GRPC.internal, `grpc: failed to unmarshal the received message: ${why}`);
}
