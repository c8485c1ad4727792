import { unreachable } from "../../base/errors.ts";
import { type Branch, createBranch } from "../store/branch.ts";
import { createMultiStore, type MultiStore, type StoreView } from "../store/multi-store.ts";
import type { CommitChanges, StateStorage } from "../store/state-storage.ts";
import { BLOCK_RECORD_STORE, type BlockRecord, readBlockRecord } from "./block-record.ts";

/** The state of an application between two calls of its node. */
export interface Machine {
  readonly stores: MultiStore;
  /** The height that queries see as the latest. */
  readonly committed: () => StoreView;
  /** Facts of the last committed block; before the first one those of genesis. */
  readonly lastBlock: () => BlockRecord;
  /** The layer that checks of transactions pile up on. */
  readonly check: () => Branch;
  /** A layer for the next block; its `write` goes into the working trees. */
  readonly openBlock: () => Branch;
  /** Begins with an empty state; the layer it gives is the one that the first block runs above. */
  readonly beginGenesis: (record: BlockRecord) => Branch;
  /** Writes a block's layer and makes it the next height, which stays unseen until `reveal`. */
  readonly seal: (block: Branch) => CommitChanges;
  /** Makes the sealed height the latest. */
  readonly reveal: () => CommitChanges;
}

/** What a machine is opened with. */
export interface MachineOptions {
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
  let check = createBranch((name) => committed.store(name));
  let sealed: CommitChanges | undefined;
  const machine: Machine = {
    get stores() {
      return stores;
    },
    committed: () => committed,
    lastBlock: () => lastBlock,
    check: () => check,
    openBlock: () => {
      if (sealed !== undefined) throw new Error(`block ${sealed.height} is finalized and not committed`);
      return genesis === undefined ? stores.branch() : above(genesis);
    },
    beginGenesis: (record) => {
      if (stores.height() > 0n) throw new Error(`there is a state already, of height ${stores.height()}`);
      stores = createMultiStore({ ...options, initialHeight: record.height + 1n });
      genesis = stores.branch();
      lastBlock = record;
      check = createBranch(genesis.store);
      return genesis;
    },
    seal: (block) => {
      block.write();
      genesis = undefined;
      sealed = stores.commit();
      return sealed;
    },
    reveal: () => {
      const changes = sealed ?? unreachable("commit was called without a finalized block");
      sealed = undefined;
      committed = viewAt(stores, changes.height);
      lastBlock = readBlockRecord(committed.store(BLOCK_RECORD_STORE)) ?? lastBlock;
      check = createBranch((name) => committed.store(name));
      return changes;
    },
  };
  return machine;
}

function viewAt(stores: MultiStore, height: bigint): StoreView {
  return stores.view(height) ?? unreachable(`height ${height} is not kept`);
}

/** A layer above genesis that writes through it into the trees. */
function above(genesis: Branch): Branch {
  const layer = createBranch(genesis.store);
  return {
    store: layer.store,
    write: () => {
      layer.write();
      genesis.write();
    },
  };
}
