import { unreachable } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import { createDeferred } from "../ops/deferred.ts";
import type { FaultControl } from "./fault-routes.ts";
import { type FaultName, listFaults } from "./faults.ts";
import type { Listeners } from "./listeners.ts";
import { DEFAULT_MARKETS } from "./markets.ts";
import { createProcessState, type ProcessOptions, type ProcessState } from "./process-state.ts";
import { pageFamilies } from "./sidecar-families.ts";
import { createSidecarListeners } from "./sidecar-listeners.ts";
import type { SidecarDeps, SidecarOptions } from "./sidecar-options.ts";

/** The bound addresses. */
interface SidecarAddresses {
  readonly prices: ListenAddress;
  readonly oracleMetrics: ListenAddress;
  readonly sidecarMetrics: ListenAddress;
}

/** A simulated sidecar, with control of its faults. */
export interface Sidecar extends Service, FaultControl {
  /** Resolves when all listeners are open; rejects when one cannot listen. */
  readonly ready: Promise<SidecarAddresses>;
}

interface SidecarState {
  readonly on: Set<FaultName>;
  process: ProcessState;
  running: boolean;
  /** The last change of the listeners, including one that is under way. Never rejects. */
  lastChange: Promise<unknown>;
}

/**
 * Creates the sidecar. It listens and ticks while it runs. The fault `sidecar-down` simulates the end of its process;
 * switching the fault off simulates a new process.
 */
export function createSidecar(options: SidecarOptions, deps: SidecarDeps): Sidecar {
  const processOptions = toProcessOptions(options);
  const state: SidecarState = {
    on: new Set(),
    process: createProcessState(processOptions),
    running: false,
    lastChange: Promise.resolve(),
  };
  const listeners = createStateListeners(options, deps, state, processOptions);
  const ready = createDeferred<SidecarAddresses>();
  const run = async (signal: AbortSignal): Promise<void> => {
    state.running = true;
    try {
      ready.resolve(namedAddresses(await inOrder(state, listeners.open)));
      await tickUntil(signal, options, deps, async () => tickOnce(state, listeners, deps));
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      state.running = false;
      await updateListeners(state, listeners);
    }
  };
  return {
    name: "sidecar",
    run,
    ready: ready.promise,
    faults: () => listFaults(state.on),
    setFault: async (name, on) => {
      if (state.on.has(name) === on) return;
      if (on) state.on.add(name);
      else state.on.delete(name);
      if (name === "sidecar-down" && !on) state.process = createProcessState(processOptions);
      deps.logger.info("sidecar fault switched", { name, on });
      await updateListeners(state, listeners);
    },
  };
}

/** Opens or closes the listeners, according to the faults and to whether the sidecar runs. */
function updateListeners(state: SidecarState, listeners: Listeners): Promise<void> {
  return inOrder(state, async () => {
    if (state.running && !state.on.has("sidecar-down")) await listeners.open();
    else await listeners.close();
  });
}

/** Runs `change` after the change that is under way. */
function inOrder<T>(state: SidecarState, change: () => Promise<T>): Promise<T> {
  // Fault switches, ticks and the end of `run` change the listeners at any time, and two changes must not overlap. An
  // error goes to the caller of its change only; the next change runs nevertheless.
  const result = state.lastChange.then(change);
  state.lastChange = result.catch(() => {});
  return result;
}

/** Runs one tick, unless the sidecar is down. */
async function tickOnce(
  state: SidecarState,
  listeners: Listeners,
  { clock, logger }: SidecarDeps,
): Promise<void> {
  if (state.on.has("sidecar-down")) return;
  state.process.tick(clock.nowMs(), state.on);
  // While the sidecar was down, another process can have taken a port. Each tick tries again to open the listeners.
  await updateListeners(state, listeners).catch((error: unknown) =>
    logger.warn("sidecar cannot listen, retrying", { error }),
  );
}

/** Calls `tick` until the signal fires, with the update interval between two calls. */
async function tickUntil(
  signal: AbortSignal,
  options: SidecarOptions,
  { clock }: SidecarDeps,
  tick: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await tick();
    await clock.sleep(options.updateIntervalMs ?? 250, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

function toProcessOptions(options: SidecarOptions): ProcessOptions {
  return {
    chainId: options.chainId,
    seed: options.seed,
    markets: options.markets ?? DEFAULT_MARKETS,
    maxPriceAgeMs: options.maxPriceAgeMs ?? 120_000,
    missingPairs: options.missingPairs ?? ["TIA/USD"],
    metricNames: options.metricNames ?? "connect",
    version: options.version ?? "",
  };
}

/** Creates listeners that serve the current process state; a restart replaces it, so it is read for each request. */
function createStateListeners(
  options: SidecarOptions,
  deps: SidecarDeps,
  state: SidecarState,
  { markets, version, metricNames }: ProcessOptions,
): Listeners {
  const prices = {
    snapshot: () => state.process.loop.snapshot(),
    oracle: () => state.process.oracle,
    faults: state.on,
    markets,
    clock: deps.clock,
    chainId: options.chainId,
    version,
    slowMs: options.slowMs ?? 3000,
  };
  return createSidecarListeners(options, deps, prices, {
    oracleFamilies: () => Object.values(state.process.oracle),
    sidecarFamilies: () => pageFamilies(state.process.sidecar, metricNames),
  });
}

function namedAddresses([prices, oracleMetrics, sidecarMetrics]: readonly ListenAddress[]): SidecarAddresses {
  if (prices === undefined || oracleMetrics === undefined || sidecarMetrics === undefined)
    return unreachable("a sidecar has three listeners");
  return { prices, oracleMetrics, sidecarMetrics };
}
