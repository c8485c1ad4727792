import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { ErrTxDecode } from "../../runtime/errors.ts";
import { LOCALHOST_URL } from "./client/client-state.ts";

/** The Go interfaces of packed parts of messages, with the types of this chain that implement them. */
const IMPLEMENTATIONS = {
  ClientState: [TYPE_URL.tendermintClientState, LOCALHOST_URL],
  ConsensusState: [TYPE_URL.tendermintConsensusState],
  ClientMessage: [TYPE_URL.tendermintHeader, TYPE_URL.tendermintMisbehaviour],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A packed part of a message, with the interface that its type must implement. */
export type PackedPart = readonly [interfaceName: keyof typeof IMPLEMENTATIONS, packed: Any | undefined];

/**
 * Rejects a packed part of another type with sdk/2. Go unpacks the parts while it decodes a transaction, so that a wrong type fails
 * before any check of the message. An absent part passes.
 */
export function requirePackedType([interfaceName, packed]: PackedPart): void {
  const types: readonly string[] = IMPLEMENTATIONS[interfaceName];
  if (packed === undefined || packed.typeUrl === "" || types.includes(packed.typeUrl)) return;
  throw ErrTxDecode(
    `no concrete type registered for type URL ${packed.typeUrl} against interface *exported.${interfaceName}`,
  );
}
