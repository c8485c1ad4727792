import { resultsHash } from "../../../cosmos/comet/block-hashes.ts";
import type { Commit } from "../../../cosmos/comet/block-types.ts";
import { rotateProposer, updateValidatorSet } from "../../../cosmos/comet/validator-set.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import type { Application, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { ConsensusParams } from "../base/genesis-doc.ts";
import type { StoredBlock, StoredResults } from "../base/node-view.ts";
import type { BlockStore } from "../storage/block-store.ts";
import { type ChainState, setsToKeep } from "./chain-state.ts";
import { chooseProposer, makeBlock, signCommit, toRequest } from "./make-block.ts";
import type { Mempool } from "./mempool.ts";
import type { Validators } from "./validators.ts";

/** A block on disk, with its results and the resulting state. */
export interface ProducedBlock {
  readonly block: StoredBlock;
  readonly commit: Commit;
  readonly results: StoredResults;
  readonly state: ChainState;
  /** Duration of FinalizeBlock and Commit, without the write to disk. */
  readonly executionMs: number;
}

/** Makes blocks one after another, and stores the chain state after the last block. */
export type Engine = ReturnType<typeof createEngine>;

/** A generator that makes a block in steps. Each call of `next` runs one step. The last step returns the block. */
export type BlockSteps = Generator<undefined, ProducedBlock, undefined>;

export interface EngineDeps {
  readonly app: Application;
  readonly store: BlockStore;
  readonly mempool: Mempool;
  readonly validators: Validators;
  readonly params: ConsensusParams;
  /**
   * Returns a transaction that contains the votes on the last block. While vote extensions are enabled, each block starts with such
   * a transaction.
   */
  readonly votes?: ((state: ChainState) => Uint8Array | undefined) | undefined;
  readonly nowNs: () => bigint;
  readonly monotonicMs: () => number;
}

// Upper bounds for the size of a block's parts other than transactions, as in CometBFT's `MaxDataBytes`.
/** Bytes per block: the sum of CometBFT's MaxOverheadForBlock (11), MaxHeaderBytes (626) and MaxCommitOverheadBytes (94). */
const BLOCK_OVERHEAD = 731n;
/** Bytes per validator in the last commit: MaxCommitSigBytes (109) in CometBFT, plus 2 for the protobuf tag and length. */
const SIGNATURE_OVERHEAD = 111n;

export function createEngine(initial: ChainState, deps: EngineDeps) {
  let state = initial;
  let failure: { readonly error: unknown } | undefined;
  const produce = function* (): BlockSteps {
    if (failure !== undefined) throw failure.error;
    // Call `decide` outside the try block, because the error `no-quorum` changes no state and a later attempt can succeed.
    const decided = decide(state, deps);
    try {
      const executed = execute(state, decided, deps);
      yield;
      const produced = commitBlock(state, executed, deps);
      // Update the state only after the block is on disk, because queries can read blocks up to `state().height`.
      state = produced.state;
      // Recheck pending transactions last, because CheckTx must read the committed state.
      deps.mempool.update(decided.block.txs, produced.results.txResults);
      return produced;
    } catch (error) {
      // Make no more blocks after an error. The application may be ahead of the disk, and ABCI cannot undo a block, so later blocks
      // would differ from the chain that a restarted node loads.
      failure = { error };
      throw error;
    }
  };
  const goBack = (earlier: ChainState): void => {
    state = earlier;
    // Discard evidence and validator updates that were scheduled for a removed block.
    deps.validators.takeEvidence();
    deps.validators.takeUpdates();
    deps.mempool.clear();
  };
  return {
    /** The state after the last block on disk. */
    state: (): ChainState => state,
    /**
     * Makes the next block in two steps. The first step proposes, signs and executes the block. The second step commits the block
     * and writes it in one durable transaction. Between the two steps, `state` and queries still show the previous block. The
     * caller must finish a block before starting another.
     *
     * Throws `NodeError` `no-quorum` before changing any state. After any error except `no-quorum`, later calls throw the same
     * error, and the node must stop. After a restart, the node continues from the last block on disk.
     */
    produce,
    /**
     * Continues from an earlier state. The caller must have reverted the store and the application to this state while no block is
     * open.
     */
    goBack,
  };
}

interface DecidedBlock {
  readonly block: StoredBlock;
  readonly commit: Commit;
}

