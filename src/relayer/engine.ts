import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { isAbort, type Service } from "../base/service.ts";
import { backoffMs } from "../base/backoff.ts";
import type { ChainClient } from "../client/chain-client.ts";
import type { ChainNotice, ChainSubscription } from "../client/subscription.ts";
import type { RelayerMetrics } from "./metrics.ts";
import { queryChanges } from "./query-events.ts";
import { isDue, type QueryState } from "./query-state.ts";
import type { Registry } from "./registry.ts";
import { type Lane, runRound } from "./round.ts";
import { runTxRound, type TxDeps } from "./tx-round.ts";

/** What the engine's parts share: the local chain as it was last seen. */
export interface EngineDeps {
  readonly chainName: string;
  readonly local: ChainClient;
  readonly subscription: ChainSubscription;
  readonly registry: Registry;
  readonly lanes: readonly Omit<Lane, "localHeight">[];
  readonly tx: TxDeps;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
}

/** When no block was announced for this long, the height is asked for: the WebSocket may be away. */
const SILENCE_MS = 3_000;
/** The whole list is read again at most this often, as the truth behind events. */
const RELOAD_MS = 60_000;
const FAULT_BACKOFF = { minMs: 250, baseMs: 500, maxMs: 15_000 };

/** How the engine stands, for the API and tests. */
export interface Engine {
  readonly services: readonly Service[];
  readonly localHeight: () => bigint;
  /** Whether the list of queries was read at least once. */
  readonly isLoaded: () => boolean;
  /** The last fault of each connection's rounds, undefined after a good round. */
  readonly laneFaults: () => ReadonlyMap<string, string | undefined>;
}

/** Builds the loops: one that follows the local chain, one for each connection. A slow remote chain delays only its own. */
export function createEngine(deps: EngineDeps): Engine {
  const height = createHeightSignal(deps);
  const faults = new Map<string, string | undefined>(
    deps.lanes.map((lane) => [lane.connectionId, undefined]),
  );
  const lanes: readonly Lane[] = deps.lanes.map((lane) => ({ ...lane, localHeight: height.now }));
  let loaded = false;
  return {
    services: [
      { name: "local chain subscription", run: (signal) => deps.subscription.run(signal) },
      { name: "query registry", run: (signal) => followChain(deps, height, () => (loaded = true), signal) },
      ...lanes.map((lane) => ({
        name: `lane ${lane.connectionId}`,
        run: (signal: AbortSignal) => runLane(deps, lane, { height, faults }, signal),
      })),
    ],
    localHeight: height.now,
    isLoaded: () => loaded,
    laneFaults: () => faults,
  };
}

/** The newest local height, and a way to wait for the next one. */
interface HeightSignal {
  readonly now: () => bigint;
  readonly set: (height: bigint) => void;
  /** Resolves when the height changed since `seen`, or after `maxMs`. */
  readonly changed: (seen: bigint, maxMs: number, signal: AbortSignal) => Promise<void>;
}

