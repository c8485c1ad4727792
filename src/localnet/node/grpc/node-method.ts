import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { parseGoInteger } from "../../../platform/base/integers.ts";
import { ErrInvalidHeight, ErrInvalidRequest } from "../../chain/runtime/errors.ts";
import { decodeRequest, type WireType } from "../../chain/runtime/handlers.ts";
import type { NodeView } from "../base/node-view.ts";

export interface ServiceContext {
  readonly view: NodeView;
  /** Chain name in the type URLs of the chain's own modules, such as "neutron". */
  readonly chainName: string;
  /** Field numbers and names in the chain's messages. Default: as in the `.proto` files. */
  readonly proto?: ProtoVariant | undefined;
  /** Bech32 prefix of consensus addresses, such as "neutronvalcons". */
  readonly consensusPrefix: string;
  /** Address of the CometBFT RPC server, such as "tcp://127.0.0.1:26657". */
  readonly rpcAddress: () => string;
}

/** A gRPC method that the node itself implements. `handle` throws `QueryError` or `ModuleError`. */
export interface NodeMethod {
  readonly path: string;
  /** Handles a call. `height` is the requested or latest height, or 0 for {@link BROADCAST_PATH}. */
  readonly handle: Handle<Uint8Array, Uint8Array>;
}

type Handle<Request, Response> = (request: Request, context: ServiceContext, height: bigint) => Response;

/**
 * Path of a method that reads no chain state, and therefore works before the first block. The method cannot be called through
 * `abci_query`.
 */
export const BROADCAST_PATH = "/cosmos.tx.v1beta1.Service/BroadcastTx";

/** Extracts the decoded message's TypeScript type from a generated `WireType`. */
type Message<Type> = Type extends WireType<infer T> ? T : never;

/** Names of the methods for which `Wire` contains the types `<Name>Request` and `<Name>Response`. */
type MethodName<Wire> = keyof Wire extends infer Key
  ? Key extends `${infer Name}Request`
    ? Name
    : never
  : never;

/** Implementations of a service's methods, by name. */
type NodeFunctions<Wire> = {
  readonly [Name in MethodName<Wire>]?: Handle<
    Message<Wire[`${Name}Request` & keyof Wire]>,
    Message<Wire[`${Name}Response` & keyof Wire]>
  >;
};

/** Creates a service's methods from functions on decoded messages. The methods throw `UnreadableRequest` if decoding fails. */
export function nodeMethods<Wire>(
  service: string,
  wire: Wire,
  functions: NodeFunctions<Wire>,
): readonly NodeMethod[];
export function nodeMethods(
  service: string,
  wire: Readonly<Record<string, WireType<unknown>>>,
  functions: Readonly<Record<string, Handle<unknown, unknown>>>,
): readonly NodeMethod[] {
  return Object.entries(functions).map(([name, handle]) => {
    const [request, response] = [wire[`${name}Request`], wire[`${name}Response`]];
    if (request === undefined || response === undefined) return unreachable(`no messages of ${name}`);
    return {
      path: `/${service}/${name}`,
      handle: (bytes, context, height) =>
        response.encode(handle(decodeRequest(request, bytes), context, height)).finish(),
    };
  });
}

/** Metadata key for the height. In a request, it selects the height to read. In a response, it reports the height that was read. */
export const BLOCK_HEIGHT_KEY = "x-cosmos-block-height";

/** Returns the requested height or, like baseapp, 0 (latest) unless `values` has exactly one height. Throws `ModuleError` sdk/18. */
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

/** Throws `ModuleError`, with baseapp's message, if queries cannot read this height. Height 0 selects the latest state. */
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
