import type { Application } from "../chain/runtime/abci.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";
import { NodeError } from "./base/errors.ts";
import { decodeGenesis, type GenesisDoc } from "./base/genesis-doc.ts";
import { loadChainState } from "./consensus/chain-state.ts";
import { type BlockStore, openBlockStore, readBlockStore } from "./storage/block-store.ts";

type CreateApp = (storage: StateStorage) => Application;

/**
 * Exports the state of a home directory as the genesis document of a chain that continues it. The initial height is the
 * next height, the genesis time is the time of the last block, and the validators include all committed updates. A node may
 * be using the home: the export shows the state of one height. Throws `NodeError` `home-unusable` or `no-state`.
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
 * Stores a genesis document in a home directory and creates the directory if necessary. Throws `NodeError` `other-genesis`
 * when the home has a genesis document, and the error of the application when it rejects the document.
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
