import { setImmediate } from "node:timers/promises";
import { isAbort } from "../../platform/base/abort.ts";
import { encodeBech32, equalBytes, toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import type { Application } from "../chain/runtime/abci.ts";
import { profileNamed } from "../chain/deviations/profile-named.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";
import { DEFAULT_QUERY_TIME_MS } from "./base/deadline.ts";
import { NodeError } from "./base/errors.ts";
import { decodeGenesis, encodeGenesis, type GenesisDoc } from "./base/genesis-doc.ts";
import type { NodeServer, ServerAddress } from "./base/node-server.ts";
import type { NodeQueries, NodeView } from "./base/node-view.ts";
import { type ChainState, loadChainState } from "./consensus/chain-state.ts";
import { createEngine, type ProducedBlock } from "./consensus/engine.ts";
import { createMempool, DEFAULT_MEMPOOL, type Mempool } from "./consensus/mempool.ts";
import { createProduction } from "./consensus/production.ts";
import { createRemovedHeaders } from "./consensus/removed-headers.ts";
import { createValidators, type Validators } from "./consensus/validators.ts";
import {
  createBlockListeners,
  createSetCache,
  createView,
  createNodeControl,
  type NodeControl,
} from "./create-view.ts";
import { type CallRouter, createCallRouter, type ServerFactory } from "./grpc/call-router.ts";
import { createMetricsServer, createNodeMetrics, type NodeMetrics } from "./node-metrics.ts";
import {
  createOracleClient,
  type OracleOptions,
  createExtendedCommits,
  type ExtendedCommits,
} from "./oracle/oracle-client.ts";
import { createOracleMetrics } from "./oracle/oracle-metrics.ts";
import { createRpcServer, type RpcServerOptions } from "./rpc/rpc-server.ts";
import { type BlockStore, openBlockStore } from "./storage/block-store.ts";

export interface NodeOptions extends RpcServerOptions {
  readonly moniker: string;
  /** Chain name in the type URLs of the chain's own modules, such as "neutron". */
  readonly chainName: string;
  /** Directory that contains the database. Without a home directory, the chain is stored only in memory. */
  readonly home?: string;
  /** Number of recent blocks to retain, or 0 to retain all blocks. Default: 100,000 with a home directory, 10,000 in memory. */
  readonly keepBlocks?: number;
  /** Time between the starts of consecutive blocks, in ms. Default: 1 s. */
  readonly blockTimeMs?: number;
  /** CPU time limit for a query or simulation, in ms. Default: 500 ms. */
  readonly queryTimeMs?: number | undefined;
  /** If true, the node makes no blocks until `resume` is called. */
  readonly startHalted?: boolean;
  /** 32-byte seeds of the validators that sign blocks on this node. */
  readonly validatorSeeds: readonly Uint8Array[];
  /** Bech32 prefix of consensus addresses, such as "neutronvalcons". */
  readonly consensusPrefix: string;
  readonly metrics?: ServerAddress;
  readonly oracle?: OracleOptions;
  /** Deadline for `broadcast_tx_commit`, in ms. Default: 10 s. */
  readonly commitTimeoutMs?: number;
}

export interface NodeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Creates the application for a chain, with the profile in its genesis document. */
  readonly createApp: (storage: StateStorage, genesis: GenesisDoc) => Application;
  /** Returns the chain's genesis document. If the home contains a different document, the node fails with `other-genesis`. */
  readonly genesis: (stored: GenesisDoc | undefined, signal: AbortSignal) => GenesisDoc | Promise<GenesisDoc>;
  /** Called before the first new block, with the last block's time or, on a new chain, the genesis time. */
  readonly onLoad?: (lastTimeNs: bigint) => void;
  /** Servers in addition to RPC and metrics, such as REST and gRPC. */
  readonly servers?: readonly ServerFactory[];
  /** Returns handlers for `abci_query` paths in addition to the application's paths. */
  readonly queries?: ((parts: QueriedParts) => NodeQueries) | undefined;
}

/** Parts of the node that handlers for additional `abci_query` paths can read. */
interface QueriedParts {
  readonly app: Application;
  readonly store: BlockStore;
  /** CPU time limit for a query or simulation. */
  readonly queryTimeMs: number;
}

