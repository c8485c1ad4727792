import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { HttpClient, type RpcClient } from "@cosmjs/tendermint-rpc";
import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createChainClient } from "../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../src/cosmos/client/rpc-caller.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { median } from "./measure.ts";

/** A node in its own thread that answers every call at once with a store read of about 2 kB. So the figure is the speed of the client. */
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

/** Calls of one repetition, and pending calls at a time. */
const CALLS = 1_500;
const PARALLEL = 300;
const ROUNDS = { full: 7, quick: 3 };

/** Store reads per second over loopback: this client with its batches, and the stock HTTP client of CosmJS. */
export async function benchClient({ quick }: BenchSettings): Promise<readonly BenchRow[]> {
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
    const readOne = (): Promise<unknown> => client.readStore(read, signal);
    const readStock = (id: number): Promise<unknown> =>
      stock.execute({
        jsonrpc: "2.0",
        id,
        method: "abci_query",
        params: { path: "store/bank/key", data: "00" },
      });
    const rounds = quick ? ROUNDS.quick : ROUNDS.full;
    return rowsOf(await takeTurns([readOne, readStock], rounds), rounds);
  } finally {
    client.close();
    await worker.terminate();
  }
}

type Call = (id: number) => Promise<unknown>;

/** Median calls per second of each client. The clients alternate, so that other programs slow down both. */
async function takeTurns(calls: readonly Call[], rounds: number): Promise<readonly number[]> {
  const rates = calls.map((): number[] => []);
  // The first repetition is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, call] of calls.entries()) {
      const rate = await callsPerSecond(call);
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map(median);
}

function rowsOf(
  [own = Number.NaN, stock = Number.NaN]: readonly number[],
  rounds: number,
): readonly BenchRow[] {
  const note = `${PARALLEL} at a time, 2 kB answers over loopback, median of ${rounds} repetitions`;
  return [
    { name: "store reads, batched", value: own, unit: "calls/s", note: `${note}, decoded` },
    { name: "CosmJS HttpClient", value: stock, unit: "calls/s", note: `${note}, not decoded` },
    { name: "batched to stock", value: own / stock, unit: "times", note: "of the same run" },
  ];
}

async function callsPerSecond(call: Call): Promise<number> {
  const startedMs = performance.now();
  for (let done = 0; done < CALLS; done += PARALLEL)
    await Promise.all(Array.from({ length: PARALLEL }, (_value, index) => call(done + index)));
  return (CALLS / (performance.now() - startedMs)) * 1_000;
}
