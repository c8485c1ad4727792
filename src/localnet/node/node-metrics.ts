import type { Clock } from "../../platform/base/clock.ts";
import { Counter, Registry } from "prom-client";
import { totalPower } from "../../cosmos/comet/validator-set.ts";
import { toHex, upperHex } from "../../platform/base/bytes.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { type HttpReply, textReply } from "../../platform/http/http-route.ts";
import { openRouteServer } from "../../platform/http/route-server.ts";
import { metricFactory } from "./base/metric-factory.ts";
import { type NodeServer, type ServerAddress, toNodeServer } from "./base/node-server.ts";
import type { ProducedBlock } from "./consensus/engine.ts";
import { signersOf } from "./consensus/make-block.ts";
import type { Mempool } from "./consensus/mempool.ts";

/** Metrics of a node, with the same names, types and help texts as a CometBFT node. */
export type NodeMetrics = ReturnType<typeof createNodeMetrics>;

/** The chain and process information that a node's metrics report. */
export interface NodeMetricsOptions {
  readonly chainId: string;
  readonly startTimeMs: number;
  /** Height of the last block at startup, or 0 if there is no block. */
  readonly height: bigint;
}

/** Creates a node's metrics in a separate registry, so that each node can have a separate metrics endpoint. */
export function createNodeMetrics(options: NodeMetricsOptions) {
  const registry = new Registry();
  const families = createFamilies(registry);
  const chain = { chain_id: options.chainId };
  families.startTime.set(options.startTimeMs / 1000);
  // Report the next block's height, because CometBFT's metric is the height in consensus.
  families.height.set(chain, Number(options.height) + 1);
  families.mempoolFailed.inc(chain, 0);
  families.mempoolRechecked.inc(chain, 0);
  families.validatorSetUpdates.inc(chain, 0);
  const last = { timeNs: undefined as bigint | undefined, failed: 0, rechecked: 0, txs: 0 };
  return {
    registry,
    chainId: options.chainId,
    /** Counts a transaction that the mempool accepted. */
    observeMempoolTx: (bytes: number): void => families.txSize.observe(chain, bytes),
    /** Records a committed block, and the state of the mempool after the block. */
    observeBlock: (produced: ProducedBlock, mempool: Mempool) => {
      observeHeader(families, chain, produced);
      observeSigners(families, chain, produced);
      const { timeNs } = produced.block.header;
      if (last.timeNs !== undefined) {
        families.blockInterval.observe(chain, Number(timeNs - last.timeNs) / 1e9);
      }
      last.timeNs = timeNs;
      last.txs += produced.block.txs.length;
      families.totalTxs.set(chain, last.txs);
      families.mempoolSize.set(chain, mempool.count());
      families.mempoolBytes.set(chain, mempool.bytes());
      families.mempoolFailed.inc(chain, mempool.failed() - last.failed);
      families.mempoolRechecked.inc(chain, mempool.rechecked() - last.rechecked);
      last.failed = mempool.failed();
      last.rechecked = mempool.rechecked();
    },
  };
}

type Families = ReturnType<typeof createFamilies>;
type ChainLabel = { readonly chain_id: string };

function observeHeader(families: Families, chain: ChainLabel, produced: ProducedBlock): void {
  const { block, commit, results, executionMs } = produced;
  const height = Number(block.header.height);
  families.height.set(chain, height + 1);
  families.latestHeight.set(chain, height);
  families.txs.set(chain, block.txs.length);
  families.blockBytes.set(chain, block.sizeBytes);
  families.chainBytes.inc(chain, block.sizeBytes);
  families.rounds.set(chain, commit.round);
  families.proposals.inc(chain);
  families.processing.observe(chain, executionMs);
  families.abciTiming.observe({ ...chain, method: "finalize_block", type: "sync" }, executionMs / 1000);
  if (results.validatorUpdates.length > 0) families.validatorSetUpdates.inc(chain);
}

function observeSigners(families: Families, chain: ChainLabel, { commit, state }: ProducedBlock): void {
  const { validators } = state.lastValidators;
  const signed = signersOf(commit);
  const missing = validators.filter(({ address }) => !signed.has(toHex(address)));
  families.validators.set(chain, validators.length);
  families.validatorsPower.set(chain, Number(totalPower(validators)));
  families.missing.set(chain, missing.length);
  families.missingPower.set(chain, Number(totalPower(missing)));
  families.byzantine.set(chain, 0);
  families.byzantinePower.set(chain, 0);
  // Export these three metrics for every validator, because this node signs for all validators. CometBFT exports them only for the
  // node's own validator.
  for (const { address, power } of validators) {
    const labels = { ...chain, validator_address: upperHex(address) };
    families.validatorPower.set(labels, Number(power));
    if (signed.has(toHex(address))) families.lastSigned.set(labels, Number(commit.height));
    else families.missedBlocks.inc(labels);
  }
}

