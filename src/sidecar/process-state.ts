import { createOracleFamilies, type OracleFamilies } from "./oracle-families.ts";
import { createPriceLoop, type PriceLoop } from "./price-loop.ts";
import type { Market } from "./markets.ts";
import type { FaultName } from "./faults.ts";
import { createSidecarFamilies, type MetricNames, type SidecarFamilies } from "./sidecar-families.ts";

/** What a sidecar process holds in memory: a restart loses all of it. */
export interface Life {
  readonly sidecar: SidecarFamilies;
  readonly oracle: OracleFamilies;
  readonly loop: PriceLoop;
  /** One turn of the price loop, with its metrics. */
  readonly tick: (nowMs: number, faults: ReadonlySet<FaultName>) => void;
}

/** What a life begins with. */
export interface LifeOptions {
  readonly chainId: string;
  readonly markets: readonly Market[];
  readonly seed: number;
  readonly maxPriceAgeMs: number;
  readonly missingPairs: readonly string[];
  readonly metricNames: MetricNames;
  readonly version: string;
}

/** Begins a life: all counters at zero, prices at their start. */
export function createLife(options: LifeOptions): Life {
  const sidecar = createSidecarFamilies(options.metricNames);
  const oracle = createOracleFamilies();
  const loop = createPriceLoop({ ...options, families: sidecar });
  sidecar.buildInfo.set({ version: options.version }, 1);
  const tick = (nowMs: number, faults: ReadonlySet<FaultName>): void => {
    loop.tick(nowMs, faults);
    for (const [pair, price] of loop.snapshot().prices) {
      oracle.prices.set({ chain_id: options.chainId, ticker: pair.toLowerCase() }, Number(price));
    }
  };
  return { sidecar, oracle, loop, tick };
}
