import { equalBytes } from "../../../../base/bytes.ts";
import { nsToTimestamp, timestampToNs } from "../../../../comet/proto-blocks.ts";
import { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import { ConsensusState } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../proto/type-urls.ts";
import { decoded, ErrUnpackAny, unregistered } from "../errors.ts";

/** What a client keeps of a verified header: its time, its app hash, and the hash of the validators that come next. */
export interface VerifiedState {
  readonly timeNs: bigint;
  readonly root: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
}

/** Reads a Tendermint consensus state from its Any. Throws ibc/14 when absent, and for another type. */
export function unpackConsensusState(any: Any | undefined): VerifiedState {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  if (any.typeUrl !== TYPE_URL.tendermintConsensusState) {
    throw unregistered(
      `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ConsensusState`,
    );
  }
  return decoded(() => {
    const state = ConsensusState.decode(any.value);
    return {
      timeNs: timestampToNs(state.timestamp),
      root: state.root?.hash ?? new Uint8Array(0),
      nextValidatorsHash: state.nextValidatorsHash,
    };
  });
}

/** A consensus state as the Any that is stored and proven. */
export function packConsensusState(state: VerifiedState): Any {
  const value = ConsensusState.encode({
    timestamp: nsToTimestamp(state.timeNs),
    root: { hash: state.root },
    nextValidatorsHash: state.nextValidatorsHash,
  }).finish();
  return { typeUrl: TYPE_URL.tendermintConsensusState, value };
}

/** The encoded form of {@link packConsensusState}. */
export function encodeConsensusState(state: VerifiedState): Uint8Array {
  return Any.encode(packConsensusState(state)).finish();
}

/** Whether two headers of one height left the same state. */
export function isSameState(a: VerifiedState, b: VerifiedState): boolean {
  return (
    a.timeNs === b.timeNs &&
    equalBytes(a.root, b.root) &&
    equalBytes(a.nextValidatorsHash, b.nextValidatorsHash)
  );
}
