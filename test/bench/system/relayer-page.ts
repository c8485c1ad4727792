import { request } from "undici";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { createPrometheusTextParser } from "../../../src/watchdog/prometheus/text-parser.ts";

/** The relayer's counters at one instant. */
export interface RelayerCounters {
  /** Monotonic, ms. */
  readonly atMs: number;
  /** Results that were proven. */
  readonly proven: number;
  readonly results: number;
  readonly failures: number;
  readonly transactions: number;
  /** Transactions that the node refused, that failed in a block, or that were lost. */
  readonly failedTransactions: number;
  readonly simulations: number;
  readonly localHeight: number;
  /** Included results by how many blocks late they were, cumulative: upper bound to number. */
  readonly lateness: ReadonlyMap<number, number>;
  readonly clientUpdates: number;
  readonly gas: number;
  /** Fees in units of the fee denom. */
  readonly fees: number;
  readonly txBytes: number;
  readonly rpcCalls: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

const POLL_MS = 25;
/** Upper bounds of the histogram of the relayer. */
const LATE_BOUNDS = [0, 1, 2, 3, 5, 10, 20, 50, 100] as const;

/** Reads the relayer's metrics page. */
export async function readCounters(url: string, signal: AbortSignal): Promise<RelayerCounters> {
  const answer = await request(`${url}/metrics`, { signal });
  const page = new Uint8Array(await answer.body.arrayBuffer());
  const atMs = performance.now();
  const sums = sumSamples(page);
  const get = (name: string): number | undefined => sums.get(`relaywatch_relayer_${name}`);
  const results = get("results_total/included") ?? missing("results_total");
  // Counters of calls begin to exist with the first call.
  const of = (name: string): number => get(name) ?? (results === 0 ? 0 : missing(name));
  return {
    atMs,
    proven: of("results_proven_total"),
    results,
    failures: of("results_total") - results,
    transactions: of("transactions_total/included"),
    failedTransactions: of("transactions_total") - of("transactions_total/included"),
    simulations: of("simulations_total"),
    localHeight: of("local_height"),
    lateness: new Map(
      LATE_BOUNDS.map((bound) => [bound, of(`due_to_included_blocks_bucket/${bound}`)] as const),
    ),
    clientUpdates: of("client_updates_total"),
    gas: of("gas_used_total"),
    fees: of("fees_total"),
    txBytes: of("tx_bytes_total"),
    rpcCalls: of("rpc_calls_total"),
    bytesSent: of("rpc_bytes_total/sent"),
    bytesReceived: of("rpc_bytes_total/received"),
  };
}

/** Sums of all samples by name, and by name and outcome or direction. */
function sumSamples(page: Uint8Array): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (name: string, value: number): void => void sums.set(name, (sums.get(name) ?? 0) + value);
  const parser = createPrometheusTextParser({
    sample: ({ name, labels, value }) => {
      add(name, value);
      const kind = labels.get("outcome") ?? labels.get("direction") ?? labels.get("le");
      if (kind !== undefined) add(`${name}/${kind}`, value);
    },
  });
  parser.push(page);
  parser.end();
  return sums;
}

function missing(name: string): never {
  throw new Error(`the relayer's page has no relaywatch_relayer_${name}`);
}

/** The counters as soon as the number of results fits. */
export async function countersWhen(
  url: string,
  fits: (results: number) => boolean,
  signal: AbortSignal,
): Promise<RelayerCounters> {
  for (;;) {
    const counters = await readCounters(url, signal);
    if (fits(counters.results)) return counters;
    await systemClock.sleep(POLL_MS, signal);
  }
}
