import { DEC18_ONE, type Dec18 } from "../../../src/platform/base/decimal.ts";
import { Registry as MetricsRegistry } from "prom-client";
import { supervise } from "../../../src/platform/base/service.ts";
import { createRelayerMetrics } from "../../../src/relayer/result/relayer-metrics.ts";
import type { RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import { registerStatusGauges } from "../../../src/relayer/api/status-gauges.ts";
import { createHealth } from "../../../src/relayer/health/create-health.ts";
import { unreachable } from "../../../src/platform/base/errors.ts";
import { createClientRefresh } from "../../../src/relayer/connection/client-refresh.ts";
import { createEngine } from "../../../src/relayer/engine.ts";
import { watchedClient, createWatches } from "../../../src/relayer/watch/watches.ts";
import { createUrgency, type UrgencyRule } from "../../../src/relayer/gas-budget/urgency.ts";
import { createMarket } from "../../../src/relayer/gas-budget/create-market.ts";
import { createRegistry, type Registry, createHeightSignal } from "../../../src/relayer/registry/registry.ts";
import type { EndedAttempt } from "../../../src/relayer/state/attempt.ts";
import { createLocalHistoryCheck } from "../../../src/relayer/state/history.ts";
import { createJournal, type Journal } from "../../../src/relayer/state/journal.ts";
import type { Resubmissions } from "../../../src/relayer/state/resubmissions.ts";
import type { SubmitGate } from "../../../src/relayer/result/submit-gate.ts";
import { openGate } from "../../support/open-gate.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createRandom, type Random } from "../random.ts";
import { createSimLocal, type SimLocal } from "./sim-local.ts";
import { collectingLogger, type LogLine } from "../../support/collecting-logger.ts";
import { SIM_GAS_PRICE, type SimMarket } from "./sim-node.ts";
import { poolOf } from "./sim-pool.ts";
import { bankKey, createSimRemote, type SimRemote } from "./sim-remote.ts";

/** Remote chains, a local chain, and a relayer between them, in simulated time. */
const EXPIRES_SOON = { trusting_period_share: DEC18_ONE / 5n, within: 86_400_000 };
const NO_SPENDING = {
  day: 0,
  fee: 0n,
  gasByOwner: new Map(),
  feeByRule: new Map(),
  // Fees of ten minutes. The balance lasts for as many times ten minutes as it has fees.
  lastDay: { fee: 4n, ms: 600_000 },
};
const NO_LIMITS = { dailyFee: undefined, dailyGasPerOwner: undefined };

export interface SimWorld {
  readonly random: Random;
  readonly clock: ManualClock;
  readonly local: SimLocal;
  readonly remotes: readonly SimRemote[];
  readonly engine: ReturnType<typeof createEngine>;
  readonly registry: Registry;
  readonly journal: Journal;
  /** Everything that the submitter noted. */
  readonly attempts: readonly EndedAttempt[];
  readonly status: () => RelayerStatus;
  readonly metrics: MetricsRegistry;
  readonly log: readonly LogLine[];
  /** Hashes of transactions below the first consensus states of the clients. */
  readonly unprovable: ReadonlySet<string>;
  /** Moves the time. Each chain makes one block in each second, unless `localBlockMs` says otherwise. `each` is called before each second. */
  readonly run: (seconds: number, each?: (second: number) => void) => Promise<void>;
  /** Sets why nothing may be sent, as the gate of a process says it. */
  readonly setGate: (gate: Partial<SimGate>) => void;
  /** Sets whether users send transactions on the remote chains. */
  readonly setTraffic: (isOn: boolean) => void;
  /** Stops the relayer. Returns the errors of its services. */
  readonly stop: () => Promise<readonly unknown[]>;
}

interface SimGate {
  readonly leaseError: string | undefined;
  readonly storeError: string | undefined;
  readonly refusal: string | undefined;
}

export interface SimOptions {
  readonly gate: SubmitGate;
  /** Most results of a transaction. Few by default, so that several transactions are in flight. */
  readonly resultsPerTx: number;
  /** Gas of a client update. */
  readonly updateGas: bigint;
  /** Gas that the transactions of a block may use. */
  readonly blockGas: bigint;
  /** A fee market with these parameters and others' traffic. */
  readonly market: SimMarket;
  /** `gas.price.comfortable` */
  readonly ceiling: Dec18;
  /** Rules of urgent queries. */
  readonly urgency: readonly UrgencyRule[];
  /** Whether the connections have the queries of {@link startWorld}. */
  readonly hasQueries: boolean;
  /** As in the configuration: `queries.skip_unchanged`. */
  readonly skipUnchanged: bigint;
  /** As in the configuration: `queries.tx_give_up_after`, ms. */
  readonly giveUpAfterMs: number;
  /** Blocks between two changes of a remote value. */
  readonly changeEvery: bigint;
  /** Duration of a call, ms; for the remote chains one for all, or one for each. */
  /** Dead letters that an operator has sent again. */
  readonly resubmissions: Pick<Resubmissions, "take">;
  readonly callMs: { readonly local: number; readonly remote: number | readonly number[] };
  /** Time from a local block with this much gas to the next one, ms; by default a second, more or less. */
  readonly localBlockMs: (usedGas: bigint) => number;
}

/**
 * Starts a world with `connections` remote chains. Each connection has KV queries with several periods, and TX queries,
 * one of which finds the transfers to "bob".
 */
export async function startWorld(
  seed: number,
  connections = 2,
  options: Partial<SimOptions> = {},
): Promise<SimWorld> {
  const random = createRandom(seed);
  const clock = createManualClock(1_700_000_000_000);
  const remotes = Array.from({ length: connections }, (_, index) =>
    createSimRemote(`remote-${index + 1}`, clock, {
      callMs: remoteCallMs(options, index) ?? 15,
      changeEvery: options.changeEvery ?? 1n,
    }),
  );
  // These transactions are below the first consensus states, so no header can prove them.
  for (const remote of remotes) {
    for (const txs of [1, 1, 1, 0, 0]) remote.tick(txs === 0 ? [] : [["bob", 0]]);
  }
  const unprovable = new Set(remotes.flatMap((remote) => remote.succeeded("bob")));
  const local = createSimLocal(remotes, clock, random, {
    ...(options.callMs === undefined ? {} : { callMs: options.callMs.local }),
    ...(options.updateGas === undefined ? {} : { updateGas: options.updateGas }),
    ...(options.blockGas === undefined ? {} : { blockGas: options.blockGas }),
    ...(options.market === undefined ? {} : { market: options.market }),
  });
  if (options.hasQueries !== false)
    for (const index of remotes.keys()) registerQueries(local, `connection-${index}`);
  const log: LogLine[] = [];
  const relayer = startRelayer({
    local,
    remotes,
    clock,
    random,
    log,
    gate: openGate,
    resultsPerTx: 6,
    skipUnchanged: 0n,
    ...options,
  });
  let hasTraffic = true;
  const traffic = (): readonly (readonly [string, number])[] => {
    if (!hasTraffic || !random.chance(0.4)) return [];
    return Array.from({ length: 1 + random.int(3) }, () => [
      random.chance(0.5) ? "bob" : "alice",
      random.chance(0.2) ? 5 : 0,
    ]);
  };
  let second = 0;
  const startMs = clock.nowMs();
  let nextLocalMs = startMs + 700;
  /** Makes the local blocks until then, when the time between them depends on their gas. */
  const ticksUntil = async (
    endMs: number,
    blockMs: NonNullable<typeof options.localBlockMs>,
  ): Promise<void> => {
    while (nextLocalMs <= endMs) {
      await clock.runUntil(nextLocalMs);
      const before = local.node.gasUsed();
      local.tick();
      nextLocalMs += blockMs(local.node.gasUsed() - before);
    }
    await clock.runUntil(endMs);
  };
  const run: SimWorld["run"] = async (seconds, each) => {
    for (const end = second + seconds; second < end; second++) {
      each?.(second);
      const atMs = startMs + second * 1_000;
      const { localBlockMs } = options;
      await (localBlockMs === undefined ? clock.runUntil(atMs + 300) : ticksUntil(atMs + 300, localBlockMs));
      for (const remote of remotes) remote.tick(traffic());
      if (localBlockMs !== undefined) {
        await ticksUntil(atMs + 1_000, localBlockMs);
        continue;
      }
      await clock.runUntil(atMs + 700 + random.int(300));
      local.tick();
    }
    await clock.runUntil(startMs + second * 1_000);
  };
  return {
    random,
    clock,
    local,
    remotes,
    unprovable,
    log,
    run,
    setTraffic: (isOn) => {
      hasTraffic = isOn;
    },
    ...relayer,
  };
}

function remoteCallMs({ callMs }: Partial<SimOptions>, index: number): number | undefined {
  return typeof callMs?.remote === "object" ? callMs.remote[index] : callMs?.remote;
}

function registerQueries(local: SimLocal, connectionId: string): void {
  for (const updatePeriod of [1n, 2n, 5n, 9n]) {
    for (let index = 0; index < 4; index++) {
      const keys = [index, index + 3].map((key) => ({ path: "bank", key: bankKey(key) }));
      local.register({ type: "kv", connectionId, updatePeriod, keys });
    }
  }
  local.register({
    type: "kv",
    connectionId,
    updatePeriod: 1n,
    keys: [{ path: "nosuch", key: bankKey(0) }],
  });
  // The node refuses the search of the first one, and the filter of the second one is invalid.
  for (const field of ["unknown.tag", "", "transfer.recipient"]) {
    const transactionsFilter = JSON.stringify([{ field, op: "Eq", value: "bob" }]);
    local.register({ type: "tx", connectionId, updatePeriod: 2n, transactionsFilter });
  }
}

interface RelayerParts extends Pick<SimOptions, "gate" | "resultsPerTx" | "skipUnchanged"> {
  readonly resubmissions?: SimOptions["resubmissions"];
  readonly ceiling?: Dec18;
  readonly urgency?: readonly UrgencyRule[];
  readonly giveUpAfterMs?: number;
  readonly local: SimLocal;
  readonly remotes: readonly SimRemote[];
  readonly clock: ManualClock;
  readonly random: Random;
  readonly log: LogLine[];
}

type RelayerOfWorld = Pick<
  SimWorld,
  "setGate" | "attempts" | "engine" | "registry" | "journal" | "status" | "metrics" | "stop"
>;

function startRelayer(parts: RelayerParts): RelayerOfWorld {
  const { local, remotes, clock, random } = parts;
  const connectionIds = remotes.map((_remote, index) => `connection-${index}`);
  const metricsRegistry = new MetricsRegistry();
  const metrics = createRelayerMetrics(metricsRegistry, connectionIds);
  const journal = createJournal("local-1", { session: { run: async () => [] }, queue: { push: () => {} } });
  const height = createHeightSignal(clock, (latestHeight, latestTimeNs) =>
    watches.local.record({ latestHeight, latestTimeNs }),
  );
  const watches = createWatches(
    remotes.map(({ chainId }, index) => ({ id: `connection-${index}`, chainId })),
    { address: local.window.address, denom: "untrn" },
    { queries: local.queries, clock, localHeight: height.now },
  );
  const filter = { connectionIds, owners: [], queryIds: [], types: ["kv", "tx"] as const };
  const registry = createRegistry(filter, {
    local: local.queries,
    localHeight: height.now,
    onRemoved: journal.forget,
  });
  const noted: EndedAttempt[] = [];
  const localTimeMs = (): number => watches.local.view().chainMs;
  const common = { clock, localTimeMs, random: random.next, logger: collectingLogger(parts.log), metrics };
  const clients = createClientRefresh({
    ...common,
    connections: remotes.map(({ client: remote }, index) => ({
      connectionId: `connection-${index}`,
      remote,
      watch: watches.connections[index]?.client ?? unreachable("no watch"),
    })),
    local: local.queries,
    window: local.window,
    gate: openGate,
    funds: watches.account,
    height,
    leads: () => true,
    maxTxBytes: 400_000,
  });
  const { cap, denom } = SIM_GAS_PRICE;
  const market = createMarket({ ceiling: parts.ceiling, cap, denom }, clock);
  const engine = createEngine({
    ...common,
    chainName: "neutron",
    local: watchedClient(local, watches.local),
    checkHistory: createLocalHistoryCheck({
      journal,
      registry,
      blockHash: async () => undefined,
      logger: common.logger,
    }),
    subscription: local.subscription,
    registry,
    height,
    tx: {
      journal,
      ...(parts.resubmissions === undefined ? {} : { resubmissions: parts.resubmissions }),
      queries: {
        tx_lookback_blocks: 100n,
        tx_skip_pruned: true,
        tx_give_up_after: parts.giveUpAfterMs ?? 86_400_000,
        tx_dead_letter_errors: undefined,
      },
    },
    reloadMs: () => 60_000,
    gate: parts.gate,
    funds: watches.account,
    upkeep: clients,
    window: local.window,
    submission: {
      submitTypeUrl: "/x.MsgSubmitQueryResult",
      gasAdjustmentPermille: 1_300n,
      limits: { gas: 15_000_000n, bytes: 400_000, results: parts.resultsPerTx },
      blockSharePermille: 900n,
      gasPrice: SIM_GAS_PRICE,
    },
    readMarketState: local.queries.marketState,
    market,
    urgency: createUrgency(parts.urgency ?? [], cap),
    readBlockLimits: local.queries.blockLimits,
    attempts: { note: (attempts) => void noted.push(...attempts) },
    leads: () => true,
    workers: remotes.map((remote, index) => ({
      ...common,
      connectionId: `connection-${index}`,
      remote: watchedClient(remote.client, watches.connections[index]?.remote ?? watches.local),
      local: local.queries,
      clients,
      registry,
      settings: {
        queries: {
          allow_kv_callbacks: false,
          min_kv_update_period: 0n,
          skip_unchanged: Number(parts.skipUnchanged),
        },
        batch: { bytes: 400_000 },
        retry: { first: 1_000, most: 4_000 },
      },
    })),
  });
  const stop = new AbortController();
  let state: SimGate = { leaseError: undefined, storeError: undefined, refusal: undefined };
  const health = createHealth(
    {
      health: { client_expires_soon: EXPIRES_SOON },
      queries: { min_kv_update_period: 0n },
    },
    {
      engine,
      registry,
      journal,
      watches,
      costOf: () => undefined,
      market: () => undefined,
      transactionFee: () => 0n,
      isConnected: local.subscription.isConnected,
      gate: () => ({
        leadership: { role: state.leaseError === undefined ? "leader" : "unknown", error: state.leaseError },
        store: { error: state.storeError },
        refusal: state.refusal,
        spending: { ...NO_SPENDING, limits: NO_LIMITS },
        reserve: { reserve: 0n },
      }),
      chains: {
        local: poolOf("local-1", local.status),
        remotes: remotes.map(({ chainId, client }, index) => ({
          ...poolOf(chainId, client.status),
          connectionId: `connection-${index}`,
        })),
      },
      metrics,
      context: {
        ...common,
        signal: stop.signal,
        build: { name: "sim", version: "0", commit: undefined, nodeVersion: "0" },
        nameSettings: (text) => text.replace("chain.rpc", "SIM_CHAIN_RPC"),
      },
    },
  );
  registerStatusGauges(metricsRegistry, health.status);
  const done = supervise([...health.services, ...engine.services], stop.signal, common.logger);
  return {
    engine,
    registry,
    journal,
    attempts: noted,
    metrics: metricsRegistry,
    status: health.status,
    setGate: (gate) => {
      state = { ...state, ...gate };
    },
    stop: async () => {
      stop.abort(new Error("the simulation is over"));
      await clock.runUntil(clock.nowMs());
      const failures = await done;
      for (const remote of remotes) remote.client.close();
      await clock.runUntil(clock.nowMs());
      return failures.map(({ error }) => error);
    },
  };
}
