import { withDeadline } from "../../../src/platform/base/abort.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ports, portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type DelayProxy, startDelayProxy } from "./delay-proxy.ts";
import { type ChainUrls, createDemand } from "./demand.ts";
import { leasePorts } from "../../support/port-lease.ts";
import { createChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { readMarketParams, readMarketState } from "../../../src/relayer/chain/local-queries.ts";
import { countersWhen, type RelayerCounters } from "./relayer-page.ts";
import { startRelaywatch, type WatchedProcess } from "./watched-process.ts";

/** One way to run the system. */
export interface Scenario {
  readonly queries: number;
  /** Blocks of the local chain between two results of a query. */
  readonly updatePeriod: number;
  readonly blockTimeMs: number;
  /** Round trip added between the relayer and each chain; 0: no proxy. */
  readonly roundTripMs: number;
  /** Whether each result is announced to the consumer contract, which then reads and keeps it. */
  readonly callbacks: boolean;
  /** How long is measured, at least. */
  readonly windowMs: number;
  /**
   * When the measurement begins. "results": each query has had six results. "calm": the price of gas has returned from the burst that
   * answers all queries for the first time. "backlog": with the first result, and it ends when each query has one.
   */
  readonly from: "results" | "calm" | "backlog";
  /** Blocks of the relayer before the measurement, at least. Those of a backlog are not counted. */
  readonly afterBlocks?: number;
  /** Gas that others use of each block: `localnet start --traffic`. */
  readonly traffic?: string;
  /** `gas.price.comfortable` and `gas.max_price` */
  readonly ceiling?: string;
}

/** What one run showed. */
export interface ScenarioResult {
  /** Counters at the first and the last inclusion of the window. */
  readonly first: RelayerCounters;
  readonly last: RelayerCounters;
  /** Peak memory of the relayer, and the sum of those of the two chains, MB. */
  readonly localnetPeakMb: number;
  /** Prices of gas at the blocks of the window, as a multiple of the minimum, with their heights. */
  readonly prices: readonly PriceAt[];
  readonly relayerPeakMb: number;
}

/** Price of gas after a block, as a multiple of the minimum. */
export interface PriceAt {
  readonly height: number;
  readonly price: number;
}

export const SET_UP_DEADLINE_MS = 180_000;
const INCLUSION_DEADLINE_MS = 150_000;
/** Of each block of `afterBlocks`. */
const BLOCK_DEADLINE_MS = 3_000;
/**
 * Results of each query before the measurement. In the first blocks the relayer learns the gas of the results, and both
 * processes compile their code.
 */
const WARM_UP_RESULTS = 6;
export const MNEMONIC_VARIABLE = "BENCH_RELAYER_MNEMONIC";

/**
 * Runs localnet and relayer as processes of their own, with queries that are due every `updatePeriod` blocks, and reads the
 * relayer's counters at two inclusions at least `windowMs` apart, the first after the warm-up.
 */
export async function runScenario(scenario: Scenario, signal: AbortSignal): Promise<ScenarioResult> {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-bench-"));
  const running: WatchedProcess[] = [];
  const proxies: DelayProxy[] = [];
  const start = (args: readonly string[], environment: Readonly<Record<string, string>>): WatchedProcess => {
    const one = startRelaywatch(args, { XDG_STATE_HOME: folder, ...environment });
    running.push(one);
    return one;
  };
  const { offset, release } = await leasePorts();
  try {
    const ports = portsAt(offset);
    // A process each, as chains have: one chain's blocks must not wait for the queries of the other one.
    const remote = start(localnetArguments(["remote"], scenario, offset), {});
    await remote.untilLine("remote", signal);
    const local = start(localnetArguments(["local", "sidecar"], scenario, offset), {});
    await local.untilLine("control token in", signal);
    await withDeadline("registering the queries", SET_UP_DEADLINE_MS, signal, (inner) =>
      createDemand(urlsOf(ports), scenario, inner),
    );
    const urls = scenario.roundTripMs === 0 ? urlsOf(ports) : await delay(ports, scenario, proxies);
    const file = join(folder, "relayer.yaml");
    writeFileSync(file, relayerConfig(urls, scenario));
    const relayer = start(["relayer", "start", "--config", file, "--log-level", "warn"], {
      [MNEMONIC_VARIABLE]: accountNamed(CHAINS.local, "relayer").mnemonic,
    });
    const url = await relayer.untilLine("icq-relayer", signal);
    const watch = watchPrices(urlsOf(ports).local, signal);
    const window = await measure(url, { ...scenario, prices: watch.prices }, signal).finally(watch.stop);
    const relayerPeakMb = peakOf(await relayer.stop());
    const localnetPeakMb = peakOf(await local.stop()) + peakOf(await remote.stop());
    return { ...window, prices: watch.prices, relayerPeakMb, localnetPeakMb };
  } finally {
    await Promise.all([...running.map((one) => one.stop()), ...proxies.map((proxy) => proxy.close())]);
    release();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function localnetArguments(
  parts: readonly string[],
  { blockTimeMs, traffic }: Pick<Scenario, "blockTimeMs" | "traffic">,
  offset: number,
): readonly string[] {
  const options = {
    "--block-time": blockTimeMs,
    "--port-offset": offset,
    "--log-level": "warn",
    ...(traffic === undefined || !parts.includes("local") ? {} : { "--traffic": traffic }),
  };
  return [
    "localnet",
    "start",
    ...parts,
    ...Object.entries(options).flatMap(([name, value]) => [name, String(value)]),
  ];
}

export function urlsOf(ports: Pick<Ports, "localRpc" | "remoteRpc">): ChainUrls {
  return { local: `http://127.0.0.1:${ports.localRpc}`, remote: `http://127.0.0.1:${ports.remoteRpc}` };
}

async function delay(ports: Ports, { roundTripMs }: Scenario, proxies: DelayProxy[]): Promise<ChainUrls> {
  const local = await startDelayProxy(ports.localRpc, roundTripMs / 2);
  proxies.push(local);
  const remote = await startDelayProxy(ports.remoteRpc, roundTripMs / 2);
  proxies.push(remote);
  return urlsOf({ localRpc: local.port, remoteRpc: remote.port });
}

/** Serves the queries of the bench and not the one that the localnet has from the start, which is due less often. */
export function relayerConfig(
  urls: ChainUrls,
  { queries, callbacks, ceiling }: Pick<Scenario, "queries" | "callbacks" | "ceiling">,
): string {
  const ids = Array.from({ length: queries }, (_, index) => JSON.stringify(String(index + 2)));
  return `
chain: { id: ${CHAINS.local.chainId}, rpc: ["${urls.local}"] }
signer: { mnemonic: { env: ${MNEMONIC_VARIABLE} } }
connections:
  - { id: connection-0, chain_id: ${CHAINS.remote.chainId}, rpc: ["${urls.remote}"] }
queries: { ids: [${ids.join(", ")}], tx: false, allow_kv_callbacks: ${callbacks} }
http: { listen: "127.0.0.1:0" }
${ceiling === undefined ? "" : `gas: { max_price: "${ceiling}", price: { comfortable: "${ceiling}" } }`}
`;
}

/** Blocks that are watched after a backlog was answered. */
const BLOCKS_AFTER_BACKLOG = 45;
/** Multiple of the minimum at which the price has returned, and the blocks for which it has to stay there. */
const CALM = { price: 1.05, blocks: 20 };

async function measure(
  url: string,
  { queries, windowMs, from, prices, afterBlocks = 0 }: Scenario & { readonly prices: readonly PriceAt[] },
  signal: AbortSignal,
): Promise<Pick<ScenarioResult, "first" | "last">> {
  const next = (after: number): Promise<RelayerCounters> =>
    withDeadline("the next inclusion", INCLUSION_DEADLINE_MS, signal, (inner) =>
      countersWhen(url, (results) => results > after, inner),
    );
  if (from === "backlog") {
    const first = await next(0);
    const last = await next(queries - 1);
    const end = last.localHeight + BLOCKS_AFTER_BACKLOG;
    await until(() => (prices.at(-1)?.height ?? 0) >= end, INCLUSION_DEADLINE_MS, signal);
    return { first, last };
  }
  if (from === "calm")
    await until(
      () => {
        const recent = prices.slice(-CALM.blocks);
        return prices.length > 2 * CALM.blocks && recent.every(({ price }) => price <= CALM.price);
      },
      INCLUSION_DEADLINE_MS,
      signal,
    );
  await until(
    () => prices.length >= afterBlocks,
    INCLUSION_DEADLINE_MS + afterBlocks * BLOCK_DEADLINE_MS,
    signal,
  );
  const first = await next(from === "calm" ? 0 : queries * WARM_UP_RESULTS - 1);
  await systemClock.sleep(windowMs, signal);
  const passed = await countersWhen(url, () => true, signal);
  return { first, last: await next(passed.results) };
}

const POLL_MS = 100;

async function until(isReached: () => boolean, deadlineMs: number, signal: AbortSignal): Promise<void> {
  await withDeadline("the price of gas", deadlineMs, signal, async (inner) => {
    while (!isReached()) await systemClock.sleep(POLL_MS, inner);
  });
}

/** Reads the price of gas after each block, until it is stopped. */
function watchPrices(
  url: string,
  signal: AbortSignal,
): { readonly prices: readonly PriceAt[]; readonly stop: () => void } {
  const end = new AbortController();
  const prices: PriceAt[] = [];
  const deps = { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver };
  const client = createChainClient({ endpoints: [{ url }], chainId: CHAINS.local.chainId }, deps);
  const watch = async (): Promise<void> => {
    const params = await readMarketParams(client, signal);
    if (params === undefined) throw new Error("the chain has no fee market");
    while (!end.signal.aborted && !signal.aborted) {
      const { latestHeight } = await client.status(signal);
      const height = Number(latestHeight);
      if (height > (prices.at(-1)?.height ?? 0)) {
        const { baseGasPrice } = await readMarketState(client, signal, latestHeight);
        prices.push({ height, price: Number(baseGasPrice) / Number(params.minBaseGasPrice) });
      }
      await systemClock.sleep(POLL_MS, signal);
    }
  };
  // Without prices the measurement fails at its deadline.
  void watch().catch(() => undefined);
  return {
    prices,
    stop: () => {
      end.abort();
      client.close();
    },
  };
}

function peakOf({ peakMb, complaints }: Awaited<WatchedProcess["ended"]>): number {
  if (peakMb === undefined)
    throw new Error(`a process of the bench did not stop when asked to: ${complaints}`);
  return peakMb;
}
