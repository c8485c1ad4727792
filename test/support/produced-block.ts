import type { ProducedBlock } from "../../src/localnet/node/consensus/engine.ts";

const EMPTY = new Uint8Array();
const ID = { hash: EMPTY, parts: { total: 0, hash: EMPTY } };
const COMMIT = { height: 0n, round: 0, blockId: ID, signatures: [] };
const SET = { validators: [], proposer: undefined };

/** Returns an empty block with this height. */
export function producedBlock(height: bigint): ProducedBlock {
  return {
    block: {
      header: {
        version: { block: 11n, app: 0n },
        chainId: "x-1",
        height,
        timeNs: 0n,
        lastBlockId: ID,
        lastCommitHash: EMPTY,
        dataHash: EMPTY,
        validatorsHash: EMPTY,
        nextValidatorsHash: EMPTY,
        consensusHash: EMPTY,
        appHash: EMPTY,
        lastResultsHash: EMPTY,
        evidenceHash: EMPTY,
        proposerAddress: EMPTY,
      },
      txs: [],
      lastCommit: COMMIT,
      blockId: ID,
      sizeBytes: 0,
    },
    commit: COMMIT,
    results: { height, txResults: [], events: [], validatorUpdates: [], appHash: EMPTY },
    state: {
      chainId: "x-1",
      height,
      initialHeight: 1n,
      lastBlockId: ID,
      lastTimeNs: 0n,
      lastCommit: COMMIT,
      lastValidators: SET,
      validators: SET,
      nextValidators: SET,
      appHash: EMPTY,
      lastResultsHash: EMPTY,
    },
    executionMs: 0,
  };
}
