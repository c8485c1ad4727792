import { unreachable } from "../../src/platform/base/errors.ts";
import type { NodeView, StoredBlock } from "../../src/localnet/node/base/node-view.ts";
import { NO_BLOCK_ID } from "../../src/cosmos/comet/block-types.ts";

const NOTHING = new Uint8Array(0);

/** A view of an empty chain at height 7. `parts` replaces single methods. */
export function createFakeView(parts: Partial<NodeView>): NodeView {
  const status = {
    chainId: "test-1",
    moniker: "test",
    appVersion: "6.0.3",
    latestHeight: 7n,
    latestHash: NOTHING,
    latestAppHash: NOTHING,
    latestTimeNs: 0n,
    earliestHeight: 1n,
  };
  const query: NodeView["query"] = ({ height }) => ({
    code: 6,
    codespace: "sdk",
    log: "",
    key: NOTHING,
    value: NOTHING,
    height,
    proof: undefined,
    grpcCode: 2,
    grpcMessage: "not found",
  });
  return {
    status: () => status,
    query,
    simulate: () => unreachable("a fake view does not simulate"),
    queryPaths: () => [],
    messageTypes: () => [],
    block: () => undefined,
    blockByHash: () => undefined,
    results: () => undefined,
    commit: () => undefined,
    validators: () => undefined,
    tx: () => undefined,
    searchTxs: () => ({ items: [], total: 0 }),
    searchBlocks: () => ({ items: [], total: 0 }),
    broadcast: () => unreachable("a fake view does not broadcast"),
    check: () => unreachable("a fake view does not check"),
    unconfirmed: () => ({ count: 0, bytes: 0, txs: [] }),
    onBlock: () => () => {},
    ...parts,
  };
}

/** An empty block of this height. */
export function fakeStoredBlock(height: bigint): StoredBlock {
  return {
    header: {
      version: { block: 11n, app: 0n },
      chainId: "test-1",
      height,
      timeNs: 1_790_000_000_500_000_000n,
      lastBlockId: NO_BLOCK_ID,
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
    lastCommit: { height: height - 1n, round: 0, blockId: NO_BLOCK_ID, signatures: [] },
    blockId: NO_BLOCK_ID,
    sizeBytes: 0,
  };
}
