import { unreachable } from "../../../platform/base/errors.ts";
import { type Branch, createBranch } from "../store/branch.ts";
import { createMultiStore, type MultiStore, type StoreView } from "../store/multi-store.ts";
import type { CommitChanges, StateStorage } from "../store/state-storage.ts";
import { BLOCK_RECORD_STORE, type BlockRecord, readBlockRecord } from "./block-record.ts";

/** The states of an application: committed, check state, genesis and the finalized block. */
export interface Machine {
  readonly stores: MultiStore;
  /** Latest committed height. Queries read it. */
  readonly committed: () => StoreView;
  /** Record of the last committed block; before the first block, the record of genesis. */
  readonly lastBlock: () => BlockRecord;
  /** Branch above the committed state that collects the writes of checks until the next commit. */
  readonly checkState: () => Branch;
  /** Creates the branch of the next block. */
  readonly openBlock: () => Branch;
  /** Starts with an empty state and returns the branch of genesis. The first block runs above it. */
  readonly beginGenesis: (record: BlockRecord) => Branch;
  /** Writes a block's branch into the trees as the next height. Queries see it only after `commit`. */
  readonly finalize: (block: Branch) => CommitChanges;
  /** Makes the finalized height the latest and starts a new check state. */
  readonly commit: () => CommitChanges;
}

interface MachineOptions {
  readonly stores: readonly string[];
  readonly keepRecent: number;
  readonly storage?: StateStorage;
}

const NO_BLOCK: BlockRecord = { chainId: "", height: 0n, timeNs: 0n, proposerAddress: new Uint8Array(20) };

/** Opens the saved state, or an empty one. */
export function createMachine(options: MachineOptions): Machine {
  let stores = createMultiStore({ ...options, initialHeight: 1n });
  let committed = viewAt(stores, stores.height());
  let genesis: Branch | undefined;
  let lastBlock = readBlockRecord(committed.store(BLOCK_RECORD_STORE)) ?? NO_BLOCK;
  let checkState = createBranch((name) => committed.store(name));
  let finalized: CommitChanges | undefined;
  const machine: Machine = {
    get stores() {
      return stores;
    },
    committed: () => committed,
    lastBlock: () => lastBlock,
    checkState: () => checkState,
    openBlock: () => {
      if (finalized !== undefined)
        throw new Error(`block ${finalized.height} is finalized and not committed`);
      return genesis === undefined ? stores.branch() : aboveGenesis(genesis);
    },
    beginGenesis: (record) => {
      if (stores.height() > 0n) throw new Error(`a state of height ${stores.height()} already exists`);
      stores = createMultiStore({ ...options, initialHeight: record.height + 1n });
      genesis = stores.branch();
      lastBlock = record;
      checkState = createBranch(genesis.store);
      return genesis;
    },
    finalize: (block) => {
      block.write();
      genesis = undefined;
      finalized = stores.commit();
      return finalized;
    },
    commit: () => {
      const changes = finalized ?? unreachable("commit was called without a finalized block");
      finalized = undefined;
      committed = viewAt(stores, changes.height);
      lastBlock = readBlockRecord(committed.store(BLOCK_RECORD_STORE)) ?? lastBlock;
      checkState = createBranch((name) => committed.store(name));
      return changes;
    },
  };
  return machine;
}

function viewAt(stores: MultiStore, height: bigint): StoreView {
  return stores.view(height) ?? unreachable(`height ${height} is not kept`);
}

/**
 * Creates the branch of the first block. InitChain commits nothing: genesis is part of the first height, so the write
 * of this branch also writes genesis into the trees.
 */
function aboveGenesis(genesis: Branch): Branch {
  const block = createBranch(genesis.store);
  return {
    store: block.store,
    write: () => {
      block.write();
      genesis.write();
    },
  };
}