function createHeightSignal(deps: EngineDeps): HeightSignal {
  let height = 0n;
  const waiting = new Set<() => void>();
  return {
    now: () => height,
    // A chain that starts over comes back with lower heights: what the chain says now counts.
    set: (next) => {
      height = next;
      deps.metrics.localHeight.set(Number(next));
      for (const wake of waiting) wake();
    },
    changed: async (seen, maxMs, signal) => {
      if (height !== seen) return;
      const stop = new AbortController();
      const wake = (): void => stop.abort(WOKEN);
      waiting.add(wake);
      const onAbort = (): void => stop.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        await deps.clock.sleep(maxMs, stop.signal);
      } catch (reason) {
        if (reason !== WOKEN) throw reason;
      } finally {
        waiting.delete(wake);
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

const WOKEN = new Error("a new height is known");

/** Keeps the registry as the chain has it: reads the list whenever something may have been missed, events in between. */
async function followChain(
  deps: EngineDeps,
  height: HeightSignal,
  onLoaded: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { registry, subscription, clock, logger, metrics } = deps;
  let stale = true;
  let failures = 0;
  let reloadedMs = 0;
  for (;;) {
    try {
      if (stale || clock.monotonicMs() - reloadedMs > RELOAD_MS) {
        height.set((await deps.local.status(signal)).latestHeight);
        await registry.reload(signal);
        [stale, failures, reloadedMs] = [false, 0, clock.monotonicMs()];
        onLoaded();
      }
      const notice = await nextNotice(subscription, signal);
      metrics.connected.set(subscription.isConnected() ? 1 : 0);
      if (notice === undefined) height.set((await deps.local.status(signal)).latestHeight);
      else if (await applyNotice(deps, height, notice, signal)) stale = true;
    } catch (fault) {
      if (isAbort(fault, signal) || signal.aborted) return;
      stale = true;
      logger.warn("local chain can't be read", { reason: errorText(fault), failures });
      await clock.sleep(backoffMs(failures++, FAULT_BACKOFF, deps.random), signal).catch(() => undefined);
    }
  }
}

/** The next notice, or undefined when there is none for {@link SILENCE_MS}. */
async function nextNotice(
  subscription: ChainSubscription,
  signal: AbortSignal,
): Promise<ChainNotice | undefined> {
  const silence = AbortSignal.timeout(SILENCE_MS);
  try {
    return await subscription.next(AbortSignal.any([signal, silence]));
  } catch (fault) {
    if (silence.aborted && !signal.aborted) return undefined;
    throw fault;
  }
}

/** Applies one notice; true when the list must be read again. */
async function applyNotice(
  deps: EngineDeps,
  height: HeightSignal,
  notice: ChainNotice,
  signal: AbortSignal,
): Promise<boolean> {
  switch (notice.kind) {
    case "connected":
      return true;
    case "missed":
      deps.logger.info("chain events were missed", { reason: notice.reason });
      return true;
    case "block":
      height.set(notice.height);
      return false;
    case "tx":
    case "block-events":
      for (const change of queryChanges(notice.events, deps.chainName)) {
        deps.logger.info("query changed", { ...change });
        await deps.registry.apply(change, signal);
      }
      return false;
  }
}

interface LaneView {
  readonly height: HeightSignal;
  readonly faults: Map<string, string | undefined>;
}

/** Runs a round whenever something of this connection is due; a fault of the connection waits with a growing pause. */
async function runLane(deps: EngineDeps, lane: Lane, view: LaneView, signal: AbortSignal): Promise<void> {
  let failures = 0;
  for (;;) {
    if (signal.aborted) return;
    const seen = view.height.now();
    const due = dueQueries(lane, seen);
    noteStates(lane);
    try {
      if (due.length > 0 && seen > 0n) {
        await runDue(deps, lane, due, signal);
        lane.metrics.rounds.inc({ connection_id: lane.connectionId, outcome: "done" });
      }
      failures = 0;
      view.faults.set(lane.connectionId, undefined);
      await view.height.changed(seen, SILENCE_MS, signal);
    } catch (fault) {
      if (signal.aborted) return;
      view.faults.set(lane.connectionId, errorText(fault));
      lane.metrics.rounds.inc({ connection_id: lane.connectionId, outcome: "failed" });
      lane.logger.warn("round failed", {
        connectionId: lane.connectionId,
        reason: errorText(fault),
        due: due.length,
        failures,
      });
      await deps.clock
        .sleep(backoffMs(failures++, FAULT_BACKOFF, deps.random), signal)
        .catch(() => undefined);
    }
  }
}

async function runDue(
  deps: EngineDeps,
  lane: Lane,
  due: readonly QueryState[],
  signal: AbortSignal,
): Promise<void> {
  const kv = due.filter(({ query }) => query.type === "kv");
  const tx = due.filter(({ query }) => query.type === "tx");
  if (kv.length > 0) await runRound(lane, kv, signal);
  if (tx.length > 0) await runTxRound(lane, deps.tx, tx, signal);
}

function dueQueries(lane: Lane, localHeight: bigint): readonly QueryState[] {
  const nowMs = lane.clock.nowMs();
  return laneStates(lane).filter((state) => isDue(state, localHeight, nowMs));
}

function laneStates(lane: Lane): readonly QueryState[] {
  return lane.registry.states().filter(({ query }) => query.connectionId === lane.connectionId);
}

function noteStates(lane: Lane): void {
  const states = laneStates(lane);
  const { connectionId: connection_id, metrics } = lane;
  const held = states.filter((state) => state.fault !== undefined).length;
  const waiting = states.filter(
    (state) => state.fault === undefined && state.query.lastLocalHeight === 0n,
  ).length;
  metrics.queries.set({ connection_id, state: "held" }, held);
  metrics.queries.set({ connection_id, state: "waiting" }, waiting);
  metrics.queries.set({ connection_id, state: "answered" }, states.length - held - waiting);
}
