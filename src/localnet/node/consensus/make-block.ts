import { dataHash } from "../../../cosmos/merkle/simple-tree.ts";
import * as hashes from "../../../cosmos/comet/block-hashes.ts";
import * as comet from "../../../cosmos/comet/block-types.ts";
import { medianTimeNs, rotateProposer, totalPower } from "../../../cosmos/comet/validator-set.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { maxInt } from "../../../platform/base/integers.ts";
import { GO_ZERO_TIME_NS } from "../../../platform/base/time.ts";
import type { ConsensusParams } from "../base/genesis-doc.ts";
import { NodeError } from "../base/errors.ts";
import type { StoredBlock } from "../base/node-view.ts";
import { encodeBlock } from "../storage/block-codec.ts";
import type { ChainState } from "./chain-state.ts";
import type { ValidatorKey } from "./validators.ts";
import type { FinalizeBlockRequest } from "../../chain/runtime/abci.ts";

/** Block protocol version of CometBFT 0.38. */
const BLOCK_PROTOCOL = 11n;

/** Minimum time between a block and a vote for it (`timeIota` in CometBFT's `voteTime`). */
const MIN_VOTE_DELAY_NS = 1_000_000n;

/** Time between consecutive votes in a commit, because real validators do not vote in the same nanosecond. */
const VOTE_SPACING_NS = 1_000n;

/** The parts of the next block that do not follow from the chain state, such as its transactions. */
export interface Proposal {
  readonly txs: readonly Uint8Array[];
  readonly turn: Turn;
  readonly params: ConsensusParams;
  readonly appVersion: bigint;
}

/** Builds the next block after `state`, with all hashes as in CometBFT 0.38 and with the BFT time from the last commit. */
export function makeBlock(state: ChainState, proposal: Proposal): StoredBlock {
  const header = makeHeader(state, proposal);
  const bytes = encodeBlock({ header, txs: proposal.txs, lastCommit: state.lastCommit });
  return {
    header,
    txs: proposal.txs,
    lastCommit: state.lastCommit,
    blockId: { hash: hashes.headerHash(header), parts: hashes.partSetHeader(bytes) },
    sizeBytes: bytes.length,
  };
}

function makeHeader(state: ChainState, { txs, turn, params, appVersion }: Proposal): comet.Header {
  return {
    version: { block: BLOCK_PROTOCOL, app: appVersion },
    chainId: state.chainId,
    height: state.height + 1n,
    timeNs: blockTimeNs(state),
    lastBlockId: state.lastBlockId,
    lastCommitHash: hashes.commitHash(state.lastCommit),
    dataHash: dataHash(txs),
    validatorsHash: hashes.validatorsHash(state.validators.validators),
    nextValidatorsHash: hashes.validatorsHash(state.nextValidators.validators),
    consensusHash: hashes.consensusHash(params),
    appHash: state.appHash,
    lastResultsHash: state.lastResultsHash,
    evidenceHash: hashes.evidenceHash([]),
    proposerAddress: turn.proposer.address,
  };
}

/** Returns the next block's time: the genesis time for the first block, otherwise the median time of the last block's votes. */
function blockTimeNs(state: ChainState): bigint {
  if (state.height + 1n === state.initialHeight) return state.lastTimeNs;
  return (
    medianTimeNs(state.lastCommit, state.lastValidators.validators) ?? unreachable("a commit without votes")
  );
}

/** The validators' keys and the time at which they vote. A validator without a key does not sign. */
export interface Signers {
  readonly keyOf: (address: Uint8Array) => ValidatorKey | undefined;
  readonly nowNs: bigint;
}

