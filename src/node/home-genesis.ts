import type { Application } from "../chain/abci.ts";
import type { StateStorage } from "../chain/store/state-storage.ts";
import { loadChainState } from "./consensus/load-state.ts";
import { NodeError } from "./errors.ts";
import { decodeGenesis, type GenesisDoc } from "./genesis-doc.ts";
import { type BlockStore, openBlockStore, readBlockStore } from "./storage/block-store.ts";

/** Opens the chain's application on a node's state. */
type CreateApp = (storage: StateStorage) => Application;

/**
 * The state of a home directory as the genesis document of a chain that goes on from it: its first block is the next
 * height, its time that of the last block, its validators those that are ordered by then. The home may be in use: what is
 * read is the state of one height. Throws `NodeError` `home-unusable` or `no-state`.
 */
export function exportHomeGenesis(home: string, createApp: CreateApp): GenesisDoc {
  const store = readBlockStore(home);
  try {
    return exportGenesis(store, createApp, home);
  } finally {
    store.close();
  }
}

function exportGenesis(store: BlockStore, createApp: CreateApp, home: string): GenesisDoc {
  const document = store.genesis();
  if (document === undefined || store.latestHeight() === undefined) {
    throw new NodeError({ code: "no-state", home }, `the chain in ${home} has made no block yet`);
  }
  const genesis = decodeGenesis(document);
  const app = createApp(store.state);
  const { height, lastTimeNs, nextValidators } = loadChainState(store, app, genesis);
  return {
    ...genesis,
    genesisTimeNs: lastTimeNs,
    initialHeight: height + 1n,
    validators: nextValidators.validators.map(({ publicKey, power }) => ({ publicKey, power })),
    appState: app.exportState(),
  };
}

/**
 * Makes a home directory (new or without blocks) that starts with this genesis document. Throws `NodeError` `other-genesis`
 * when it holds a chain, and whatever the application finds wrong with the document.
 */
export function importHomeGenesis(home: string, genesis: GenesisDoc, createApp: CreateApp): void {
  const store = openBlockStore(home);
  try {
    if (store.genesis() !== undefined) {
      throw new NodeError(
        { code: "other-genesis", chainId: genesis.chainId },
        `the home directory ${home} holds a chain already; choose another --home`,
      );
    }
    loadChainState(store, createApp(store.state), genesis);
  } finally {
    store.close();
  }
}
