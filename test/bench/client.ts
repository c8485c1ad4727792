import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { HttpClient, type RpcClient } from "@cosmjs/tendermint-rpc";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { createChainClient } from "../../src/client/create-chain-client.ts";
import { silentObserver } from "../../src/client/rpc-caller.ts";
import type { BenchRow } from "./bench-row.ts";

/** A node in a thread of its own that answers every call at once with a store read of about 2 kB, so that the client is what is measured. */
const SERVER = `
const { createServer } = require("node:http");
const { parentPort } = require("node:worker_threads");
const data = Buffer.alloc(750, 7).toString("base64");
const ops = [{ type: "ics23:iavl", key: "AQ==", data }, { type: "ics23:simple", key: "AQ==", data }];
const response = { code: 0, log: "", height: "7", value: "AQ==", proofOps: { ops } };
const sync_info = { latest_block_height: "7", latest_block_time: "2026-11-21T12:26:05Z", earliest_block_height: "1" };
const status = { node_info: { network: "test-1" }, sync_info };
const answer = ({ id, method }) => ({ jsonrpc: "2.0", id, result: method === "status" ? status : { response } });
const server = createServer((request, reply) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const calls = JSON.parse(body);
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)));
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** Calls of one measurement, and how many wait at the same time. */
const CALLS = 12_000;
const PARALLEL = 300;

/** Store reads per second over loopback: this client with its batches, beside CosmJS' stock HTTP client. */
export async function benchClient(): Promise<readonly BenchRow[]> {
  const worker = new Worker(SERVER, { eval: true });
  const [port]: readonly unknown[] = await once(worker, "message");
  const url = `http://127.0.0.1:${String(port)}`;
  const signal = new AbortController().signal;
  const client = createChainClient(
    { endpoints: [{ url }], chainId: "test-1" },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  const read = { store: "bank", key: new Uint8Array(28), height: 7n };
  const stock: RpcClient = new HttpClient(url);
  try {
    const own = await callsPerSecond(() => client.readStore(read, signal));
    const theirs = await callsPerSecond((id) =>
      stock.execute({
        jsonrpc: "2.0",
        id,
        method: "abci_query",
        params: { path: "store/bank/key", data: "00" },
      }),
    );
    const note = `${PARALLEL} at a time, 2 kB answers`;
    return [
      { name: "client: store reads, batched", value: own, unit: "calls/s", note: `${note}, decoded` },
      { name: "client: CosmJS HttpClient", value: theirs, unit: "calls/s", note: `${note}, not decoded` },
    ];
  } finally {
    client.close();
    await worker.terminate();
  }
}

async function callsPerSecond(call: (id: number) => Promise<unknown>): Promise<number> {
  const round = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += PARALLEL)
      await Promise.all(Array.from({ length: PARALLEL }, (_value, index) => call(done + index)));
  };
  await round(PARALLEL * 4);
  const startedMs = performance.now();
  await round(CALLS);
  return Math.round((CALLS / (performance.now() - startedMs)) * 1000);
}
