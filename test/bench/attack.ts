import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { leasePorts } from "../support/port-lease.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { createDemand } from "./system/demand.ts";
import { startRelaywatch, type WatchedProcess } from "./system/watched-process.ts";

const HEAP_MB = 512;
const PROBE_MS = 100;
/** Longest wait for the responses to an attack. */
const ATTACK_MS = 60_000;
/** Time after an attack until the memory is read. */
const CALM_MS = 10_000;
const BLOCK_TIME_MS = 850;

interface Target {
  readonly rpc: number;
  readonly rest: number;
  readonly grpc: number;
  /** Every port of the process with an HTTP server. */
  readonly http: readonly number[];
}

/** An attack on a localnet. Resolves at its end with counts by what became of the requests. */
interface Attack {
  readonly name: string;
  readonly run: (target: Target, clients: number) => Promise<Readonly<Record<string, number>>>;
}

const HEAD = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

function batch(method: string, params: object): string {
  return JSON.stringify(Array.from({ length: 10 }, (_, id) => ({ jsonrpc: "2.0", id, method, params })));
}

/** Connects all clients, sends all but the last byte, and then the last byte of all at once. */
function released(request: string, leaveAfterMs?: number): Attack["run"] {
  return async ({ rpc }, clients) => {
    const sockets = await Promise.all(Array.from({ length: clients }, () => open(rpc)));
    for (const socket of sockets) socket.write(request.slice(0, -1));
    await wait(1_000);
    const outcomes = sockets.map(outcomeOf);
    for (const socket of sockets) socket.write(request.slice(-1));
    if (leaveAfterMs !== undefined) {
      await wait(leaveAfterMs);
      for (const socket of sockets) socket.destroy();
    }
    const counted = count(await Promise.all(outcomes));
    for (const socket of sockets) socket.destroy();
    return counted;
  };
}

function batches(method: string, params: object, leaveAfterMs?: number): Attack["run"] {
  const body = batch(method, params);
  return released(`${HEAD("/", body.length)}${body}`, leaveAfterMs);
}

/** Resolves with the status of the first response, when it is complete, or with how the connection ended. */
function outcomeOf(socket: Socket): Promise<string> {
  if (socket.destroyed) return Promise.resolve("cut");
  return new Promise((resolve) => {
    let head = "";
    let missing: number | undefined;
    const timer = setTimeout(() => resolve("no response"), ATTACK_MS);
    const finish = (outcome: string): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    socket.once("close", () => finish("cut"));
    socket.on("data", (chunk: Buffer) => {
      if (missing === undefined) {
        head += chunk.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - end - 4);
        head = head.slice(0, end);
      } else missing -= chunk.length;
      if (missing <= 0) finish(head.slice(9, 12));
    });
  });
}

/** Opens more connections than each server takes; each sends a part of a request and then nothing. */
const unfinished: Attack["run"] = async ({ http, grpc }, clients) => {
  const begin = async (port: number, first: string): Promise<Socket> => {
    const socket = await open(port);
    socket.write(first);
    return socket;
  };
  const each = Math.ceil(clients * 1.2);
  let cut = 0;
  const sockets: Socket[] = [];
  for (const port of [...http, grpc]) {
    const first = port === grpc ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : `${HEAD("/", 1_000)}[`;
    for (let index = 0; index < each; index += 100)
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => begin(port, first)))));
  }
  for (const socket of sockets) socket.resume().once("close", () => (cut += 1));
  const answers = await Promise.all(http.map((port) => health(port, "/health")));
  await wait(12_000);
  for (const socket of sockets) socket.destroy();
  return {
    connections: sockets.length,
    cut,
    "servers that answered": answers.filter(Number.isFinite).length,
    servers: http.length,
  };
};

/** Requests whose bodies of 3.9 MB arrive except for their last byte. */
const largeBodies: Attack["run"] = async ({ rpc, rest }, clients) => {
  const body = Buffer.alloc(3_900_000, " ");
  const outcomes: Promise<string>[] = [];
  const sockets: Socket[] = [];
  for (let index = 0; index < clients; index++) {
    const socket = await open(index % 2 === 0 ? rpc : rest);
    sockets.push(socket);
    outcomes.push(outcomeOf(socket));
    socket.write(HEAD(index % 2 === 0 ? "/" : "/cosmos/tx/v1beta1/txs", body.length + 1));
    socket.write(body);
    if (index % 50 === 0) await wait(10);
  }
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, 15_000);
  const counted = count(await Promise.all(outcomes));
  clearTimeout(timer);
  return counted;
};

