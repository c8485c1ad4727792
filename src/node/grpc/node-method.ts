import { GRPC } from "./grpc-status.ts";
import { QueryError } from "../../chain/runtime/module.ts";
import type { NodeView } from "../node-view.ts";

/** What the node's own services read. */
export interface ServiceContext {
  readonly view: NodeView;
  /** First part of the chain's own type URLs: "neutron". */
  readonly chainName: string;
  /** Human-readable part of consensus addresses: "neutronvalcons". */
  readonly consensusPrefix: string;
  /** Address of the CometBFT RPC: "tcp://127.0.0.1:26657". */
  readonly rpcAddress: () => string;
}

/** A gRPC method that the node serves itself. `handle` throws `QueryError` or `ModuleError`. */
export interface NodeMethod {
  readonly path: string;
  /** Reads no state of the chain. Works before the first block, and its response has no height. */
  readonly stateless?: boolean;
  readonly handle: (request: Uint8Array, context: ServiceContext) => Uint8Array;
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Creates a method from its codecs and its function. Undecodable bytes fail as in grpc-go. */
export function nodeMethod<Request, Response>(
  path: string,
  request: Decoder<Request>,
  response: Encoder<Response>,
  handle: (request: Request, context: ServiceContext) => Response,
): NodeMethod {
  return {
    path,
    handle: (bytes, context) => response.encode(handle(decodeRequest(request, bytes), context)).finish(),
  };
}

function decodeRequest<T>(type: Decoder<T>, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw unreadableRequest(thrown);
  }
}

/** The error of a request whose bytes do not decode: Internal, as grpc-go reports it, not InvalidArgument. */
export function unreadableRequest(thrown: unknown): QueryError {
  const reason = thrown instanceof Error ? thrown.message : "not protobuf";
  return new QueryError(GRPC.internal, `grpc: failed to unmarshal the received message: ${reason}`);
}