function createFamilies(registry: Registry) {
  const chain = ["chain_id"] as const;
  const validator = ["chain_id", "validator_address"] as const;
  const { gauge, histogram } = metricFactory(registry);
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: chain, registers: [registry] });
  return {
    startTime: gauge(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      [],
    ),
    abciTiming: histogram(
      "cometbft_abci_connection_method_timing_seconds",
      "Timing for each ABCI method.",
      ["chain_id", "method", "type"],
      [0.0001, 0.0004, 0.002, 0.009, 0.02, 0.1, 0.65, 2, 6, 25],
    ),
    blockInterval: histogram(
      "cometbft_consensus_block_interval_seconds",
      "Time between this and the last block.",
      chain,
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
    blockBytes: gauge("cometbft_consensus_block_size_bytes", "Size of the block.", chain),
    byzantine: gauge(
      "cometbft_consensus_byzantine_validators",
      "Number of validators who tried to double sign.",
      chain,
    ),
    byzantinePower: gauge(
      "cometbft_consensus_byzantine_validators_power",
      "Total power of the byzantine validators.",
      chain,
    ),
    chainBytes: counter("cometbft_consensus_chain_size_bytes", "Size of the chain in bytes."),
    height: gauge("cometbft_consensus_height", "Height of the chain.", chain),
    latestHeight: gauge("cometbft_consensus_latest_block_height", "The latest block height.", chain),
    missing: gauge("cometbft_consensus_missing_validators", "Number of validators who did not sign.", chain),
    missingPower: gauge(
      "cometbft_consensus_missing_validators_power",
      "Total power of the missing validators.",
      chain,
    ),
    txs: gauge("cometbft_consensus_num_txs", "Number of transactions.", chain),
    proposals: counter(
      "cometbft_consensus_proposal_create_count",
      "ProposalCreationCount is the total number of proposals created by this node since process start. The metric is annotated by the status of the proposal from the application, either 'accepted' or 'rejected'.",
    ),
    rounds: gauge("cometbft_consensus_rounds", "Number of rounds.", chain),
    totalTxs: gauge("cometbft_consensus_total_txs", "Total number of transactions.", chain),
    lastSigned: gauge(
      "cometbft_consensus_validator_last_signed_height",
      "Last height signed by this validator if the node is a validator.",
      validator,
    ),
    missedBlocks: gauge(
      "cometbft_consensus_validator_missed_blocks",
      "Amount of blocks missed by the validator if the node is a validator.",
      validator,
    ),
    validatorPower: gauge("cometbft_consensus_validator_power", "Power of a validator.", validator),
    validators: gauge("cometbft_consensus_validators", "Number of validators.", chain),
    validatorsPower: gauge("cometbft_consensus_validators_power", "Total power of all validators.", chain),
    mempoolFailed: counter(
      "cometbft_mempool_failed_txs",
      "FailedTxs defines the number of failed transactions. These are transactions that failed to make it into the mempool because they were deemed invalid. metrics:Number of failed transactions.",
    ),
    mempoolRechecked: counter(
      "cometbft_mempool_recheck_times",
      "Number of times transactions are rechecked in the mempool.",
    ),
    mempoolSize: gauge("cometbft_mempool_size", "Number of uncommitted transactions in the mempool.", chain),
    mempoolBytes: gauge("cometbft_mempool_size_bytes", "Total size of the mempool in bytes.", chain),
    txSize: histogram(
      "cometbft_mempool_tx_size_bytes",
      "Histogram of transaction sizes in bytes.",
      chain,
      [1, 3, 9, 27, 81, 243, 729],
    ),
    processing: histogram(
      "cometbft_state_block_processing_time",
      "Time spent processing FinalizeBlock",
      chain,
      [1, 11, 21, 31, 41, 51, 61, 71, 81, 91],
    ),
    validatorSetUpdates: counter(
      "cometbft_state_validator_set_updates",
      "Number of validator set updates returned by the application since process start.",
    ),
  };
}

/** Maximum number of concurrent scrapes, as in CometBFT's default `max_open_connections`. */
const MAX_SCRAPES = 3;

/** Creates the metrics endpoint, which serves the registry in Prometheus text format on every path, like CometBFT. */
export function createMetricsServer(
  { host, port, portOption, access }: ServerAddress,
  deps: { readonly registry: Registry; readonly logger: Logger; readonly clock: Pick<Clock, "nowMs"> },
): NodeServer {
  const { nowMs: dateMs } = deps.clock;
  const routes = [{ method: "GET", path: "*", handle: createPage(deps.registry) }] as const;
  return toNodeServer("metrics", () =>
    openRouteServer(
      { name: "node metrics", listen: { host, port }, portOption, routes, dateMs, access: access ?? {} },
      deps,
    ),
  );
}

function createPage(registry: Registry): () => Promise<HttpReply> {
  let scrapes = 0;
  return async () => {
    if (scrapes >= MAX_SCRAPES) {
      return textReply(503, `Limit of concurrent requests reached (${MAX_SCRAPES}), try again later.\n`);
    }
    scrapes += 1;
    try {
      const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
      return { status: 200, headers, body: await registry.metrics() };
    } finally {
      scrapes -= 1;
    }
  };
}
