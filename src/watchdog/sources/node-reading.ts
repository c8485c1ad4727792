import type { Sample } from "../prometheus/line-parser.ts";
import { SourceError } from "./source-failure.ts";

/** What the node's page says about the oracle. */
export interface NodeReading {
  readonly chainId: string;
  /** Blocks since the node's start whose oracle call succeeded and failed. A missing series is zero. */
  readonly success: bigint;
  readonly failure: bigint;
  /** Latest block, when the page has it. */
  readonly height?: bigint;
  /** When the node's process began, when the page has it. */
  readonly processStartMs?: number;
}

const RESPONSES = "app_oracle_responses";
const PROCESS_START = "process_start_time_seconds";
/** Newer and older namespace of the same consensus gauges. */
const HEIGHT = /^(?:cometbft|tendermint)_consensus_(?:latest_block_height|height)$/;
const NODE_FAMILY = /^(?:app|cometbft|tendermint)_/;

/** The series of a node's page that {@link toNodeReading} needs. Every node has a consensus height. */
export function isNodeSeries(name: string): boolean {
  return name === RESPONSES || name === PROCESS_START || HEIGHT.test(name);
}

/**
 * Reads a node's page. `chainId` chooses among several chains on one page.
 * @throws {SourceError} when the page is not a node's, or has several chains and none was chosen.
 */
export function toNodeReading(samples: readonly Sample[], chainId?: string): NodeReading {
  const chain = chooseChain(samples, chainId);
  const own = samples.filter(({ labels }) => (labels.get("chain_id") ?? chain) === chain);
  const heights = own.filter(({ name }) => HEIGHT.test(name));
  const height = toCount(
    heights.find(({ name }) => name.endsWith("latest_block_height"))?.value ?? belowOne(heights[0]?.value),
  );
  const start = own.find(({ name }) => name === PROCESS_START)?.value;
  return {
    chainId: chain,
    success: sumOf(own, "Success"),
    failure: sumOf(own, "Failure"),
    ...(height === undefined ? {} : { height }),
    ...(start === undefined || !Number.isFinite(start) ? {} : { processStartMs: Math.round(start * 1000) }),
  };
}

/** The consensus height is one above the latest block. */
function belowOne(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value - 1);
}

function chooseChain(samples: readonly Sample[], wanted: string | undefined): string {
  const chains = new Set(
    samples
      .filter(({ name }) => NODE_FAMILY.test(name))
      .flatMap(({ labels }) => labels.get("chain_id") ?? []),
  );
  if (wanted !== undefined && chains.has(wanted)) return wanted;
  const [first, ...others] = chains;
  if (first === undefined)
    throw new SourceError(
      { code: "not-a-node" },
      "the page has no node metrics; check that the URL is the node's and that its Prometheus metrics are on",
    );
  if (wanted !== undefined)
    throw new SourceError(
      { code: "wrong-chain" },
      `the node is on chain ${[...chains].join(", ")}, not on ${wanted}; check sources.node and chain_id`,
    );
  if (others.length > 0)
    throw new SourceError(
      { code: "several-chains" },
      `the page has several chains (${[...chains].join(", ")}); choose one with chain_id`,
    );
  return first;
}

function sumOf(samples: readonly Sample[], status: string): bigint {
  return samples
    .filter(({ name, labels }) => name === RESPONSES && labels.get("status") === status)
    .reduce((sum, { value }) => sum + requireCount(value), 0n);
}

function requireCount(value: number): bigint {
  const count = toCount(value);
  if (count !== undefined) return count;
  throw new SourceError({ code: "not-a-node" }, `${RESPONSES} is ${value}, which is no count`);
}

function toCount(value: number | undefined): bigint | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
}
