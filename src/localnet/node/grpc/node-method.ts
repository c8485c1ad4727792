import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { parseGoInteger } from "../../../platform/base/integers.ts";
import { ErrInvalidHeight, ErrInvalidRequest } from "../../chain/runtime/errors.ts";
import { decodeRequest } from "../../chain/runtime/handlers.ts";
import type { NodeView } from "../base/node-view.ts";

/** Context for the node's own services. */
export interface ServiceContext {
  readonly view: NodeView;
  /** First part of the type URLs of the chain's own modules: "neutron". */
  readonly chainName: string;
  /** Field numbers and names used in the chain's messages. Default: those in the definitions. */
  readonly proto?: ProtoVariant | undefined;
  /** Human-readable part of consensus addresses: "neutronvalcons". */
  readonly consensusPrefix: string;
  /** Address of the CometBFT RPC server: "tcp://127.0.0.1:26657". */
  readonly rpcAddress: () => string;
}

/** A gRPC method that the node serves itself. `handle` throws `QueryError` or `ModuleError`. */
export interface NodeMethod {
  readonly path: string;
  /** True if the method reads no chain state. It then works before the first block, and its response has no height. */
  readonly stateless?: boolean;
  /** `height` is the height that the call reads: the latest unless the call requests another, or 0 for a stateless method. */
  readonly handle: (request: Uint8Array, context: ServiceContext, height: bigint) => Uint8Array;
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Creates a method from its codecs and its handler. Throws `UnreadableRequest` for bytes that cannot be decoded. */
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

/** Metadata key for a height. A request uses it to select a height; a response uses it to report the height that was read. */
export const BLOCK_HEIGHT_KEY = "x-cosmos-block-height";

/**
 * Returns the height that a call requests. Unless there is exactly one value, this is 0 (latest), as in baseapp's interceptor.
 * Throws `ModuleError` sdk/18.
 */
export function blockHeightOf(values: readonly string[]): bigint {
  const [value] = values;
  if (value === undefined || values.length !== 1) return 0n;
  try {
    return parseGoInteger(value, { signed: true, bits: 64, base: 10 });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "unreadable";
    throw ErrInvalidRequest(
      `Baseapp.RegisterGRPCServer: invalid height header "${BLOCK_HEIGHT_KEY}": ${reason}`,
    );
  }
}

/** Throws `ModuleError` with baseapp's text if no query can read this height. 0 means the latest height. */
export function requireQueryHeight(height: bigint, latest: bigint, prove = false): void {
  if (height < 0n) {
    throw ErrInvalidRequest("cannot query with height < 0; please provide a valid height");
  }
  if (latest === 0n) throw ErrInvalidHeight("the chain is not ready; please wait for first block");
  if (height > latest) {
    throw ErrInvalidHeight("cannot query with height in the future; please provide a valid height");
  }
  if (prove && (height === 0n ? latest : height) <= 1n) {
    throw ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height");
  }
}
