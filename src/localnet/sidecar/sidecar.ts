import type { Clock } from "../../platform/base/clock.ts";
import { createFaultSwitches, type FaultState } from "../../platform/base/fault-switches.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { createDeferred } from "../../platform/process/deferred.ts";
import { type FaultName, type FaultSet, SIDECAR_FAULTS } from "./faults.ts";
import { DEFAULT_MARKETS, type Market } from "./markets.ts";
import { createPriceLoop } from "./price-loop.ts";
import {
  createOracleFamilies,
  createSidecarFamilies,
  type MetricNames,
  pageFamilies,
} from "./sidecar-families.ts";
import { createSidecarListeners, type SidecarAddresses } from "./sidecar-listeners.ts";

interface SidecarOptions {
  readonly listen: SidecarAddresses;
  /** Value of the `chain_id` label on oracle metrics. */
  readonly chainId: string;
  /** Seed for the random prices. The same seed always produces the same prices. */
  readonly seed: number;
  /** Prefix of the metric names. Default: `connect`. */
  readonly metricNames?: MetricNames;
  /** Time between ticks of the price loop. Default: 250 ms. */
  readonly updateIntervalMs?: number;
  /** Response delay during the fault `slow`. Default: 3 s. */
  readonly slowMs?: number;
  /** Time from stopping the simulated process until it exits. Default: 7.75 s, which was measured on a deployed sidecar. */
  readonly drainMs?: number;
}

const SETTINGS = {
  markets: DEFAULT_MARKETS,
  maxPriceAgeMs: 120_000,
  missingPairs: ["TIA/USD"],
  // Leave the version empty, as in a deployed build without a tag.
  version: "",
};

interface SidecarDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Default drain time. After a deployed sidecar was stopped, price requests failed for eight one-second blocks before the sidecar
 * exited.
 */
const DRAIN_MS = 7_750;

/** A simulated oracle sidecar whose faults can be switched on and off. */
export interface Sidecar extends Service {
  /** Resolves with the listeners' addresses once all listeners are open. Rejects if any listener fails to open. */
  readonly ready: Promise<SidecarAddresses>;
  /** Returns all faults and whether each is on. */
  readonly faults: () => readonly FaultState[];
  /** Switches a fault off, or on for `forMs` (by default, until a later call). Resolves once the switch has taken effect. */
  readonly setFault: (name: FaultName, on: boolean, forMs?: number) => Promise<void>;
}

