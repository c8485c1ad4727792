import type { ProducedBlock } from "../../src/node/consensus/engine.ts";

const NOTHING = new Uint8Array();
const ID = { hash: NOTHING, parts: { total: 0, hash: NOTHING } };
const COMMIT = { height: 0n, round: 0, blockId: ID, signatures: [] };
const SET = { validators: [], proposer: undefined };
/** An empty block of this height. */
export function producedBlock(height: bigint): ProducedBlock {
  return {
    block: {
      header: {
        version: { block: 11n, app: 0n },
        chainId: "x-1",
        height,
        timeNs: 0n,
        lastBlockId: ID,
        lastCommitHash: NOTHING,
        dataHash: NOTHING,
        validatorsHash: NOTHING,
        nextValidatorsHash: NOTHING,
        consensusHash: NOTHING,
        appHash: NOTHING,
        lastResultsHash: NOTHING,
        evidenceHash: NOTHING,
        proposerAddress: NOTHING,
      },
      txs: [],
      lastCommit: COMMIT,
      blockId: ID,
      sizeBytes: 0,
    },
    commit: COMMIT,
    results: { height, txResults: [], events: [], validatorUpdates: [], appHash: NOTHING },
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
      appHash: NOTHING,
      lastResultsHash: NOTHING,
    },
    executionMs: 0,
  };
}
