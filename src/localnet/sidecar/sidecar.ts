import { unreachable } from "../../platform/base/errors.ts";
import type { FaultState } from "../../platform/base/fault-switches.ts";
import type { Service } from "../../platform/base/service.ts";
import type { ListenAddress } from "../../platform/config/config-fields.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import type { FaultName } from "./faults.ts";
import type { Listeners } from "./listeners.ts";
import { DEFAULT_MARKETS } from "./markets.ts";
import type { ProcessOptions } from "./process-state.ts";
import { pageFamilies } from "./sidecar-families.ts";
import { createSidecarListeners } from "./sidecar-listeners.ts";
import type { SidecarDeps, SidecarOptions } from "./sidecar-options.ts";
import { createSidecarProcess, type SidecarProcess } from "./sidecar-process.ts";

/** The bound addresses. */
interface SidecarAddresses {
  readonly prices: ListenAddress;
  readonly oracleMetrics: ListenAddress;
  readonly sidecarMetrics: ListenAddress;
}

/** A simulated sidecar, with control of its faults. */
export interface Sidecar extends Service {
  /** Resolves when all listeners are open; rejects when one cannot listen. */
  readonly ready: Promise<SidecarAddresses>;
  /** All faults, on or off. */
  readonly faults: () => readonly FaultState[];
  /** Switches a fault, with `forMs` for that time only. Resolves when the switch has taken effect. */
  readonly setFault: (name: FaultName, on: boolean, forMs?: number) => Promise<void>;
}

interface SidecarState {
  running: boolean;
  /** The last change of the listeners, including one that is under way. Never rejects. */
  lastChange: Promise<unknown>;
}

/** Creates the sidecar. It listens and ticks while it runs, except while a fault has ended its simulated process. */
export function createSidecar(options: SidecarOptions, deps: SidecarDeps): Sidecar {
  const processOptions = toProcessOptions(options);
  const process = createSidecarProcess({ ...processOptions, drainMs: options.drainMs ?? DRAIN_MS }, deps);
  const state: SidecarState = { running: false, lastChange: Promise.resolve() };
  const listeners = createProcessListeners(options, deps, process, processOptions);
  const ready = createDeferred<SidecarAddresses>();
  /** Opens or closes the listeners, according to the process and to whether the sidecar runs. */
  const updateListeners = (): Promise<void> =>
    inOrder(state, async () => {
      if (state.running && process.isUp()) await listeners.open();
      else await listeners.close();
    });
  const tick = async (): Promise<void> => {
    process.tick();
    // While the sidecar was down, another process can have taken a port. Each tick tries again to open the listeners.
    await updateListeners().catch((error: unknown) =>
      deps.logger.warn("sidecar cannot listen, retrying", { error }),
    );
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    state.running = true;
    try {
      ready.resolve(namedAddresses(await inOrder(state, listeners.open)));
      await tickUntil(signal, options, deps, tick);
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      state.running = false;
      await updateListeners();
    }
  };
  return {
    name: "sidecar",
    run,
    ready: ready.promise,
    faults: process.listFaults,
    setFault: async (name, on, forMs) => {
      process.setFault(name, on, forMs);
      await updateListeners();
    },
  };
}

/** A real sidecar was measured to fail for eight blocks of one second between its stop and its end. */
const DRAIN_MS = 7_750;

/** Runs `change` after the change that is under way. */
function inOrder<T>(state: SidecarState, change: () => Promise<T>): Promise<T> {
  // Fault switches, ticks and the end of `run` change the listeners at any time, and two changes must not overlap. An
  // error goes to the caller of its change only; the next change runs nevertheless.
  const result = state.lastChange.then(change);
  state.lastChange = result.catch(() => {});
  return result;
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

/** Creates listeners that serve the current process; a restart replaces its state, so it is read for each request. */
function createProcessListeners(
  options: SidecarOptions,
  deps: SidecarDeps,
  process: SidecarProcess,
  { markets, version, metricNames }: ProcessOptions,
): Listeners {
  const prices = {
    snapshot: () => process.state().loop.snapshot(),
    oracle: () => process.state().oracle,
    faults: process.faults,
    isDraining: process.isDraining,
    markets,
    clock: deps.clock,
    chainId: options.chainId,
    version,
    slowMs: options.slowMs ?? 3000,
  };
  return createSidecarListeners(options, deps, prices, {
    oracleFamilies: () => Object.values(process.state().oracle),
    sidecarFamilies: () => pageFamilies(process.state().sidecar, metricNames),
  });
}

function namedAddresses([prices, oracleMetrics, sidecarMetrics]: readonly ListenAddress[]): SidecarAddresses {
  if (prices === undefined || oracleMetrics === undefined || sidecarMetrics === undefined)
    return unreachable("a sidecar has three listeners");
  return { prices, oracleMetrics, sidecarMetrics };
}