/** Twelve WebSockets that send 64 KiB of smallest messages each, again and again. */
const webSockets: Attack["run"] = async ({ rpc }) => {
  const frame = Buffer.concat(Array.from({ length: 10_900 }, () => Buffer.from([0x81, 0x80, 0, 0, 0, 0])));
  const clients = Array.from({ length: 12 }, () => new WebSocket(`ws://127.0.0.1:${rpc}/websocket`));
  let cut = 0;
  for (const client of clients) client.on("error", () => {}).on("close", () => (cut += 1));
  await Promise.all(clients.map((client) => new Promise((resolve) => client.once("open", resolve))));
  for (let round = 0; round < 5; round++) {
    for (const client of clients) Reflect.get(client, "_socket")?.write(frame);
    await wait(1_000);
  }
  const counted = { "WebSockets cut": cut };
  for (const client of clients) client.terminate();
  return counted;
};

/** Searches over gRPC: 100 calls on each of ten connections. */
const grpcSearches: Attack["run"] = async ({ grpc }, clients) => {
  const query = Buffer.from("tx.height>0");
  const message = Buffer.concat([Buffer.from([0x28, 100, 0x32, query.length]), query]);
  const prefix = Buffer.from([0, 0, 0, 0, message.length]);
  const sessions = Array.from({ length: Math.ceil(clients / 100) }, () =>
    connectHttp2(`http://127.0.0.1:${grpc}`).on("error", () => {}),
  );
  const call = (session: ClientHttp2Session): Promise<string> =>
    new Promise((resolve) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/cosmos.tx.v1beta1.Service/GetTxsEvent",
        "content-type": "application/grpc",
        te: "trailers",
      });
      let status = "cut";
      const timer = setTimeout(() => resolve("no response"), ATTACK_MS);
      stream.on("response", (headers) => (status = String(headers["grpc-status"] ?? status)));
      stream.on("trailers", (headers) => (status = String(headers["grpc-status"])));
      stream.on("error", () => {});
      stream.on("close", () => {
        clearTimeout(timer);
        resolve(status === "cut" ? status : `grpc ${status}`);
      });
      stream.resume();
      stream.end(Buffer.concat([prefix, message]));
    });
  const calls = sessions.flatMap((session) => Array.from({ length: 100 }, () => call(session)));
  const counted = count(await Promise.all(calls));
  for (const session of sessions) session.destroy();
  return counted;
};

/** Requests of large pages by clients that read nothing. */
const deaf: Attack["run"] = async ({ rpc }, clients) => {
  const body = batch("tx_search", { query: "tx.height>0", per_page: "100" });
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(rpc)));
  for (const socket of sockets) socket.pause().write(`${HEAD("/", body.length)}${body}`);
  await wait(20_000);
  for (const socket of sockets) socket.destroy();
  return { connections: sockets.length };
};

const ALL_PAGES = "18ffffffff072001";
const SEARCH = { query: "tx.height>0", per_page: "100" };

const ATTACKS: readonly Attack[] = [
  { name: "tx_search", run: batches("tx_search", SEARCH) },
  { name: "tx_search, clients leave", run: batches("tx_search", SEARCH, 300) },
  { name: "tx_search, clients do not read", run: deaf },
  {
    name: "tx_search in a URI",
    run: released(`${HEAD('/tx_search?query="tx.height>0"&per_page=100', 1)} `),
  },
  {
    name: "REST search",
    run: ({ rest, ...target }, clients) =>
      released(`${HEAD("/cosmos/tx/v1beta1/txs?query=tx.height%3E0", 1).replace("POST", "GET")} `)(
        { ...target, rest, rpc: rest },
        clients,
      ),
  },
  { name: "gRPC search", run: grpcSearches },
  { name: "block_search", run: batches("block_search", { query: "block.height>0", per_page: "100" }) },
  { name: "block_results", run: batches("block_results", { height: "5" }) },
  {
    name: "abci_query of all registered queries",
    run: batches("abci_query", {
      path: "/neutron.interchainqueries.Query/RegisteredQueries",
      data: `1a08${ALL_PAGES}`,
    }),
  },
  { name: "validators", run: batches("validators", { per_page: "100" }) },
  { name: "unfinished requests", run: unfinished },
  { name: "large bodies", run: largeBodies },
  { name: "12 WebSockets with 64 KiB each", run: webSockets },
];

/**
 * Two chains of one process with a heap of 512 MB, under clients that want all of its time or memory. Measures for each attack the
 * longest time between two blocks and the slowest response to `/health`.
 */
