import type { ValidatorSet } from "../../cosmos/comet/block-types.ts";
import { createRecentCache, type RecentCache } from "../../platform/base/caches.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Application } from "../chain/runtime/abci.ts";
import { createDeadline } from "./base/deadline.ts";
import type { GenesisDoc } from "./base/genesis-doc.ts";
import type { NodeQueries, NodeStatus, NodeView, StoredBlock, StoredResults } from "./base/node-view.ts";
import type { Engine } from "./consensus/engine.ts";
import type { Mempool } from "./consensus/mempool.ts";
import { validatorsAt, type ChainState } from "./consensus/chain-state.ts";
import type { BlockStore } from "./storage/block-store.ts";
import { searchBlocks, searchTxs, txAt } from "./storage/search.ts";
import { equalBytes, toHex } from "../../platform/base/bytes.ts";
import type { Misbehavior } from "../chain/runtime/context.ts";
import { NodeError } from "./base/errors.ts";
import type { Production } from "./consensus/production.ts";
import type { RemovedHeaders } from "./consensus/removed-headers.ts";
import type { Validators } from "./consensus/validators.ts";
import type { StoredSnapshot } from "./storage/snapshots.ts";

interface ViewDeps {
  readonly app: Application;
  readonly store: BlockStore;
  readonly engine: Engine;
  readonly mempool: Mempool;
  readonly listeners: BlockListeners;
  readonly sets: RecentCache<bigint, ValidatorSet>;
  readonly genesis: GenesisDoc;
  readonly moniker: string;
  readonly queryTimeMs: number;
  /** Handlers for `abci_query` paths that the node itself serves. */
  readonly queries: NodeQueries;
}

/** Maximum number of cached validator sets. Light clients repeat requests, and computing a set takes up to 64 rotations. */
const CACHED_SETS = 256;

export function createSetCache(): ViewDeps["sets"] {
  return createRecentCache(CACHED_SETS);
}

export function createView(deps: ViewDeps): NodeView {
  const { app, store, mempool, engine, sets, queryTimeMs } = deps;
  // Do not return heights below the earliest height, because the caches may still contain pruned blocks.
  const inRange = (height: bigint): boolean =>
    height >= (store.earliestHeight() ?? 1n) && height <= engine.state().height;
  const block: NodeView["block"] = (height) => (inRange(height) ? store.block(height) : undefined);
  return {
    status: () => status(deps),
    query: (request) => {
      const own = deps.queries.get(request.path);
      return own === undefined ? app.query(request, createDeadline(queryTimeMs)) : own(request);
    },
    simulate: (tx) => app.simulate(tx, createDeadline(queryTimeMs)),
    queryPaths: app.queryPaths,
    messageTypes: app.messageTypes,
    block,
    blockByHash: (hash) => {
      const height = store.heightOfHash(hash);
      return height === undefined ? undefined : block(height);
    },
    results: (height) => (inRange(height) ? store.results(height) : undefined),
    commit: (height) => {
      if (!inRange(height)) return undefined;
      // The next block does not exist yet, so use the commit that the engine signed.
      return height === engine.state().height ? engine.state().lastCommit : block(height + 1n)?.lastCommit;
    },
    validators: (height) => {
      const state = engine.state();
      if (height === state.height + 1n) return state.validators;
      return inRange(height) ? sets.get(height, () => validatorsAt(store, height)) : undefined;
    },
    tx: (hash) => {
      const place = store.index.placeOf(hash);
      return place === undefined ? undefined : txAt(store, place);
    },
    searchTxs: (request) => searchTxs(store, request),
    searchBlocks: (request) => searchBlocks(store, request),
    broadcast: mempool.add,
    check: (tx) => app.checkTx(tx, false),
    unconfirmed: (limit) => ({
      count: mempool.count(),
      bytes: mempool.bytes(),
      txs: mempool.txs().slice(0, limit),
    }),
    onBlock: deps.listeners.add,
  };
}

function status({ app, engine, genesis, moniker, store }: ViewDeps): NodeStatus {
  const state = engine.state();
  return {
    chainId: state.chainId,
    moniker,
    appVersion: app.info().version,
    latestHeight: state.height,
    latestHash: state.lastBlockId.hash,
    latestAppHash: state.appHash,
    latestTimeNs: state.lastTimeNs,
    earliestHeight: store.earliestHeight() ?? genesis.initialHeight,
  };
}

type BlockListener = (block: StoredBlock, results: StoredResults) => void;

