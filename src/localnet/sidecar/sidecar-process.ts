import type { Clock } from "../../platform/base/clock.ts";
import { createFaultSwitches, type FaultState } from "../../platform/base/fault-switches.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { type FaultName, type FaultSet, SIDECAR_FAULTS } from "./faults.ts";
import type { Market } from "./markets.ts";
import { createPriceLoop, type PriceLoop } from "./price-loop.ts";
import {
  createOracleFamilies,
  createSidecarFamilies,
  type MetricNames,
  type OracleFamilies,
  type SidecarFamilies,
} from "./sidecar-families.ts";

/** The simulated process of a sidecar: its faults, and the end and the start that they cause. */
export interface SidecarProcess {
  readonly faults: FaultSet;
  readonly listFaults: () => readonly FaultState[];
  /** Switches a fault; `forMs` switches it off again after that time. */
  readonly setFault: (name: FaultName, on: boolean, forMs?: number) => void;
  /** Memory of the process. A new process has a new one. */
  readonly state: () => ProcessState;
  /** The process responds. False while it is down. */
  readonly isUp: () => boolean;
  /** The process was stopped and has not ended yet. */
  readonly isDraining: () => boolean;
  /** Follows the faults, and runs one tick of the price loop when the process is up. */
  readonly tick: () => void;
}

/** Stages of a process. */
type Stage = { readonly kind: "up" | "down" } | { readonly kind: "draining"; readonly endsAtMs: number };

/** Faults that begin with a new process. */
const STARTS_ANEW: readonly FaultName[] = ["startup", "market-map-empty"];

/** Creates a process that is up. `drainMs` is the time from a stop to the end of the process. */
export function createSidecarProcess(
  options: ProcessOptions & { readonly drainMs: number },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): SidecarProcess {
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
    setFault: (name, on, forMs) => {
      const changed = switches.has(name) !== on;
      switches.set(name, on, forMs);
      if (changed) logger.info("sidecar fault switched", { name, on });
      if (changed && on && STARTS_ANEW.includes(name)) state = createProcessState(options);
      follow();
    },
    state: () => state,
    isUp: () => stage.kind !== "down",
    isDraining: () => stage.kind === "draining",
    tick: () => {
      follow();
      if (stage.kind === "up") state.tick(clock.nowMs(), switches);
    },
  };
}

/**
 * Returns the stage that follows, or the same one. A process that was stopped drains to its end, even when it is to start
 * again meanwhile.
 */
function nextStage(stage: Stage, faults: FaultSet, nowMs: number, drainMs: number): Stage {
  const isKilled = faults.has("sidecar-killed");
  if (isKilled) return stage.kind === "down" ? stage : { kind: "down" };
  if (stage.kind === "draining") return nowMs < stage.endsAtMs ? stage : { kind: "down" };
  const isStopped = faults.has("sidecar-down");
  if (stage.kind === "up") return isStopped ? { kind: "draining", endsAtMs: nowMs + drainMs } : stage;
  return isStopped ? stage : { kind: "up" };
}

/** Memory of a simulated sidecar process. A restart replaces it. */
export interface ProcessState {
  readonly sidecar: SidecarFamilies;
  readonly oracle: OracleFamilies;
  readonly loop: PriceLoop;
  /** Runs one tick of the price loop and records its metrics. */
  readonly tick: (nowMs: number, faults: FaultSet) => void;
}

/** Options of {@link createProcessState}; see `SidecarOptions`. */
export interface ProcessOptions {
  readonly chainId: string;
  readonly markets: readonly Market[];
  readonly seed: number;
  readonly maxPriceAgeMs: number;
  readonly missingPairs: readonly string[];
  readonly metricNames: MetricNames;
  readonly version: string;
}

/** Creates the state of a process that has just started: counters at zero, prices at their start. */
export function createProcessState(options: ProcessOptions): ProcessState {
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
  return { sidecar, oracle, loop, tick };
}
