import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import { errorText } from "../../../../../platform/base/errors.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrIbcInvalidAddress, ErrIbcUnauthorized } from "./errors.ts";
import { selfHeight } from "./height.ts";
import { LOCALHOST_URL } from "./identifiers.ts";
import { ErrNotSupported, ErrTxDecode, ModuleError, QueryError, GrpcCode } from "../../../runtime/errors.ts";

/** Every message of IBC has one signer. */
export interface SignedMessage {
  readonly signer: string;
}

/** The signer of a message with packed parts. Their types are checked while a transaction is decoded, as in Go. */
export function packedSigner<T extends SignedMessage>(
  packed: (message: T) => readonly PackedPart[],
): (message: T) => readonly string[] {
  return (message) => {
    packed(message).forEach(requirePackedType);
    return [message.signer];
  };
}

/** Fails a message that ibc-go supports and this chain does not, with sdk/37. */
export function unsupported(typeUrl: string): () => never {
  return () => {
    throw ErrNotSupported(`${typeUrl} is not implemented`);
  };
}

/** Throws ibc/5 when the signer of a message is not an address of the chain. */
export function requireSigner(bech32Prefix: string, { signer }: SignedMessage): void {
  try {
    parseAddress(bech32Prefix, signer);
  } catch (error) {
    throw ErrIbcInvalidAddress(`string could not be parsed as address: ${errorText(error)}`);
  }
}

/** Throws ibc/2 when somebody else than the authority signed. */
export function requireAuthority(authority: string, { signer }: SignedMessage): void {
  if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
}

/** The Go interfaces of packed message parts, with this chain's types that implement them. */
const IMPLEMENTATIONS = {
  ClientState: [TYPE_URL.tendermintClientState, LOCALHOST_URL],
  ConsensusState: [TYPE_URL.tendermintConsensusState],
  ClientMessage: [TYPE_URL.tendermintHeader, TYPE_URL.tendermintMisbehaviour],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A packed part of a message, with the interface that its type must implement. */
type PackedPart = readonly [interfaceName: keyof typeof IMPLEMENTATIONS, packed: Any | undefined];

/**
 * Rejects a packed part of another type with sdk/2. Go unpacks the parts while it decodes a transaction, so that a wrong type fails
 * before any check of the message. An absent part passes.
 */
function requirePackedType([interfaceName, packed]: PackedPart): void {
  const types: readonly string[] = IMPLEMENTATIONS[interfaceName];
  if (packed === undefined || packed.typeUrl === "" || types.includes(packed.typeUrl)) return;
  throw ErrTxDecode(
    `no concrete type registered for type URL ${packed.typeUrl} against interface *exported.${interfaceName}`,
  );
}

/** Runs a check of a request. A `ModuleError` becomes gRPC status InvalidArgument with its text. */
export function checkArgument(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ModuleError) throw new QueryError(GrpcCode.InvalidArgument, error.message);
    throw error;
  }
}

/** Returns the value. Throws gRPC status NotFound with the text of `error` when the value is undefined. */
export function requireFound<T>(value: T | undefined, error: () => ModuleError): T {
  if (value === undefined) throw new QueryError(GrpcCode.NotFound, error().message);
  return value;
}

/** Returns the proof fields of a response. As in ibc-go, the proof is empty and the height is the chain's own height. */
export function emptyProof(context: Context): { readonly proof: Uint8Array; readonly proofHeight: Height } {
  return { proof: new Uint8Array(0), proofHeight: selfHeight(context) };
}

export interface IbcOptions {
  readonly bech32Prefix: string;
  /** Address that may change params and recover clients, bech32. */
  readonly authority: string;
}