export async function benchAttack({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const home = mkdtempSync(join(tmpdir(), "relaywatch-bench-"));
  const { offset, release } = await leasePorts();
  const ports = portsAt(offset);
  const localnet = startRelaywatch(
    ["localnet", "start", "--port-offset", String(offset), "--block-time", String(BLOCK_TIME_MS)],
    { XDG_STATE_HOME: home, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  );
  try {
    await localnet.untilLine("control token in", signal);
    const urls = {
      local: `http://127.0.0.1:${ports.localRpc}`,
      remote: `http://127.0.0.1:${ports.remoteRpc}`,
    };
    await createDemand(urls, { queries: quick ? 600 : 3_000, updatePeriod: 1_000 }, signal);
    const target: Target = {
      rpc: ports.localRpc,
      rest: ports.localRest,
      grpc: ports.localGrpc,
      http: [
        ports.localRpc,
        ports.localRest,
        ports.localMetrics,
        ports.prices,
        ports.oracleMetrics,
        ports.sidecarMetrics,
        ports.control,
      ],
    };
    const only = process.env["BENCH_ATTACK"];
    const rows: BenchRow[] = [];
    for (const attack of ATTACKS.filter(({ name }) => only === undefined || name === only))
      rows.push(...(await measure(attack, { target, localnet, clients: quick ? 200 : 1_000 }, signal)));
    return rows;
  } finally {
    await localnet.stop();
    release();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Run {
  readonly target: Target;
  readonly localnet: WatchedProcess;
  readonly clients: number;
}

async function measure(
  { name, run }: Attack,
  { target, localnet, clients }: Run,
  signal: AbortSignal,
): Promise<readonly BenchRow[]> {
  const subscriber = subscribe(target.rpc);
  await subscriber.opened;
  const end = new AbortController();
  const probe = probeHealth(target.rpc, AbortSignal.any([signal, end.signal]));
  let peakMb = 0;
  const watch = setInterval(() => (peakMb = Math.max(peakMb, residentMb(localnet.pid))), 100);
  const startedMs = performance.now();
  const outcomes = await run(target, clients);
  const seconds = (performance.now() - startedMs) / 1_000;
  await wait(2_000);
  end.abort();
  const { slowestMs, failed } = await probe;
  clearInterval(watch);
  await wait(CALM_MS);
  const counts = Object.entries(outcomes).map(([what, number]) => `${number} ${what}`);
  const gapMs = subscriber.longestGapMs();
  const isCut = subscriber.stop();
  const memory = `${Math.round(peakMb)} MB, ${CALM_MS / 1_000} s later ${Math.round(residentMb(localnet.pid))} MB`;
  const note = `${counts.join(", ")}; ${seconds.toFixed(1)} s; ${memory}${isCut ? "; the subscriber was cut" : ""}`;
  const rows = [
    { name: `${name}: longest time between blocks`, value: gapMs / 1_000, unit: "s", note },
    { name: `${name}: slowest /health`, value: slowestMs, unit: "ms", note: `${failed} failed` },
  ];
  process.stderr.write(
    `  ${rows.map((row) => `${row.name} ${row.value.toFixed(2)} ${row.unit} (${row.note})`).join("\n  ")}\n`,
  );
  return rows;
}

/** An innocent client: receives every block. */
function subscribe(port: number): {
  readonly opened: Promise<unknown>;
  readonly longestGapMs: () => number;
  /** Ends the subscription. Returns whether the server had ended it. */
  readonly stop: () => boolean;
} {
  const client = new WebSocket(`ws://127.0.0.1:${port}/websocket`);
  let lastMs: number | undefined;
  let longestMs = 0;
  client.on("error", () => {});
  client.on("open", () => {
    const params = { query: "tm.event='NewBlockHeader'" };
    client.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscribe", params }));
  });
  const note = (): void => {
    const nowMs = performance.now();
    if (lastMs !== undefined) longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  client.on("message", note);
  return {
    opened: new Promise((resolve) => client.once("message", resolve)),
    longestGapMs: () => {
      note();
      return longestMs;
    },
    stop: () => {
      const isCut = client.readyState !== client.OPEN;
      client.terminate();
      return isCut;
    },
  };
}

/** Asks for `/health` over new connections until the signal aborts. */
async function probeHealth(
  port: number,
  signal: AbortSignal,
): Promise<{ readonly slowestMs: number; readonly failed: number }> {
  let slowestMs = 0;
  let failed = 0;
  while (!signal.aborted) {
    const ms = await health(port, "/health");
    if (Number.isFinite(ms)) slowestMs = Math.max(slowestMs, ms);
    else failed += 1;
    await wait(PROBE_MS);
  }
  return { slowestMs, failed };
}

/** Resolves with the milliseconds until the response, or with Infinity. The status does not matter. */
function health(port: number, path: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const request = get({ port, path, agent: false, timeout: 10_000 }, (response) => {
      response.resume();
      response.once("end", () => resolve(performance.now() - startedMs));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(Number.POSITIVE_INFINITY));
  });
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.once("connect", () => resolve(socket)).once("close", () => resolve(socket));
  });
}

function count(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function residentMb(pid: number): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return (Number(pages) * 4_096) / 1_000_000;
  } catch {
    return 0;
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