/** Creates a sidecar that listens and ticks while it runs, unless a fault has stopped its simulated process. */
export function createSidecar(options: SidecarOptions, deps: SidecarDeps): Sidecar {
  const { listen, chainId, seed, metricNames = "connect", updateIntervalMs = 250 } = options;
  const { slowMs = 3_000, drainMs = DRAIN_MS } = options;
  const { markets, version } = SETTINGS;
  const process = createSidecarProcess({ ...SETTINGS, chainId, seed, metricNames, drainMs }, deps);
  // Read the process's state for each request, because a restart replaces the state.
  const prices = {
    snapshot: () => process.state().loop.snapshot(),
    oracle: () => process.state().oracle,
    faults: process.faults,
    isDraining: process.isDraining,
    markets,
    clock: deps.clock,
    chainId,
    version,
    slowMs,
  };
  const listeners = createSidecarListeners(listen, deps, prices, {
    oracleFamilies: () => Object.values(process.state().oracle),
    sidecarFamilies: () => pageFamilies(process.state().sidecar, metricNames),
  });
  const ready = createDeferred<SidecarAddresses>();
  let isRunning = false;
  let lastChange: Promise<unknown> = Promise.resolve();
  /** Runs `change` after any change in progress has ended. */
  const inOrder = <T>(change: () => Promise<T>): Promise<T> => {
    // Fault switches, ticks and the end of `run` can change the listeners at any time, but these changes must not overlap. If a
    // change fails, only its caller receives the error, and the next change still runs.
    const result = lastChange.then(change);
    lastChange = result.catch(() => {});
    return result;
  };
  /** Opens or closes the listeners, depending on the process's stage and on whether the sidecar is running. */
  const updateListeners = (): Promise<void> =>
    inOrder(async () => {
      if (isRunning && process.isUp()) await listeners.open();
      else await listeners.close();
    });
  const tick = async (): Promise<void> => {
    process.tick();
    // Another process may have taken a port while the sidecar was down, so try to open the listeners on each tick.
    await updateListeners().catch((error: unknown) =>
      deps.logger.warn("sidecar cannot listen, retrying", { error }),
    );
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    isRunning = true;
    try {
      ready.resolve(await inOrder(listeners.open));
      while (!signal.aborted) {
        await tick();
        await deps.clock.sleep(updateIntervalMs, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      isRunning = false;
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

type Stage = { readonly kind: "up" | "down" } | { readonly kind: "draining"; readonly endsAtMs: number };

/** Faults that restart the process when switched on. */
const RESTARTING_FAULTS: readonly FaultName[] = ["startup", "market-map-empty"];

/** Creates a simulated sidecar process that is up. `drainMs` is the time from stopping the process until it exits. */
export function createSidecarProcess(
  options: ProcessOptions & { readonly drainMs: number },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
) {
  const switches = createFaultSwitches(SIDECAR_FAULTS, clock);
  let state = createProcessState(options);
  let stage: Stage = { kind: "up" };
  const follow = (): void => {
    for (let next = nextStage(stage, switches, clock.nowMs(), options.drainMs); next !== stage; ) {
      if (stage.kind !== "up" && next.kind === "up") state = createProcessState(options);
      stage = next;
      next = nextStage(stage, switches, clock.nowMs(), options.drainMs);
    }
  };
  return {
    faults: switches,
    listFaults: switches.list,
    /** Switches a fault off, or on for `forMs` (by default, until a later call). */
    setFault: (name: FaultName, on: boolean, forMs?: number) => {
      const changed = switches.has(name) !== on;
      switches.set(name, on, forMs);
      if (changed) logger.info("sidecar fault switched", { name, on });
      if (changed && on && RESTARTING_FAULTS.includes(name)) state = createProcessState(options);
      follow();
    },
    /** Returns the process's in-memory state, which a restart resets to its initial values. */
    state: (): ProcessState => state,
    /** Returns true while the process is listening, i.e. unless it is down. */
    isUp: (): boolean => stage.kind !== "down",
    /** Returns true if the process has been stopped but has not exited yet. */
    isDraining: (): boolean => stage.kind === "draining",
    /** Applies the faults, and runs a tick of the price loop if the process is up. */
    tick: () => {
      follow();
      if (stage.kind === "up") state.tick(clock.nowMs(), switches);
    },
  };
}

/**
 * Returns the process's next stage, or the same stage. A stopped process drains until it exits, even if its fault ends earlier.
 */
function nextStage(stage: Stage, faults: FaultSet, nowMs: number, drainMs: number): Stage {
  const isKilled = faults.has("sidecar-killed");
  if (isKilled) return stage.kind === "down" ? stage : { kind: "down" };
  if (stage.kind === "draining") return nowMs < stage.endsAtMs ? stage : { kind: "down" };
  const isStopped = faults.has("sidecar-down");
  if (stage.kind === "up") return isStopped ? { kind: "draining", endsAtMs: nowMs + drainMs } : stage;
  return isStopped ? stage : { kind: "up" };
}

/** The in-memory state of a simulated sidecar process, which a restart replaces. */
export type ProcessState = ReturnType<typeof createProcessState>;

interface ProcessOptions {
  readonly chainId: string;
  readonly markets: readonly Market[];
  readonly seed: number;
  /** Age above which the price loop ignores a provider's price. */
  readonly maxPriceAgeMs: number;
  /** Pairs that have no price during the fault `pair-missing`. */
  readonly missingPairs: readonly string[];
  readonly metricNames: MetricNames;
  readonly version: string;
}

/** Creates the state of a newly started process, with counters at zero and initial prices. */
export function createProcessState(options: ProcessOptions) {
  const sidecar = createSidecarFamilies(options.metricNames);
  const oracle = createOracleFamilies();
  const loop = createPriceLoop({ ...options, families: sidecar });
  sidecar.buildInfo.set({ version: options.version }, 1);
  const tick = (nowMs: number, faults: FaultSet): void => {
    loop.tick(nowMs, faults);
    for (const [pair, price] of loop.snapshot().prices) {
      oracle.prices.set({ chain_id: options.chainId, ticker: pair.toLowerCase() }, Number(price));
    }
  };
  return {
    sidecar,
    oracle,
    loop,
    /** Runs a tick of the price loop and records its metrics. */
    tick,
  };
}
