import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RegisteredQuery } from "../../../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import type { Application } from "../../../../src/localnet/chain/runtime/abci.ts";
import type { StateStorage } from "../../../../src/localnet/chain/store/multi-store.ts";
import {
  decodeGenesis,
  encodeGenesis,
  type GenesisDoc,
} from "../../../../src/localnet/node/base/genesis-doc.ts";
import { exportHomeGenesis, importHomeGenesis } from "../../../../src/localnet/cli/localnet-export.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import { recordedIbcGenesis } from "../../../support/recorded-client.ts";
import { recordedQueries } from "../../../support/replay-chain.ts";
import { testGenesis as appGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { startTestNode, testGenesis, type TestNode } from "../../../support/test-node.ts";

/** Transaction hashes of a removed TX query: more than the blocks of a test delete. */
const HASHES = Array.from({ length: 10 }, (_, index) => index.toString(16).padStart(64, "0"));

const PARAMS = {
  query_submit_timeout: "100",
  query_deposit: [{ denom: "untrn", amount: "7" }],
  tx_query_removal_limit: "2",
  max_kv_query_keys_count: "32",
  max_transactions_filters: "32",
};

/** Recorded queries, a result, submitted transactions, a removed query whose hashes are not all deleted, and a high last id. */
function state(): JsonObject {
  const queries = recordedQueries();
  return appGenesis([{ key: createTestKey("alice"), untrn: 1_000_000_000n }], {
    ibc: recordedIbcGenesis().genesis,
    interchainqueries: {
      params: PARAMS,
      registered_queries: queries.map((query) =>
        messageToJson("neutron.interchainqueries.RegisteredQuery", RegisteredQuery.encode(query).finish()),
      ),
      last_query_id: "900",
      query_results: [
        {
          query_id: "1",
          result: {
            kv_results: [{ storage_prefix: "bank", key: "Ag==", value: "AQ==", Proof: null }],
            block: null,
            height: "41",
            revision: "2",
            allow_kv_callbacks: false,
          },
        },
      ],
      submitted_txs: [
        { query_id: "2", hash: "ab".repeat(32) },
        ...HASHES.map((hash) => ({ query_id: "800", hash })),
      ],
      removed_tx_queries: ["800"],
    },
  });
}

const newApp = (storage: StateStorage): Application =>
  createApp({ kind: "local", denom: "untrn" }, { storage });

/** Starts a halted node on a home. `genesis` is used when the home has no genesis document. */
function start(home: string, genesis?: GenesisDoc): Promise<TestNode> {
  const first = genesis ?? testGenesis("kv-1", [10n]);
  return startTestNode({ home, powers: [10n] }, { createApp: newApp, genesis: (stored) => stored ?? first });
}

async function produce(home: string, blocks: number, genesis?: GenesisDoc): Promise<bigint> {
  const node = await start(home, genesis);
  const height = node.control.produce(blocks);
  await node.stop();
  return height;
}

describe("the state of a home as a genesis document", () => {
  let root: string;
  const genesis = (): GenesisDoc => ({ ...testGenesis("kv-1", [10n]), appState: state() });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "relaywatch-genesis-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("starts a chain that continues like the exported one", async () => {
    const [first, second] = [join(root, "first"), join(root, "second")];
    expect(await produce(first, 1, genesis())).toBe(1n);
    const exported = exportHomeGenesis(first, newApp);
    expect(exported).toMatchObject({ chainId: "kv-1", initialHeight: 2n });
    expect(exported.appState["interchainqueries"]).toMatchObject({
      params: PARAMS,
      last_query_id: "900",
      query_results: [{ query_id: "1", result: { height: "41" } }],
      submitted_txs: [{ query_id: "2", hash: "ab".repeat(32) }, ...HASHES.slice(2).map((hash) => ({ hash }))],
      removed_tx_queries: ["800"],
    });
    importHomeGenesis(second, decodeGenesis(encodeGenesis(exported)), newApp);
    expect(await produce(first, 2)).toBe(3n);
    expect(await produce(second, 2)).toBe(3n);
    const [after, own] = [exportHomeGenesis(second, newApp), exportHomeGenesis(first, newApp)];
    expect(after.appState).toEqual(own.appState);
    expect(after.initialHeight).toBe(own.initialHeight);
    expect(after.validators).toEqual(own.validators);
  });

  it("shows one height while the chain runs", async () => {
    const node = await start(root, genesis());
    node.control.produce(3);
    expect(exportHomeGenesis(root, newApp).initialHeight).toBe(4n);
    node.control.produce(1);
    expect(exportHomeGenesis(root, newApp).initialHeight).toBe(5n);
    await node.stop();
  });

  it("cannot be exported without a block, or imported into a home with a chain", async () => {
    expect(() => exportHomeGenesis(join(root, "nowhere"), newApp)).toThrow(/no chain found in .*--home/);
    const halted = await start(root, genesis());
    expect(() => exportHomeGenesis(root, newApp)).toThrow(/has made no block yet/);
    await halted.stop();
    expect(() => importHomeGenesis(root, genesis(), newApp)).toThrow(/already contains a chain/);
  });
});