/** A node whose servers are all listening. */
export interface RunningNode {
  readonly view: NodeView;
  readonly control: NodeControl;
  readonly router: CallRouter;
  readonly genesis: GenesisDoc;
  /** Bound ports, keyed by server name ("rpc", "metrics", and the names from `NodeDeps.servers`). */
  readonly ports: ReadonlyMap<string, number>;
}

/** A node that runs one chain in this process. `run` may be called only once. */
export interface Node extends Service {
  /** Resolves once all servers are listening, before the first block. Rejects if the node fails to start. */
  readonly ready: Promise<RunningNode>;
}

const DEFAULT_BLOCK_TIME_MS = 1_000;
const DEFAULT_COMMIT_TIMEOUT_MS = 10_000;
/** Default number of blocks to retain on disk, about 1.4 GB at 14 kB per block. */
const DEFAULT_KEEP_BLOCKS_ON_DISK = 100_000;
/** Default number of blocks to retain in memory, about 140 MB at 14 kB per block. */
const DEFAULT_KEEP_BLOCKS_IN_MEMORY = 10_000;

/**
 * Creates a node that runs the application as a chain, signs blocks with real validator keys, and serves CometBFT RPC, metrics and
 * `deps.servers`. `run` rejects with `NodeError` or `ListenError` if the node cannot start, and with the block's error if a later
 * block fails.
 */
export function createNode(options: NodeOptions, deps: NodeDeps): Node {
  const ready = createDeferred<RunningNode>();
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const { home } = options;
      const keptByDefault = home === undefined ? DEFAULT_KEEP_BLOCKS_IN_MEMORY : DEFAULT_KEEP_BLOCKS_ON_DISK;
      const store = openBlockStore(home, options.keepBlocks ?? keptByDefault);
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
    const { proto } = profileNamed(genesis.profile);
    const context = { view: parts.view, chainName, proto, consensusPrefix, rpcAddress };
    const router = createCallRouter(context, deps.logger);
    const servers = createServers(options, deps, { ...parts, router, rpcAddress }, signal);
    try {
      // All servers must listen before the first block, so that subscribers can receive every block.
      for (const server of servers) ports.set(server.name, await server.listen());
      ready.resolve({
        view: parts.view,
        control: createNodeControl({ ...parts, store }),
        router,
        genesis,
        ports,
      });
      await parts.production.run(signal);
    } finally {
      // Close only the servers that are listening. If a server failed to listen, the servers after it were never started.
      await Promise.all(servers.filter((server) => ports.has(server.name)).map((server) => server.close()));
    }
  };
  return { name: options.moniker, run, ready: ready.promise };
}

/** Returns the chain's genesis document, which must match any stored document. */
async function chooseGenesis(store: BlockStore, deps: NodeDeps, signal: AbortSignal): Promise<GenesisDoc> {
  const stored = store.genesis();
  const genesis = await deps.genesis(stored === undefined ? undefined : decodeGenesis(stored), signal);
  signal.throwIfAborted();
  if (stored !== undefined && !equalBytes(stored, encodeGenesis(genesis))) {
    throw new NodeError(
      { code: "other-genesis", chainId: genesis.chainId },
      `the home directory contains a chain with a different genesis document than the one for ${genesis.chainId}; choose another --home or empty it`,
    );
  }
  return genesis;
}

type Parts = ReturnType<typeof assemble>;

