import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { accountNamed, CHAINS } from "../../src/localnet/accounts/chains.ts";
import { type FaultProxy, type ProxyFault, startFaultProxy } from "../support/fault-proxy.ts";
import { leasePorts } from "../support/port-lease.ts";
import { readOutcomes } from "./system/attempt-outcomes.ts";
import { type ChainUrls, createDemand } from "./system/demand.ts";
import { readCounters, type RelayerCounters } from "./system/relayer-page.ts";
import { startRelaywatch, type WatchedProcess } from "./system/watched-process.ts";

const USAGE = "usage: npm run endurance -- [--minutes 10] [--queries 1000] [--period 3]";

/** Moderate faults, one after the other, now of one chain and now of the other. */
const FAULTS: readonly ProxyFault[] = [
  { kind: "reset" },
  { kind: "delay", ms: 400 },
  { kind: "status", status: 503 },
  { kind: "hang" },
  { kind: "truncate" },
  { kind: "no-websocket" },
  { kind: "lose-broadcast" },
  { kind: "close" },
  { kind: "stale" },
];
const FAULT_MS = 3_000;
const CALM_MS = 12_000;
/** Longest wait until nothing is on its way any more. */
const DRAIN_MS = 90_000;
const MNEMONIC_VARIABLE = "BENCH_RELAYER_MNEMONIC";

interface Options {
  readonly minutes: number;
  readonly queries: number;
  readonly period: number;
}

/**
 * `npm run endurance`: runs localnet and relayer as processes of their own, with faults between them, and counts whether
 * every attempt ended with an outcome. Exit code 0 when each did; 1 when not; 2 for a wrong command line.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      queries: { type: "string", default: "1000" },
      period: { type: "string", default: "3" },
    },
  });
  const [minutes = 0, queries = 0, period = 0] = [values.minutes, values.queries, values.period].map(Number);
  if (!(minutes > 0 && queries > 0 && period > 0)) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-endurance-"));
  const running: WatchedProcess[] = [];
  const proxies: FaultProxy[] = [];
  const { offset, release } = await leasePorts();
  try {
    return await run({ minutes, queries, period }, { folder, offset, running, proxies });
  } finally {
    await Promise.all([...running.map((one) => one.stop()), ...proxies.map((one) => one.close())]);
    release();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly offset: number;
  readonly running: WatchedProcess[];
  readonly proxies: FaultProxy[];
}

const signal = new AbortController().signal;

async function run(options: Options, { folder, offset, running, proxies }: Place): Promise<number> {
  const ports = portsAt(offset);
  const start = (args: readonly string[], environment = {}): WatchedProcess => {
    const one = startRelaywatch(args, { XDG_STATE_HOME: folder, ...environment });
    running.push(one);
    return one;
  };
  const localnet = start(["localnet", "start", "--block-time", "850", "--port-offset", `${offset}`]);
  await localnet.untilLine("control token in", signal);
  const direct = {
    local: `http://127.0.0.1:${ports.localRpc}`,
    remote: `http://127.0.0.1:${ports.remoteRpc}`,
  };
  await createDemand(direct, { queries: options.queries, updatePeriod: options.period }, signal);
  const [local, remote] = [await startFaultProxy(direct.local), await startFaultProxy(direct.remote)];
  proxies.push(local, remote);
  const file = join(folder, "relayer.yaml");
  writeFileSync(file, relayerConfig({ local: local.url, remote: remote.url }, folder));
  const relayer = start(["relayer", "start", "--config", file, "--log-level", "warn"], {
    [MNEMONIC_VARIABLE]: accountNamed(CHAINS.local, "relayer").mnemonic,
  });
  const url = await relayer.untilLine("icq-relayer", signal);
  const injected = await injectFaults([remote, local], options.minutes * 60_000);
  const counters = await drain(url, remote);
  const { peakMb } = await relayer.stop();
  return report(options, { counters, injected, folder, peakMb });
}

function relayerConfig(urls: ChainUrls, folder: string): string {
  return `
chain: { id: ${CHAINS.local.chainId}, rpc: ["${urls.local}"] }
signer: { mnemonic: { env: ${MNEMONIC_VARIABLE} } }
connections:
  - { id: connection-0, chain_id: ${CHAINS.remote.chainId}, rpc: ["${urls.remote}"] }
queries: { tx: false, allow_kv_callbacks: false }
deadlines: { call: 5s }
state_dir: ${folder}/relayer
history: { max_attempts: 10000000 }
http: { listen: "127.0.0.1:0" }
`;
}

/** Returns the number of faults. */
async function injectFaults(proxies: readonly FaultProxy[], durationMs: number): Promise<number> {
  const endMs = performance.now() + durationMs;
  let count = 0;
  while (performance.now() < endMs) {
    await systemClock.sleep(CALM_MS, signal);
    const proxy = proxies[count % proxies.length];
    proxy?.set(FAULTS[Math.floor(count / proxies.length) % FAULTS.length]);
    await systemClock.sleep(FAULT_MS, signal);
    proxy?.set(undefined);
    count += 1;
  }
  return count;
}

/** Stops the remote chain for the relayer, so that nothing new is proven, until nothing is on its way. */
async function drain(url: string, remote: FaultProxy): Promise<RelayerCounters> {
  remote.set({ kind: "stale" });
  const endMs = performance.now() + DRAIN_MS;
  let last = await readCounters(url, signal);
  for (let calm = 0; calm < 10 && performance.now() < endMs; ) {
    await systemClock.sleep(1_000, signal);
    const now = await readCounters(url, signal);
    calm = now.proven === last.proven && now.results === last.results ? calm + 1 : 0;
    last = now;
  }
  return last;
}

interface Measured {
  readonly counters: RelayerCounters;
  readonly injected: number;
  readonly folder: string;
  readonly peakMb: number | undefined;
}

function report(
  { minutes, queries, period }: Options,
  { counters, injected, folder, peakMb }: Measured,
): number {
  const outcomes = readOutcomes(join(folder, "relayer"));
  const ended = [...outcomes.proven.values()].reduce((sum, count) => sum + count, 0);
  const included = outcomes.proven.get("included") ?? 0;
  const lines = [
    `${minutes} minutes, ${queries} queries with update_period ${period}, ${injected} faults of ${FAULT_MS / 1_000} s`,
    `proven results: ${counters.proven}; attempts that ended: ${ended}; not ended: ${counters.proven - ended}`,
    `outcomes: ${[...outcomes.proven].map(([name, count]) => `${name} ${count}`).join(", ")}`,
    `without a proof: ${[...outcomes.unproven].map(([name, count]) => `${name} ${count}`).join(", ") || "none"}`,
    `included by the metric: ${counters.results}; by the attempts: ${included}`,
    `transactions: ${counters.transactions}, failed, refused or lost: ${counters.failedTransactions}; peak memory: ${peakMb?.toFixed(0) ?? "unknown"} MB`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return counters.proven === ended && included === counters.results && included > 0 ? 0 : 1;
}

process.exitCode = await main();
