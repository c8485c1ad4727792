import { join } from "node:path";
import { createApp } from "../../chain/app.ts";
import { NodeError } from "../errors.ts";
import { decodeGenesis, type GenesisDoc } from "../genesis-doc.ts";
import { openBlockStore } from "../storage/block-store.ts";
import { validatorsAt } from "../consensus/validator-history.ts";
import { CHAINS, type LocalnetPart } from "./chains.ts";

/**
 * The state of a stopped chain as the genesis document of a new one: application state and validators after its last
 * block, the time of that block, and the next height as the first. Throws `NodeError` `home-in-use` while the chain runs,
 * `no-chain` when the home has none.
 */
export function exportGenesis(home: string, part: LocalnetPart): GenesisDoc {
  const chain = CHAINS[part];
  const store = openBlockStore(join(home, chain.chainId));
  try {
    const document = store.genesis();
    const height = store.latestHeight();
    if (document === undefined || height === undefined) {
      throw new NodeError({ code: "no-chain", home }, `${home} holds no blocks of ${chain.chainId}`);
    }
    const genesis = decodeGenesis(document);
    const app = createApp({ ...chain, kind: part }, { storage: store.state });
    const set = validatorsAt(store, height + 2n)?.validators ?? [];
    return {
      ...genesis,
      genesisTimeNs: store.block(height)?.header.timeNs ?? genesis.genesisTimeNs,
      initialHeight: height + 1n,
      validators: set.map(({ publicKey, power }) => ({ publicKey, power })),
      appState: app.exportState(),
    };
  } finally {
    store.close();
  }
}
