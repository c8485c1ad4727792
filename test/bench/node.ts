import { Pool } from "undici";
import { utf8 } from "../../src/platform/base/bytes.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import type { BenchRow } from "./bench-row.ts";

const CALLS = 4_000;
const CONCURRENCY = 16;
const BLOCKS = 200;
const TXS = 1_000;

/** Speed of a node over the key-value application: RPC calls, blocks, a block with a thousand transactions. */
export async function benchNode(): Promise<readonly BenchRow[]> {
  return [...(await benchCalls()), await benchBlocks(1), await benchBlocks(100), await benchFullBlock()];
}

/** Calls per second from the same process, so client and server share one core. */
async function benchCalls(): Promise<readonly BenchRow[]> {
  const node = await startTestNode();
  node.control.produce(10);
  const pool = new Pool(node.rpcUrl, { connections: CONCURRENCY, pipelining: 1 });
  const call = (id: number) => ({ jsonrpc: "2.0", id, method: "commit", params: { height: "5" } });
  const single = await callsPerSecond(pool, 1, (id) => JSON.stringify(call(id)));
  const batched = await callsPerSecond(pool, 10, (id) =>
    JSON.stringify(Array.from({ length: 10 }, (_, offset) => call(id + offset))),
  );
  await pool.close();
  await node.stop();
  const note = `method commit, ${CALLS} calls, ${CONCURRENCY} at a time; client and server in one process`;
  return [
    { name: "RPC calls, one a request", value: single, unit: "calls/s", note },
    { name: "RPC calls, ten a request", value: batched, unit: "calls/s", note },
  ];
}

async function callsPerSecond(pool: Pool, perRequest: number, body: (id: number) => string): Promise<number> {
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < CALLS) {
      const id = next;
      next += perRequest;
      const answer = await pool.request({ method: "POST", path: "/", body: body(id) });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return (CALLS * 1000) / (performance.now() - started);
}

async function benchBlocks(validators: number): Promise<BenchRow> {
  const node = await startTestNode({ powers: Array.from({ length: validators }, () => 10n) });
  const started = performance.now();
  node.control.produce(BLOCKS);
  const perBlock = (performance.now() - started) / BLOCKS;
  await node.stop();
  const note = `mean of ${BLOCKS}, signed and written`;
  return { name: `empty block, ${validators} validators signing`, value: perBlock, unit: "ms", note };
}

async function benchFullBlock(): Promise<BenchRow> {
  const node: TestNode = await startTestNode();
  for (let index = 0; index < TXS; index++) node.view.broadcast(utf8(`key${index}=${index}`));
  const started = performance.now();
  node.control.produce(1);
  const took = performance.now() - started;
  const found = node.view.searchTxs({ query: "kv.key='key7'", order: "asc", page: 1, perPage: 1 }).total;
  await node.stop();
  if (found !== 1) throw new Error("a transaction of the full block was not found");
  const name = `block with ${TXS} transactions, indexed and written`;
  return { name, value: took, unit: "ms", note: "key-value application, one run" };
}