/** A block that has been executed but not committed. */
interface ExecutedBlock extends DecidedBlock {
  readonly results: StoredResults;
  readonly executionMs: number;
}

function execute(state: ChainState, { block, commit }: DecidedBlock, deps: EngineDeps): ExecutedBlock {
  const startedMs = deps.monotonicMs();
  const finalized = deps.app.finalizeBlock({
    ...toRequest(block, state.lastValidators.validators),
    misbehavior: deps.validators.takeEvidence(),
  });
  const executionMs = deps.monotonicMs() - startedMs;
  const results: StoredResults = {
    height: block.header.height,
    txResults: finalized.txResults,
    events: finalized.events,
    validatorUpdates: mergeUpdates(
      withoutRemoved(state.nextValidators, finalized.validatorUpdates),
      deps.validators.takeUpdates(),
    ),
    appHash: finalized.appHash,
  };
  return { block, commit, results, executionMs };
}

/** Commits an executed block, and writes the block, its results and the state changes in one transaction. */
function commitBlock(state: ChainState, executed: ExecutedBlock, deps: EngineDeps): ProducedBlock {
  const { block, commit, results } = executed;
  const startedMs = deps.monotonicMs();
  const changes = deps.app.commit();
  const executionMs = executed.executionMs + deps.monotonicMs() - startedMs;
  const next = advance(state, block, commit, results);
  const changed = results.validatorUpdates.length > 0;
  // `nextValidators` after block H is the set for H + 2.
  const validatorSets = setsToKeep(next.height + 2n, next.nextValidators, changed);
  deps.store.save({ block, seenCommit: commit, results, validatorSets, changes });
  return { block, commit, results, state: next, executionMs };
}

/** Proposes and signs the next block without changing any state. */
function decide(state: ChainState, deps: EngineDeps): DecidedBlock {
  const keyOf = deps.validators.signingKey;
  const turn = chooseProposer(state.validators, state.height + 1n, (address) => keyOf(address) !== undefined);
  // Subtract the maximum size of header and commit, because `maxBytes` limits the whole encoded block.
  const maxTxBytes =
    deps.params.maxBytes -
    BLOCK_OVERHEAD -
    SIGNATURE_OVERHEAD * BigInt(state.lastValidators.validators.length);
  const enabledAt = deps.params.voteExtensionsEnableHeight;
  const votes = enabledAt > 0n && state.height >= enabledAt ? deps.votes?.(state) : undefined;
  const reaped = deps.mempool.reap(maxTxBytes - BigInt(votes?.length ?? 0), deps.params.maxGas);
  const txs = votes === undefined ? reaped : [votes, ...reaped];
  const { appVersion } = deps.app.info();
  const block = makeBlock(state, { txs, turn, params: deps.params, appVersion });
  return { block, commit: signCommit(state, block, turn.round, { keyOf, nowNs: deps.nowNs() }) };
}

/** Drops the removal of validators that the control API has already removed, because CometBFT rejects a second removal. */
function withoutRemoved(
  { validators }: ChainState["nextValidators"],
  updates: readonly ValidatorPower[],
): readonly ValidatorPower[] {
  const present = new Set(validators.map(({ publicKey }) => toHex(publicKey)));
  return updates.filter(({ publicKey, power }) => power > 0n || present.has(toHex(publicKey)));
}

/** Merges scheduled validator updates with the application's. If both lists contain a validator, the scheduled update takes precedence. */
function mergeUpdates(
  ofApp: readonly ValidatorPower[],
  scheduled: readonly ValidatorPower[],
): readonly ValidatorPower[] {
  return [...new Map([...ofApp, ...scheduled].map((update) => [toHex(update.publicKey), update])).values()];
}

/**
 * Returns the state after a block. Updates from block H change the set for H + 2, because the header of block H already contains
 * the hash of the set for H + 1. Each new set is rotated once, which lowers the proposer's priority and raises all other
 * validators' priorities.
 */
function advance(state: ChainState, block: StoredBlock, commit: Commit, results: StoredResults): ChainState {
  return {
    ...state,
    height: block.header.height,
    lastBlockId: block.blockId,
    lastTimeNs: block.header.timeNs,
    lastCommit: commit,
    lastValidators: state.validators,
    validators: state.nextValidators,
    nextValidators: rotateProposer(updateValidatorSet(state.nextValidators, results.validatorUpdates), 1),
    appHash: results.appHash,
    lastResultsHash: resultsHash(results.txResults),
  };
}
