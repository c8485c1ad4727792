import { BLOCK_ID_FLAG } from "../../../src/cosmos/comet/block-types.ts";
import { SignedHeader } from "../../../src/cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../../src/cosmos/proto/gen/tendermint/types/validator.ts";

/** Encodes a validator set in which all have the same power. */
export function encodeValidators(addresses: readonly Uint8Array[]): Uint8Array {
  const validators = addresses.map((address) => ({
    address,
    pubKey: undefined,
    votingPower: 10n,
    proposerPriority: 0n,
  }));
  return ValidatorSet.encode({ validators, proposer: undefined, totalVotingPower: 0n }).finish();
}

/** The commit names who signed. Its signatures are empty. */
function encodeCommit(height: bigint, validators: readonly Uint8Array[]): SignedHeader["commit"] {
  const signatures = validators.map((validatorAddress) => ({
    blockIdFlag: BLOCK_ID_FLAG.commit,
    validatorAddress,
    timestamp: undefined,
    signature: new Uint8Array(),
  }));
  return { height, round: 0, blockId: undefined, signatures };
}

interface SimHeader {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}

/** Encodes a signed header. All validators have signed it. */
export function encodeHeader(validators: readonly Uint8Array[], header: SimHeader): Uint8Array {
  const empty = new Uint8Array();
  const { timeNs, ...rest } = header;
  return SignedHeader.encode({
    commit: encodeCommit(header.height, validators),
    header: {
      ...rest,
      version: undefined,
      time: { seconds: timeNs / 1_000_000_000n, nanos: Number(timeNs % 1_000_000_000n) },
      lastBlockId: undefined,
      lastCommitHash: empty,
      validatorsHash: empty,
      nextValidatorsHash: empty,
      consensusHash: empty,
      evidenceHash: empty,
      proposerAddress: empty,
    },
  }).finish();
}