type BlockListeners = ReturnType<typeof createBlockListeners>;

export function createBlockListeners(logger: Logger) {
  const listeners = new Set<BlockListener>();
  return {
    /** Adds a listener, and returns a function that removes it. */
    add: (listener: BlockListener): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Calls all listeners in the order in which they were added. If a listener throws, logs the error and continues. */
    notify: (block: StoredBlock, results: StoredResults) => {
      for (const listener of listeners) {
        try {
          listener(block, results);
        } catch (error) {
          logger.error("block listener failed", { height: block.header.height, error: errorText(error) });
        }
      }
    },
  };
}

/** Commands that control a running local chain, such as halt and revert. Real networks have no such commands. */
export type NodeControl = ReturnType<typeof createNodeControl>;

export function createNodeControl(deps: {
  readonly production: Production;
  readonly engine: Engine;
  readonly validators: Validators;
  readonly store: BlockStore;
  readonly removedHeaders: RemovedHeaders;
  readonly goBack: () => void;
}) {
  const { production, engine, validators, store, removedHeaders, goBack } = deps;
  return {
    halt: production.halt,
    resume: production.resume,
    /** Requests the prices for the next block's votes, like the step before each timed block. Rejects only if the signal aborts. */
    vote: production.vote,
    isHalted: production.isHalted,
    /** Makes `count` blocks immediately, even on a halted chain. Returns the last height. Throws `NodeError` `no-quorum`. */
    produce: (count: number): bigint => {
      for (let made = 0; made < count; made++) production.produceNow();
      return engine.state().height;
    },
    /** Returns the chain's snapshots, ordered by id. A snapshot is lost when its block is pruned. */
    snapshots: store.snapshots,
    /** Takes a snapshot of the last block. Throws `NodeError` `bad-snapshot` if there is no block yet. */
    takeSnapshot: (snapshot: Pick<StoredSnapshot, "id" | "aheadMs">) => {
      const { height, initialHeight } = engine.state();
      if (height < initialHeight)
        throw new NodeError(
          { code: "bad-snapshot" },
          "there is no block yet; try again after the first block",
        );
      store.saveSnapshot({ ...snapshot, height });
    },
    removeSnapshots: store.removeSnapshots,
    /** Reverts to a snapshot's block. If the revert fails, the node stops. */
    revert: (height: bigint): void =>
      production.between(() => {
        store.truncate(height);
        goBack();
      }),
    /** Returns true if a revert has removed the block with this hash (32 bytes), even before a restart. */
    hasRemoved: store.hasRemoved,
    /** Rejects transactions that update a light client to a block that the other chain has removed. */
    rejectHeaders: removedHeaders.reject,
    /** Replaces the list of absent validators (20-byte addresses), which do not sign blocks. */
    setAbsent: validators.setAbsent,
    /** Returns the addresses of absent validators, in lower-case hex. */
    absent: validators.absent,
    /**
     * Adds evidence to the next block that a validator (20-byte address) signed the last block twice. Throws `NodeError`
     * `bad-evidence` if the validator was not in the last block's set or if all other validators are already accused.
     */
    reportDoubleSign: (address: Uint8Array): void =>
      validators.accuse(evidenceAgainst(engine.state(), address, validators.isAccused)),
    /**
     * Schedules a new power for the validator with this 32-byte seed in the next block. A power of 0 removes the validator. Returns
     * the validator's 20-byte address. Throws `NodeError` `bad-validator-update`.
     */
    setValidator: (seed: Uint8Array, power: bigint): Uint8Array =>
      validators.schedule(seed, power, engine.state().nextValidators).address,
  };
}

function evidenceAgainst(
  { height, lastTimeNs, lastValidators, nextValidators }: ChainState,
  address: Uint8Array,
  isAccused: (address: Uint8Array) => boolean,
): Misbehavior {
  const found = lastValidators.validators.find((one) => equalBytes(one.address, address));
  if (found === undefined) {
    const text = `${toHex(address)} is not in the validator set of height ${height}`;
    throw new NodeError({ code: "bad-evidence", height }, text);
  }
  if (nextValidators.validators.every((one) => equalBytes(one.address, address) || isAccused(one.address))) {
    const text = `${toHex(address)} is the only validator that has not been accused; without it, the chain could make no block`;
    throw new NodeError({ code: "bad-evidence", height }, text);
  }
  return { address: found.address, height, timeNs: lastTimeNs, power: found.power };
}
