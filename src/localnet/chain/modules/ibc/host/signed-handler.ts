import type {
  PageRequest,
  PageResponse,
} from "../../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrIbcInvalidAddress, ErrIbcUnauthorized } from "./errors.ts";
import { paginateFiltered } from "../../../runtime/pagination.ts";
import { selfHeight } from "./height.ts";
import { LOCALHOST_URL } from "./identifiers.ts";
import { STORE_NAME } from "./keys.ts";
import * as errors from "../../../runtime/errors.ts";

/** An IBC message, which always has one signer. */
export interface SignedMessage {
  readonly signer: string;
}

/** Returns the signer of a message with packed parts (`Any`). As in Go, throws sdk/2 if a packed part has the wrong type. */
export function packedSigner<T extends SignedMessage>(
  packed: (message: T) => readonly PackedPart[],
): (message: T) => readonly string[] {
  return (message) => {
    packed(message).forEach(requirePackedType);
    return [message.signer];
  };
}

/** Creates a handler that rejects a message with sdk/37, because ibc-go supports the message but this chain does not. */
export function unsupported(typeUrl: string): () => never {
  return () => {
    throw errors.ErrNotSupported(`${typeUrl} is not implemented`);
  };
}

/** Throws ibc/5 if a message's signer is not an address on this chain. */
export function requireSigner(bech32Prefix: string, { signer }: SignedMessage): void {
  errors.orThrowWith(ErrIbcInvalidAddress, "string could not be parsed as address", () =>
    parseAddress(bech32Prefix, signer),
  );
}

/** Throws ibc/2 if the signer is not the authority. */
export function requireAuthority(authority: string, { signer }: SignedMessage): void {
  if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
}

/** The Go interfaces for packed message parts, and the types that implement them on this chain. */
const IMPLEMENTATIONS = {
  ClientState: [TYPE_URL.tendermintClientState, LOCALHOST_URL],
  ConsensusState: [TYPE_URL.tendermintConsensusState],
  ClientMessage: [TYPE_URL.tendermintHeader, TYPE_URL.tendermintMisbehaviour],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A packed part of a message, and the interface its type must implement. */
export type PackedPart = readonly [interfaceName: keyof typeof IMPLEMENTATIONS, packed: Any | undefined];

/**
 * Rejects a packed part of the wrong type with sdk/2. Go unpacks the parts while decoding a transaction, so a wrong type fails
 * before the message is checked. A missing packed part is accepted.
 */
function requirePackedType([interfaceName, packed]: PackedPart): void {
  const types: readonly string[] = IMPLEMENTATIONS[interfaceName];
  if (packed === undefined || packed.typeUrl === "" || types.includes(packed.typeUrl)) return;
  throw errors.ErrTxDecode(
    `no concrete type registered for type URL ${packed.typeUrl} against interface *exported.${interfaceName}`,
  );
}

/** Checks a query's arguments. A `ModuleError` from `check` becomes gRPC status InvalidArgument with `prefix` before the error's text. */
export function checkArgument<T>(check: () => T, prefix = ""): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof errors.ModuleError)
      throw new errors.QueryError(errors.GrpcCode.InvalidArgument, prefix + error.message);
    throw error;
  }
}

/** Returns `value`. If `value` is undefined, throws gRPC status NotFound with the message of `error`. */
export function requireFound<T>(value: T | undefined, error: () => errors.ModuleError): T {
  if (value === undefined) throw new errors.QueryError(errors.GrpcCode.NotFound, error().message);
  return value;
}

/**
 * Reads a page of the entries for which `read` returns a value. As in ibc-go, a page requested by offset also contains the entries
 * that are read before and after the page. With offset 0, the page therefore has one entry more than the limit.
 */
export function readMatches<T>(
  context: Context,
  prefix: Uint8Array,
  request: PageRequest | undefined,
  read: (key: Uint8Array, value: Uint8Array) => T | undefined,
): { readonly items: T[]; readonly pagination: PageResponse } {
  const items: T[] = [];
  const paged = { store: context.store(STORE_NAME), prefix };
  const pagination = paginateFiltered(paged, request, (key, value) => {
    const item = read(key, value);
    if (item !== undefined) items.push(item);
    return item !== undefined;
  });
  return { items, pagination };
}

/** Returns a response's proof fields: as in ibc-go, an empty proof and this chain's height. */
export function emptyProof(context: Context): { readonly proof: Uint8Array; readonly proofHeight: Height } {
  return { proof: new Uint8Array(0), proofHeight: selfHeight(context) };
}

export interface IbcOptions {
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change params and recover clients. */
  readonly authority: string;
}