/** Creates all parts of the node except the servers. */
function assemble(options: NodeOptions, deps: NodeDeps, store: BlockStore, genesis: GenesisDoc) {
  const app = deps.createApp(store.state, genesis);
  const state = loadChainState(store, app, genesis);
  deps.onLoad?.(state.lastTimeNs);
  const seeds = [...options.validatorSeeds, ...store.validatorSeeds()];
  const keys = createValidators(seeds, store.saveValidatorKey);
  const metrics = createNodeMetrics({
    chainId: genesis.chainId,
    startTimeMs: deps.clock.nowMs(),
    height: state.height,
  });
  const removedHeaders = createRemovedHeaders(app.checkTx);
  const mempool = countedMempool(createMempool(DEFAULT_MEMPOOL, removedHeaders.checkTx), metrics);
  const listeners = createBlockListeners(deps.logger);
  const { oracle } = options;
  const own = state.validators.validators[0]?.address;
  const isSilent = (): boolean =>
    oracle !== undefined && oracle.faults?.has("jail-near") === true && hasQuorumWithout(own, engine.state());
  const validators: Validators = {
    ...keys,
    signingKey: (address) =>
      own !== undefined && equalBytes(address, own) && isSilent() ? undefined : keys.signingKey(address),
    absent: () => [...keys.absent(), ...(own !== undefined && isSilent() ? [toHex(own)] : [])],
  };
  const commits =
    oracle === undefined || own === undefined ? undefined : createExtendedCommits({ app, own, ...oracle });
  const engine = createEngine(state, {
    app,
    votes: commits?.next,
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
  const beforeBlock = createOracleVote(options, deps, metrics, {
    own,
    commits,
    set: () => engine.state().validators.validators.map(({ address }) => address),
    isAbsent: (address) => validators.absent().includes(toHex(address)),
  });
  const production = createProduction(options.blockTimeMs ?? DEFAULT_BLOCK_TIME_MS, {
    engine,
    clock: deps.clock,
    logger: deps.logger,
    beforeBlock,
    // Resolves after all pending I/O events, so that a single pause handles all requests that have arrived.
    pause: () => setImmediate(),
    onBlock,
  });
  if (options.startHalted === true) production.halt();
  const { queryTimeMs = DEFAULT_QUERY_TIME_MS } = options;
  const queries: NodeQueries = deps.queries?.({ app, store, queryTimeMs }) ?? new Map();
  const sets = createSetCache();
  const goBack = (): void => {
    app.reload();
    sets.clear();
    engine.goBack(loadChainState(store, app, genesis));
  };
  const view = createView({
    app,
    sets,
    store,
    engine,
    mempool,
    listeners,
    genesis,
    moniker: options.moniker,
    queryTimeMs,
    queries,
  });
  return {
    genesis,
    engine,
    mempool,
    removedHeaders,
    validators,
    production,
    metrics,
    view,
    /** Continues from an earlier height. The caller must already have truncated the store to this height. */
    goBack,
  };
}

/** Returns true if the chain can continue without this validator, i.e. if the other validators have more than two thirds of the power. */
function hasQuorumWithout(address: Uint8Array | undefined, { validators }: ChainState): boolean {
  const all = validators.validators;
  const total = all.reduce((sum, { power }) => sum + power, 0n);
  const own = all.find((one) => address !== undefined && equalBytes(one.address, address))?.power ?? 0n;
  return own * 3n < total;
}

/** Wraps a mempool to record the size of each accepted transaction. */
function countedMempool(mempool: Mempool, metrics: NodeMetrics): Mempool {
  const add: Mempool["add"] = (tx) => {
    const outcome = mempool.add(tx);
    if (outcome.check.code === 0) metrics.observeMempoolTx(tx.length);
    return outcome;
  };
  return { ...mempool, add };
}

/** Validators whose votes are counted in the metrics. */
interface Voters {
  /** Address of the first validator, or undefined if the chain has no validators. */
  readonly own: Uint8Array | undefined;
  readonly commits: ExtendedCommits | undefined;
  readonly set: () => readonly Uint8Array[];
  readonly isAbsent: (address: Uint8Array) => boolean;
}

/**
 * Returns the step that runs before each block. The step requests prices from the sidecar and records the result in the metrics. If
 * no oracle is configured, the returned function does nothing. Only the first validator uses the sidecar, because a real node has
 * only one validator.
 */
function createOracleVote(
  options: NodeOptions,
  deps: NodeDeps,
  metrics: NodeMetrics,
  { own, commits, set, isAbsent }: Voters,
): (signal: AbortSignal) => Promise<void> {
  const { oracle } = options;
  if (oracle === undefined || own === undefined) return () => Promise.resolve();
  const client = createOracleClient(oracle, deps);
  const format = (address: Uint8Array): string => encodeBech32(options.consensusPrefix, address);
  const counts = createOracleMetrics(metrics.registry, {
    chainId: metrics.chainId,
    validator: format(own),
    others: () =>
      new Map(
        set()
          .filter((address) => !equalBytes(address, own))
          .map((address) => [format(address), isAbsent(address)]),
      ),
  });
  return async (signal) => {
    if (oracle.faults?.has("pre-block-error")) return counts.observePreBlockError();
    const vote = await client.vote(signal);
    commits?.extend(vote.prices);
    counts.observe(vote, !isAbsent(own) && oracle.faults?.has("vote-extensions-missing") !== true);
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
      : [createMetricsServer(options.metrics, { ...deps, registry: metrics.registry })];
  return [rpc, ...metricsServer, ...(deps.servers ?? []).map((create) => create(router))];
}
