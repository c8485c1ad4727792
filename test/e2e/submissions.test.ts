import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../src/platform/base/bytes.ts";
import { type JsonValue, stringifyJson } from "../../src/platform/base/json.ts";
import { TxBody, TxRaw } from "../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import {
  MsgSubmitQueryResult,
  QueryResult,
} from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { messageToJson } from "../../src/cosmos/proto/json.ts";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { openWallet, type TestWallet } from "../support/e2e/test-wallet.ts";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
let alice: TestWallet;

beforeAll(async () => {
  await home.start("localnet", "start", "--block-time", "300", "$PORTS").printed(/sidecar metrics/);
  await home.start("relayer", "start", "$PORTS").printed(/icq-relayer +http/);
  await localnet.resultAfter(1, 0n);
  alice = await openWallet(home, "alice", localnet.rpc.local);
});
afterAll(home.close);

/** The first result that the relayer brought for query 1 after a local height, as it was submitted, with its proofs. */
async function relayedResult(after: bigint): Promise<QueryResult> {
  const height = await localnet.resultAfter(1, after);
  const block = await getJson(`${localnet.rpc.local}/block?height=${height}`);
  const txs = deep(block, ["result", "block", "data", "txs"]);
  if (!Array.isArray(txs)) throw new Error("a block with transactions was expected");
  // The first one is the validators' price votes.
  for (const tx of txs.slice(1)) {
    const { messages } = TxBody.decode(TxRaw.decode(fromBase64(String(tx))).bodyBytes);
    for (const { typeUrl, value } of messages) {
      if (!typeUrl.endsWith("MsgSubmitQueryResult")) continue;
      const { queryId, result } = MsgSubmitQueryResult.decode(value);
      if (queryId === 1n && result !== undefined) return result;
    }
  }
  throw new Error(`no result of query 1 is in block ${height}`);
}

function resultFile(result: QueryResult): string {
  const path = join(home.directory, "result.json");
  const bytes = QueryResult.encode(result).finish();
  writeFileSync(path, stringifyJson(messageToJson("neutron.interchainqueries.QueryResult", bytes)));
  return path;
}

/** Submits by hand, without a simulation that would refuse before the chain does. */
async function submit(queryId: bigint, result: QueryResult): Promise<JsonValue> {
  const what = ["submit-query-result", String(queryId), resultFile(result)];
  const how = ["--from", "bob", "--gas", "1000000", "--json", "$PORTS"];
  const sent = await home.run("tx", "interchainqueries", ...what, ...how);
  const answer: JsonValue = JSON.parse(sent.stdout);
  expect(sent.code).toBe(deep(answer, ["code"]) === 0 ? 0 : 1);
  return answer;
}

function withBitFlipped(result: QueryResult): QueryResult {
  const [value, ...others] = result.kvResults;
  const [leaf, ...ops] = value?.Proof?.ops ?? [];
  if (value === undefined || leaf === undefined) throw new Error("a proof was expected");
  const data = Uint8Array.from(leaf.data);
  const middle = data.length >> 1;
  data[middle] = (data[middle] ?? 0) ^ 1;
  return {
    ...result,
    kvResults: [{ ...value, Proof: { ops: [{ ...leaf, data }, ...ops] } }, ...others],
  };
}

describe("results that are submitted by hand", () => {
  it("are refused when altered or not newer, and the relayer goes on", async () => {
    const id = await alice.register({
      register_balance_query: {
        connection_id: "connection-0",
        update_period: 1_000_000,
        addr: (await openWallet(home, "alice", localnet.rpc.remote, "remote-1")).address,
        denom: "uatom",
      },
    });
    const first = await localnet.resultAfter(Number(id), 0n);
    const path = `/neutron/interchainqueries/query_result?query_id=${id}`;
    const stored = BigInt(String(await localnet.read(path, "result", "height")));
    // Results of two queries may overtake each other: only one of a later remote height is newer.
    const result = await until("a newer result of query 1", async () => {
      const relayed = await relayedResult(first);
      return relayed.height > stored ? relayed : undefined;
    });
    expect(await submit(id, withBitFlipped(result))).toMatchObject({
      code: 1112,
      codespace: "interchainqueries",
    });
    expect(await submit(id, result)).toMatchObject({ code: 0 });
    expect(await submit(id, result)).toMatchObject({ code: 1114, codespace: "interchainqueries" });
    const last = await localnet.lastResult(1);
    await localnet.resultAfter(1, last);
    const status = await getJson(`${localnet.relayer}/api/status`);
    const queries = deep(status, ["queries"]);
    expect(
      Array.isArray(queries) && queries.every((query: unknown) => deep(query, ["state"]) === "answered"),
    ).toBe(true);
  });
});

