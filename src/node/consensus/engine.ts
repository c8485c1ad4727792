import { toHex } from "../../base/bytes.ts";
import type { Application, FinalizeBlockRequest, ValidatorPower } from "../../chain/abci.ts";
import type { Commit } from "../../comet/block-types.ts";
import { resultsHash } from "../../comet/block-hashes.ts";
import { rotateProposer, updateValidatorSet } from "../../comet/proposer-rotation.ts";
import type { ConsensusParams } from "../consensus-params.ts";
import type { StoredBlock, StoredResults } from "../node-view.ts";
import type { BlockStore } from "../storage/block-store.ts";
import type { ChainState } from "./chain-state.ts";
import { makeBlock, signCommit, signersOf } from "./make-block.ts";
import type { Mempool } from "./mempool.ts";
import { chooseProposer } from "./proposer.ts";
import type { Validators } from "./validators.ts";
import { setsToKeep } from "./validator-history.ts";

/** A block that was made, with everything that it changed. */
export interface ProducedBlock {
  readonly block: StoredBlock;
  readonly commit: Commit;
  readonly results: StoredResults;
  readonly state: ChainState;
  /** Time that FinalizeBlock and Commit took together, ms. */
  readonly executionMs: number;
}

/** Makes blocks, one at a time. */
export interface Engine {
  readonly state: () => ChainState;
  /**
   * Makes the next block: proposes, signs and executes it in a first step, then commits it and writes it all in one durable
   * transaction. Between the steps everybody sees the chain as it was; the last step must come before another block is
   * begun. When this throws `NodeError` `no-quorum`, nothing has happened; any other exception leaves the application ahead
   * of the store: every later call throws it again, and the node has to stop; its restart continues from the last written
   * block.
   */
  readonly produce: () => BlockSteps;
}

/** A block that is being made; what it returns at its end is the block. */
export type BlockSteps = Generator<undefined, ProducedBlock, undefined>;

/** What the engine works with. */
export interface EngineDeps {
  readonly app: Application;
  readonly store: BlockStore;
  readonly mempool: Mempool;
  readonly validators: Validators;
  readonly params: ConsensusParams;
  readonly nowNs: () => bigint;
  readonly monotonicMs: () => number;
}

/** Bytes of a block that are not transactions: header and envelope, and each signature of the commit in it. */
const BLOCK_OVERHEAD = 731n;
const SIGNATURE_OVERHEAD = 111n;

/** Creates an engine that continues from `initial`. */
export function createEngine(initial: ChainState, deps: EngineDeps): Engine {
  let state = initial;
  let broken: { readonly error: unknown } | undefined;
  const produce = function* (): BlockSteps {
    if (broken !== undefined) throw broken.error;
    const decided = decide(state, deps);
    try {
      const executed = execute(state, decided, deps);
      yield;
      const produced = commitBlock(state, executed, deps);
      state = produced.state;
      deps.mempool.update(decided.block.txs, produced.results.txResults);
      return produced;
    } catch (error) {
      broken = { error };
      throw error;
    }
  };
  return { state: () => state, produce };
}

/** A block with the precommits for it. */
interface DecidedBlock {
  readonly block: StoredBlock;
  readonly commit: Commit;
}

/** A block that the application has run and not committed. */
interface ExecutedBlock extends DecidedBlock {
  readonly results: StoredResults;
  readonly executionMs: number;
}

function execute(state: ChainState, { block, commit }: DecidedBlock, deps: EngineDeps): ExecutedBlock {
  const startedMs = deps.monotonicMs();
  const finalized = deps.app.finalizeBlock(toRequest(state, block));
  const executionMs = deps.monotonicMs() - startedMs;
  const results: StoredResults = {
    height: block.header.height,
    txResults: finalized.txResults,
    events: finalized.events,
    validatorUpdates: mergeUpdates(finalized.validatorUpdates, deps.validators.takeUpdates()),
    appHash: finalized.appHash,
  };
  return { block, commit, results, executionMs };
}

/** Commits a block and writes everything in one transaction. */
function commitBlock(state: ChainState, executed: ExecutedBlock, deps: EngineDeps): ProducedBlock {
  const { block, commit, results } = executed;
  const startedMs = deps.monotonicMs();
  const changes = deps.app.commit();
  const executionMs = executed.executionMs + deps.monotonicMs() - startedMs;
  const next = advance(state, block, commit, results);
  const changed = results.validatorUpdates.length > 0;
  const validatorSets = setsToKeep(next.height + 2n, next.nextValidators, changed);
  deps.store.save({ block, seenCommit: commit, results, validatorSets, changes });
  return { block, commit, results, state: next, executionMs };
}

/** Proposes the next block and signs it. Changes nothing. */
function decide(state: ChainState, deps: EngineDeps): DecidedBlock {
  const keyOf = deps.validators.signingKey;
  const turn = chooseProposer(state.validators, state.height + 1n, (address) => keyOf(address) !== undefined);
  const room =
    deps.params.maxBytes -
    BLOCK_OVERHEAD -
    SIGNATURE_OVERHEAD * BigInt(state.lastValidators.validators.length);
  const txs = deps.mempool.reap(room, deps.params.maxGas);
  const { appVersion } = deps.app.info();
  const block = makeBlock(state, { txs, turn, params: deps.params, appVersion });
  return { block, commit: signCommit(state, block, turn.round, { keyOf, nowNs: deps.nowNs() }) };
}

function toRequest(state: ChainState, block: StoredBlock): FinalizeBlockRequest {
  const signed = signersOf(state.lastCommit);
  return {
    height: block.header.height,
    timeNs: block.header.timeNs,
    proposerAddress: block.header.proposerAddress,
    txs: block.txs,
    lastCommit: state.lastValidators.validators.map(({ address, power }) => ({
      address,
      power,
      signed: signed.has(toHex(address)),
    })),
  };
}

/** The application's updates and those ordered from outside; the latter win for the same key. */
function mergeUpdates(
  ofApp: readonly ValidatorPower[],
  ordered: readonly ValidatorPower[],
): readonly ValidatorPower[] {
  return [...new Map([...ofApp, ...ordered].map((update) => [toHex(update.publicKey), update])).values()];
}

/** The state after a block. Validator updates of height H sign from H + 2 on. */
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
