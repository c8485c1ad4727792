import { resultsHash } from "../../../cosmos/comet/block-hashes.ts";
import * as comet from "../../../cosmos/comet/block-types.ts";
import { createValidatorSet, rotateProposer } from "../../../cosmos/comet/validator-set.ts";
import { equalBytes } from "../../../platform/base/bytes.ts";
import type { Application } from "../../chain/runtime/abci.ts";
import { NodeError } from "../base/errors.ts";
import { encodeGenesis, type GenesisDoc } from "../base/genesis-doc.ts";
import type { BlockStore } from "../storage/block-store.ts";
import type { HeightRecord } from "../storage/block-codec.ts";

/** The chain state from which the next block is built, like CometBFT's `state.State`. */
export interface ChainState {
  readonly chainId: string;
  /** Height of the last block, or the initial height minus 1 before the first block. */
  readonly height: bigint;
  readonly initialHeight: bigint;
  readonly lastBlockId: comet.BlockId;
  /** Time of the last block, or the genesis time before the first block. */
  readonly lastTimeNs: bigint;
  /** Commit for the last block, without signatures before the first block. */
  readonly lastCommit: comet.Commit;
  /** The validator set that signed the last block. */
  readonly lastValidators: comet.ValidatorSet;
  /** The validator set that signs the next block. */
  readonly validators: comet.ValidatorSet;
  /** The validator set that signs the block after the next block. */
  readonly nextValidators: comet.ValidatorSet;
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}

/**
 * Loads the state after the last block on disk. If there is no block, stores the genesis document and initializes the application. Throws
 * `NodeError` `state-mismatch` if the application's state does not match the last block, i.e. if the database is damaged.
 *
 * Unlike CometBFT's handshake, this function never replays a block. A block and its application state are written in one transaction, so
 * their heights match even after `kill -9`.
 */
export function loadChainState(store: BlockStore, app: Application, genesis: GenesisDoc): ChainState {
  const latest = store.latestHeight();
  return latest === undefined ? startChain(store, app, genesis) : continueChain(store, app, genesis, latest);
}

const NO_COMMIT: comet.Commit = { height: 0n, round: 0, blockId: comet.NO_BLOCK_ID, signatures: [] };
const NO_VALIDATORS: comet.ValidatorSet = { validators: [], proposer: undefined };

function startChain(store: BlockStore, app: Application, genesis: GenesisDoc): ChainState {
  const { chainId, initialHeight, genesisTimeNs: timeNs, validators: initial, appState } = genesis;
  const started = app.initChain({ chainId, timeNs, initialHeight, validators: initial, appState });
  // As in CometBFT's handshake, validators from InitChain replace the validators in the genesis document.
  const validators = createValidatorSet(started.validators.length > 0 ? started.validators : initial);
  const nextValidators = rotateProposer(validators, 1);
  // If a node stopped before its first block, the genesis document is already stored, but the application has not saved any state.
  // In this case, only the application is initialized again.
  if (store.genesis() === undefined) {
    store.saveGenesis(encodeGenesis(genesis), [
      { height: initialHeight, set: validators },
      { height: initialHeight + 1n, set: nextValidators },
    ]);
  }
  return {
    chainId,
    initialHeight,
    height: initialHeight - 1n,
    lastBlockId: comet.NO_BLOCK_ID,
    lastTimeNs: timeNs,
    lastCommit: NO_COMMIT,
    lastValidators: NO_VALIDATORS,
    validators,
    nextValidators,
    appHash: started.appHash,
    lastResultsHash: resultsHash([]),
  };
}

function continueChain(store: BlockStore, app: Application, genesis: GenesisDoc, height: bigint): ChainState {
  const block = store.block(height);
  const results = store.results(height);
  const lastCommit = store.seenCommit(height);
  if (block === undefined || results === undefined || lastCommit === undefined) throw mismatch(height);
  const info = app.info();
  if (info.height !== height || !equalBytes(info.appHash, results.appHash)) throw mismatch(height);
  return {
    chainId: genesis.chainId,
    initialHeight: genesis.initialHeight,
    height,
    lastBlockId: block.blockId,
    lastTimeNs: block.header.timeNs,
    lastCommit,
    lastValidators: requireSet(store, height),
    validators: requireSet(store, height + 1n),
    nextValidators: requireSet(store, height + 2n),
    appHash: results.appHash,
    lastResultsHash: resultsHash(results.txResults),
  };
}

function requireSet(store: BlockStore, height: bigint): comet.ValidatorSet {
  const set = validatorsAt(store, height);
  if (set === undefined) throw mismatch(height);
  return set;
}

function mismatch(height: bigint): NodeError {
  return new NodeError(
    { code: "state-mismatch", height },
    `the stored state is not the state after block ${height}; the home directory is damaged, so start with an empty one`,
  );
}

/**
 * A validator set is stored when it changes, and at every 64th height. For any other height, the set is computed by rotating the
 * last stored set fewer than 64 times.
 */
const STORE_EVERY = 64n;

/** Returns the set for `height` if the set has changed or the height is a multiple of 64, otherwise an empty list. */
export function setsToKeep(
  height: bigint,
  set: comet.ValidatorSet,
  changed: boolean,
): HeightRecord["validatorSets"] {
  return changed || height % STORE_EVERY === 0n ? [{ height, set }] : [];
}

/**
 * Returns a height's validator set with the proposer and the priorities. The set is computed from a stored set with at most 64
 * rotations. Returns undefined for a height below the first stored set.
 */
export function validatorsAt(store: BlockStore, height: bigint): comet.ValidatorSet | undefined {
  const stored = store.validatorSetAtOrBelow(height);
  if (stored === undefined) return undefined;
  let set = stored.set;
  // Rotate once per height, as the engine does, because each call also rescales and centers the priorities.
  for (let at = stored.height; at < height; at++) set = rotateProposer(set, 1);
  return set;
}