/** Signs a block with all present validators. The commit has an entry for each validator, in set order. */
export function signCommit(
  state: ChainState,
  block: StoredBlock,
  round: number,
  signers: Signers,
): comet.Commit {
  // Vote at least 1 ms after the block, so that block times increase.
  const firstNs = maxInt(signers.nowNs, block.header.timeNs + MIN_VOTE_DELAY_NS);
  const unsigned = state.validators.validators.map(({ address }, index): comet.CommitSig => {
    if (signers.keyOf(address) === undefined) return ABSENT;
    const timestampNs = firstNs + BigInt(index) * VOTE_SPACING_NS;
    return {
      flag: comet.BLOCK_ID_FLAG.commit,
      validatorAddress: address,
      timestampNs,
      signature: new Uint8Array(),
    };
  });
  const commit = { height: block.header.height, round, blockId: block.blockId, signatures: unsigned };
  // Compute the sign bytes from the unsigned commit, because sign bytes do not cover signatures.
  const signBytes = hashes.commitSignBytes(state.chainId, commit);
  const signatures = unsigned.map((one, index) => {
    const key = one === ABSENT ? undefined : signers.keyOf(one.validatorAddress);
    return key === undefined ? one : { ...one, signature: key.sign(signBytes(index)) };
  });
  return { ...commit, signatures };
}

const ABSENT: comet.CommitSig = {
  flag: comet.BLOCK_ID_FLAG.absent,
  validatorAddress: new Uint8Array(),
  timestampNs: GO_ZERO_TIME_NS,
  signature: new Uint8Array(),
};

/** Returns the addresses of a commit's signers, in lower-case hex. */
export function signersOf(commit: comet.Commit): ReadonlySet<string> {
  return new Set(
    commit.signatures
      .filter((one) => one.flag === comet.BLOCK_ID_FLAG.commit)
      .map((one) => toHex(one.validatorAddress)),
  );
}

/** Returns the FinalizeBlock request for a block, without evidence. `voters` are the validators in the block's last commit. */
export function toRequest(
  { header, txs, lastCommit }: StoredBlock,
  voters: readonly Pick<comet.Validator, "address" | "power">[],
): FinalizeBlockRequest {
  const { height, timeNs, proposerAddress, nextValidatorsHash } = header;
  const signed = signersOf(lastCommit);
  return {
    height,
    timeNs,
    proposerAddress,
    nextValidatorsHash,
    txs,
    lastCommit: voters.map(({ address, power }) => ({ address, power, signed: signed.has(toHex(address)) })),
  };
}

/** The consensus round that decides a block, with the round's proposer. */
interface Turn {
  readonly round: number;
  readonly proposer: comet.Validator;
}

/**
 * Round limit that prevents an endless loop. Each absent validator delays the turn of a present validator by a few rounds at most,
 * because priorities span at most twice the total power. Absent validators have less than a third of the total power, so each round
 * lowers an absent proposer's priority by more than two thirds of the total power.
 */
const MAX_ROUNDS = 10_000;

/** Returns the first round whose proposer is present. Throws `NodeError` `no-quorum` if at most 2/3 of the power is present. */
export function chooseProposer(
  set: comet.ValidatorSet,
  height: bigint,
  isPresent: (address: Uint8Array) => boolean,
): Turn {
  const power = totalPower(set.validators.filter((one) => isPresent(one.address)));
  // Compute `power / total > 2 / 3` in integers, because powers can exceed 2^53. Exactly two thirds is not a quorum.
  if (power * 3n <= totalPower(set.validators) * 2n) {
    throw new NodeError(
      { code: "no-quorum", height },
      `block ${height} cannot be made: the signing validators do not hold more than two thirds of the power`,
    );
  }
  // Like CometBFT, rotate a copy for each round, so that the next height starts from the set of round 0.
  let turn = set;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (turn.proposer !== undefined && isPresent(turn.proposer.address)) {
      return { round, proposer: turn.proposer };
    }
    turn = rotateProposer(turn, 1);
  }
  throw new Error(
    `this is a bug: no proposer for height ${height}; first validator ${toHex(set.validators[0]?.address ?? new Uint8Array())}`,
  );
}