describe("large things", () => {
  it("a filter of 32 conditions is kept as it is, and its transactions arrive", async () => {
    const receiver = await openWallet(home, "operator", localnet.rpc.remote, "remote-1");
    const conditions = [
      { field: "transfer.recipient", op: "Eq", value: receiver.address },
      ...Array.from({ length: 31 }, (_, index) => ({ field: "tx.height", op: "Gt", value: index % 5 })),
    ];
    const filter = JSON.stringify(conditions);
    const register = (transactions_filter: string) => ({
      register_tx_query: { connection_id: "connection-0", update_period: 1, transactions_filter },
    });
    const id = await alice.register(register(filter));
    const path = `/neutron/interchainqueries/registered_query?query_id=${id}`;
    expect(await localnet.read(path, "registered_query", "transactions_filter")).toBe(filter);
    const sender = await openWallet(home, "bob", localnet.rpc.remote, "remote-1");
    const sent = await sender.sendTokens(receiver.address, 7n);
    const seen = await until("the transfer at the contract", async () => {
      const { transactions } = await alice.ask({ transactions: { query_id: Number(id) } });
      return Array.isArray(transactions) && transactions.length > 0 ? transactions : undefined;
    });
    expect(JSON.stringify(seen)).toContain(String(sent.height));
    await expect(alice.register(register(JSON.stringify([...conditions, ...conditions])))).rejects.toThrow(
      /too many transactions filters, provided=64, max=32/,
    );
  });

  it("a transaction of 100 kB is included", async () => {
    const padding = "x".repeat(100_000);
    const { height, hash } = await alice.execute({ set_failure: { kv: false, tx: false, padding } });
    const found = await getJson(`${localnet.rpc.local}/tx?hash=0x${hash}`);
    expect(deep(found, ["result", "height"])).toBe(String(height));
    expect(String(deep(found, ["result", "tx"])).length).toBeGreaterThan(133_000);
  });

  it("a block takes 1,000 transactions", async () => {
    const txs = await alice.signSends(1_000);
    const ours = new Set(txs.map(toBase64));
    const control = await alice.control("local-1");
    await control("halt");
    for (let start = 0; start < txs.length; start += 100) {
      const calls = txs.slice(start, start + 100).map((tx, index) => ({
        jsonrpc: "2.0",
        id: index,
        method: "broadcast_tx_sync",
        params: { tx: toBase64(tx) },
      }));
      for (const call of calls) {
        const response = await fetch(localnet.rpc.local, { method: "POST", body: JSON.stringify(call) });
        expect(deep(await response.json(), ["result", "code"])).toBe(0);
      }
    }
    const height = (await localnet.height("local")) + 1n;
    await control("blocks", { count: 1 });
    await control("resume");
    const block = await getJson(`${localnet.rpc.local}/block?height=${height}`);
    const included = deep(block, ["result", "block", "data", "txs"]);
    const results = deep(await getJson(`${localnet.rpc.local}/block_results?height=${height}`), [
      "result",
      "txs_results",
    ]);
    if (!Array.isArray(included) || !Array.isArray(results)) throw new Error("lists were expected");
    // The relayer may have one of its own in the same block.
    expect(included.filter((tx) => ours.has(String(tx)))).toHaveLength(1_000);
    expect(results).toHaveLength(included.length);
    const codes = results.map((one: unknown) => deep(one, ["code"]));
    // The fee market bounds what a block may use; what is above fails in the block, as on the deployed chain.
    expect(codes.filter((code) => code === 0).length).toBeGreaterThan(200);
    await localnet.resultAfter(1, height);
  }, 300_000);
});
