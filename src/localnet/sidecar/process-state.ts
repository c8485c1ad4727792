import type { FaultSet } from "./faults.ts";
import type { Market } from "./markets.ts";
import { createOracleFamilies, type OracleFamilies } from "./oracle-families.ts";
import { createPriceLoop, type PriceLoop } from "./price-loop.ts";
import { createSidecarFamilies, type MetricNames, type SidecarFamilies } from "./sidecar-families.ts";

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
