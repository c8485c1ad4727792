import type { Sample } from "../prometheus/line-parser.ts";
import { SourceError } from "./source-failure.ts";

/** Reading of the node's metrics page. */
export interface NodeReading {
  readonly chainId: string;
  /** Successful oracle calls since the start of the node, one per block. */
  readonly success: bigint;
  /** Failed oracle calls since the start of the node. */
  readonly failure: bigint;
  /** Height of the latest block. Absent when the page has no height. */
  readonly height?: bigint;
  /** Start time of the node's process. Absent when the page has none. */
  readonly processStartMs?: number;
}

const RESPONSES = "app_oracle_responses";
const PROCESS_START = "process_start_time_seconds";
/** CometBFT renamed its metrics namespace from `tendermint` to `cometbft`. */
const HEIGHT = /^(?:cometbft|tendermint)_consensus_(?:latest_block_height|height)$/;
const NODE_FAMILY = /^(?:app|cometbft|tendermint)_/;

/** Whether {@link toNodeReading} needs the series. */
export function isNodeSeries(name: string): boolean {
  return name === RESPONSES || name === PROCESS_START || HEIGHT.test(name);
}

/**
 * Reads a node's page. `chainId` selects the chain when the page has several. Throws {@link SourceError} when the page has
 * no node metrics, when it does not have the selected chain, when it has several chains and none is selected, or when a value
 * is outside its range.
 */
export function toNodeReading(samples: readonly Sample[], chainId?: string): NodeReading {
  const chain = chooseChain(samples, chainId);
  // Process metrics have no chain_id label.
  const own = samples.filter(({ labels }) => (labels.get("chain_id") ?? chain) === chain);
  const heights = own.filter(({ name }) => HEIGHT.test(name));
  const height = heights.find(({ name }) => name.endsWith("latest_block_height")) ?? belowOne(heights[0]);
  const start = own.find(({ name }) => name === PROCESS_START);
  return {
    chainId: chain,
    success: sumOf(own, "Success"),
    failure: sumOf(own, "Failure"),
    ...(height === undefined ? {} : { height: requireCount(height) }),
    ...(start === undefined ? {} : { processStartMs: requireStartMs(start.value) }),
  };
}

/** `consensus_height` is the height that validators vote on: one above the latest block. */
function belowOne(sample: Sample | undefined): Sample | undefined {
  return sample && { ...sample, value: sample.value === 0 ? 0 : sample.value - 1 };
}

function chooseChain(samples: readonly Sample[], selected: string | undefined): string {
  // `process_start_time_seconds` and other process metrics are on every page, so they do not prove that it is a node's.
  const chains = new Set(
    samples
      .filter(({ name }) => NODE_FAMILY.test(name))
      .flatMap(({ labels }) => labels.get("chain_id") ?? []),
  );
  if (selected !== undefined && chains.has(selected)) return selected;
  const [first, ...others] = chains;
  if (first === undefined)
    throw new SourceError(
      { code: "not-a-node" },
      "the page has no node metrics; check that the URL is the node's and that its Prometheus metrics are on",
    );
  if (selected !== undefined)
    throw new SourceError(
      { code: "wrong-chain" },
      `the node is on chain ${[...chains].join(", ")}, not on ${selected}; check sources.node and chain_id`,
    );
  if (others.length > 0)
    throw new SourceError(
      { code: "several-chains" },
      `the page has several chains (${[...chains].join(", ")}); choose one with chain_id`,
    );
  return first;
}

/** Returns the number of oracle calls with this status; 0 without a series. */
function sumOf(samples: readonly Sample[], status: string): bigint {
  // The node creates a series at its first event: without a failure since the start there is no `Failure` series.
  return samples
    .filter(({ name, labels }) => name === RESPONSES && labels.get("status") === status)
    .reduce((sum, sample) => sum + requireCount(sample), 0n);
}

/**
 * Largest count or height: a block each millisecond for 30 years. Larger values are errors of the node. Sums of many of
 * them would exceed the 64 bits of the state file.
 */
const MAX_COUNT = 1_000_000_000_000;

function requireCount({ name, value }: Sample): bigint {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT) return BigInt(value);
  throw new SourceError({ code: "bad-value" }, `${name} is ${value}, which is not a number of blocks`);
}

/** End of the year 9999. Later times have no ISO 8601 form with four digits. */
const MAX_START_SECONDS = 253_402_300_799;

function requireStartMs(seconds: number): number {
  if (seconds >= 0 && seconds <= MAX_START_SECONDS) return Math.round(seconds * 1000);
  throw new SourceError({ code: "bad-value" }, `${PROCESS_START} is ${seconds}, which is not a time`);
}
