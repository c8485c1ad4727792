import { setImmediate } from "node:timers/promises";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { isAbort } from "../../platform/base/abort.ts";
import { encodeBech32, equalBytes } from "../../platform/base/bytes.ts";
import { type Service } from "../../platform/base/service.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import { createBlockListeners } from "./block-listeners.ts";
import { createEngine, type Engine, type ProducedBlock } from "./consensus/engine.ts";
import { loadChainState } from "./consensus/load-state.ts";
import { createMempool, DEFAULT_MEMPOOL, type Mempool } from "./consensus/mempool.ts";
import { createProduction, type Production } from "./consensus/production.ts";
import { createValidators, type Validators } from "./consensus/validators.ts";
import { createView } from "./create-view.ts";
import { NodeError } from "./errors.ts";
import { type CallRouter, createCallRouter } from "./grpc/call-router.ts";
import { decodeGenesis, encodeGenesis, type GenesisDoc } from "./genesis-doc.ts";
import { createMetricsServer } from "./metrics/metrics-server.ts";
import { createNodeMetrics, type NodeMetrics } from "./metrics/node-metrics.ts";
import { createNodeControl, type NodeControl } from "./node-control.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";
import type { NodeView } from "./node-view.ts";
import type { NodeServer } from "./node-server.ts";
import { createOracleClient } from "./oracle/oracle-client.ts";
import { createOracleMetrics } from "./oracle/oracle-metrics.ts";
import { createRpcServer } from "./rpc/rpc-server.ts";
import { type BlockStore, openBlockStore } from "./storage/block-store.ts";

/** A node whose servers all listen. */
export interface RunningNode {
  readonly view: NodeView;
  readonly control: NodeControl;
  readonly router: CallRouter;
  readonly genesis: GenesisDoc;
  /** Bound ports by server name: "rpc", "metrics", and the names of `NodeDeps.servers`. */
  readonly ports: ReadonlyMap<string, number>;
}

/** A chain in one process. `run` may be called once. */
export interface Node extends Service {
  /** Resolves when all servers listen, before the first block. Rejects when the node does not start. */
  readonly ready: Promise<RunningNode>;
}

const DEFAULT_BLOCK_TIME_MS = 1_000;
const DEFAULT_COMMIT_TIMEOUT_MS = 10_000;
/** At 14 kB per block, 1.4 GB. */
const DEFAULT_KEEP_BLOCKS_ON_DISK = 100_000;
/** At 14 kB per block, 140 MB. */
const DEFAULT_KEEP_BLOCKS_IN_MEMORY = 10_000;

/**
 * Creates a node. It runs the application as a chain, signs blocks with real validator keys, and serves CometBFT RPC,
 * metrics and `deps.servers`. `run` rejects with `NodeError` or `ListenError` when the node cannot start, and with the
 * error of a failed block later.
 */
export function createNode(options: NodeOptions, deps: NodeDeps): Node {
  const ready = createDeferred<RunningNode>();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const store = openBlockStore(options.home, options.keepBlocks ?? defaultKeepBlocks(options.home));
      try {
        await runOn(store, signal);
      } finally {
        store.close();
      }
    } catch (error) {
      ready.reject(error);
      if (!isAbort(error, signal)) throw error;
    }
  };
  const runOn = async (store: BlockStore, signal: AbortSignal): Promise<void> => {
    const genesis = await chooseGenesis(store, deps, signal);
    const parts = assemble(options, deps, store, genesis);
    const ports = new Map<string, number>();
    const rpcAddress = (): string => `tcp://${options.rpc.host}:${ports.get("rpc") ?? options.rpc.port}`;
    const { chainName, consensusPrefix } = options;
    const context = { view: parts.view, chainName, consensusPrefix, rpcAddress };
    const router = createCallRouter(context, deps.logger);
    const servers = createServers(options, deps, { ...parts, router, rpcAddress }, signal);
    try {
      // All servers listen before the first block, so that a subscriber can receive every block.
      for (const server of servers) ports.set(server.name, await server.listen());
      ready.resolve({ view: parts.view, control: createNodeControl(parts), router, genesis, ports });
      await parts.production.run(signal);
    } finally {
      // `listen` of one server may have failed. Only the servers before it are open.
      await Promise.all(servers.filter((server) => ports.has(server.name)).map((server) => server.close()));
    }
  };
  return { name: options.moniker, run, ready: ready.promise };
}

function defaultKeepBlocks(home: string | undefined): number {
  return home === undefined ? DEFAULT_KEEP_BLOCKS_IN_MEMORY : DEFAULT_KEEP_BLOCKS_ON_DISK;
}

