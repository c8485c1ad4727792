import { unregisteredError } from "../../../runtime/errors.ts";
import { equalBytes } from "../../../../../platform/base/bytes.ts";
import { nsToTimestamp, timestampToNs } from "../../../../../cosmos/comet/timestamp.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { ConsensusState as WireConsensusState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/type-urls.ts";
import { decodeUntrusted, ErrUnpackAny } from "../errors.ts";

/** Consensus state of a 07-tendermint client: the parts of a verified header that the client stores. */
export interface ConsensusState {
  /** Time of the header, nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** App hash of the header, the root of proofs. */
  readonly root: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
}

/**
 * Decodes a Tendermint consensus state from its Any. Throws `ModuleError` when it is absent, has another type, or does
 * not decode.
 */
export function unpackConsensusState(any: Any | undefined): ConsensusState {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  if (any.typeUrl !== TYPE_URL.tendermintConsensusState) {
    throw unregisteredError(
      `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ConsensusState`,
    );
  }
  return decodeUntrusted(() => {
    const state = WireConsensusState.decode(any.value);
    return {
      timeNs: timestampToNs(state.timestamp),
      root: state.root?.hash ?? new Uint8Array(0),
      nextValidatorsHash: state.nextValidatorsHash,
    };
  });
}

/** Encodes a consensus state as the Any that is stored and that counterparties prove. */
export function packConsensusState(state: ConsensusState): Any {
  const value = WireConsensusState.encode({
    timestamp: nsToTimestamp(state.timeNs),
    root: { hash: state.root },
    nextValidatorsHash: state.nextValidatorsHash,
  }).finish();
  return { typeUrl: TYPE_URL.tendermintConsensusState, value };
}

/** Returns the bytes of {@link packConsensusState}. */
export function encodeConsensusState(state: ConsensusState): Uint8Array {
  return Any.encode(packConsensusState(state)).finish();
}

/** Whether two consensus states are equal. Different states of one height are misbehaviour. */
export function isSameState(a: ConsensusState, b: ConsensusState): boolean {
  return (
    a.timeNs === b.timeNs &&
    equalBytes(a.root, b.root) &&
    equalBytes(a.nextValidatorsHash, b.nextValidatorsHash)
  );
}
