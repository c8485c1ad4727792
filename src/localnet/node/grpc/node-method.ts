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
  /** `height` is the height that the call reads: the latest unless the call requests another, and 0 when stateless. */
  readonly handle: (request: Uint8Array, context: ServiceContext, height: bigint) => Uint8Array;
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Creates a method from its codecs and its function. Throws `UnreadableRequest` for undecodable bytes. */
export function nodeMethod<Request, Response>(
  path: string,
  request: Decoder<Request>,
  response: Encoder<Response>,
  handle: (request: Request, context: ServiceContext, height: bigint) => Response,
): NodeMethod {
  return {
    path,
    handle: (bytes, context, height) =>
      response.encode(handle(decodeRequest(request, bytes), context, height)).finish(),
  };
}

function decodeRequest<T>(type: Decoder<T>, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw new UnreadableRequest(thrown);
  }
}

/** A request whose bytes do not decode. grpc-go and baseapp report it in different ways; see `call-router.ts`. */
export class UnreadableRequest extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : "not protobuf";
    super(reason === "premature EOF" ? "unexpected EOF" : reason, { cause });
  }
}