/** Returns the genesis document to run and compares it with the stored one, if any. */
async function chooseGenesis(store: BlockStore, deps: NodeDeps, signal: AbortSignal): Promise<GenesisDoc> {
  const stored = store.genesis();
  const genesis = await deps.genesis(stored === undefined ? undefined : decodeGenesis(stored), signal);
  signal.throwIfAborted();
  if (stored !== undefined && !equalBytes(stored, encodeGenesis(genesis))) {
    throw new NodeError(
      { code: "other-genesis", chainId: genesis.chainId },
      `the home directory holds a chain with another genesis document than the one for ${genesis.chainId}; choose another --home or empty it`,
    );
  }
  return genesis;
}

interface Parts {
  readonly genesis: GenesisDoc;
  readonly engine: Engine;
  readonly mempool: Mempool;
  readonly validators: Validators;
  readonly production: Production;
  readonly metrics: NodeMetrics;
  readonly view: NodeView;
}

/** Creates all parts except the servers. */
function assemble(options: NodeOptions, deps: NodeDeps, store: BlockStore, genesis: GenesisDoc): Parts {
  const app = deps.createApp(store.state);
  const state = loadChainState(store, app, genesis);
  const seeds = [...options.validatorSeeds, ...store.validatorSeeds()];
  const validators = createValidators(seeds, store.saveValidatorKey);
  const metrics = createNodeMetrics({
    chainId: genesis.chainId,
    startTimeMs: deps.clock.nowMs(),
    height: state.height,
  });
  const mempool = countedMempool(createMempool(options.mempool ?? DEFAULT_MEMPOOL, app.checkTx), metrics);
  const listeners = createBlockListeners(deps.logger);
  const engine = createEngine(state, {
    app,
    store,
    mempool,
    validators,
    params: genesis.consensusParams,
    nowNs: () => BigInt(Math.trunc(deps.clock.nowMs())) * NS_PER_MS,
    monotonicMs: deps.clock.monotonicMs,
  });
  const onBlock = (produced: ProducedBlock): void => {
    metrics.observeBlock(produced, mempool);
    listeners.notify(produced.block, produced.results);
  };
  const beforeBlock = createOracleVote(options, deps, metrics, state.validators.validators[0]?.address);
  const production = createProduction(options.blockTimeMs ?? DEFAULT_BLOCK_TIME_MS, {
    engine,
    clock: deps.clock,
    logger: deps.logger,
    beforeBlock,
    // Returns after the I/O events that are pending now, so one pause handles the requests that have arrived.
    pause: () => setImmediate(),
    onBlock,
  });
  if (options.startHalted === true) production.halt();
  const view = createView({ app, store, engine, mempool, listeners, genesis, moniker: options.moniker });
  return { genesis, engine, mempool, validators, production, metrics, view };
}

/** Wraps a mempool and counts the sizes of accepted transactions. */
function countedMempool(mempool: Mempool, metrics: NodeMetrics): Mempool {
  const add: Mempool["add"] = (tx) => {
    const outcome = mempool.add(tx);
    if (outcome.check.code === 0) metrics.observeMempoolTx(tx.length);
    return outcome;
  };
  return { ...mempool, add };
}

/**
 * Returns the step before a block: it requests prices from the sidecar and counts the result. Does nothing without an
 * oracle. Its metrics carry the address of the first validator only, because a real node runs one validator.
 */
function createOracleVote(
  options: NodeOptions,
  deps: NodeDeps,
  metrics: NodeMetrics,
  address: Uint8Array | undefined,
): (signal: AbortSignal) => Promise<void> {
  const { oracle } = options;
  if (oracle === undefined || address === undefined) return () => Promise.resolve();
  const client = createOracleClient(oracle, deps);
  const validator = encodeBech32(options.consensusPrefix, address);
  const counts = createOracleMetrics(metrics.registry, { chainId: metrics.chainId, validator });
  return async (signal) => {
    if (oracle.faults?.has("pre-block-error")) counts.observePreBlockError();
    else counts.observe(await client.vote(signal), !oracle.faults?.has("vote-extensions-missing"));
  };
}

function createServers(
  options: NodeOptions,
  deps: NodeDeps,
  parts: Parts & { readonly router: CallRouter; readonly rpcAddress: () => string },
  signal: AbortSignal,
): readonly NodeServer[] {
  const { view, router, rpcAddress, genesis, engine, metrics } = parts;
  const roundState = () => {
    const { height, validators, lastCommit } = engine.state();
    return {
      height: height + 1n,
      startTimeNs: lastCommit.signatures[0]?.timestampNs ?? genesis.genesisTimeNs,
      validators: validators.validators,
      proposerAddress: validators.proposer?.address ?? new Uint8Array(),
    };
  };
  const context = {
    view,
    router,
    genesis,
    roundState,
    commitTimeoutMs: options.commitTimeoutMs ?? DEFAULT_COMMIT_TIMEOUT_MS,
    rpcAddress,
  };
  const rpc = createRpcServer(options, { ...deps, context, signal });
  const metricsServer =
    options.metrics === undefined
      ? []
      : [createMetricsServer(options.metrics, { registry: metrics.registry, logger: deps.logger })];
  return [rpc, ...metricsServer, ...(deps.servers ?? []).map((create) => create(router))];
}
