import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import type { Market } from "./markets.ts";
import type { MetricNames } from "./sidecar-families.ts";

/** A simulated price sidecar. */
export interface SidecarOptions {
  /** Label `chain_id` of the oracle metrics. */
  readonly chainId: string;
  /** Same seed, same walk of prices. */
  readonly seed: number;
  readonly listen: {
    readonly prices: ListenAddress;
    readonly oracleMetrics: ListenAddress;
    readonly sidecarMetrics: ListenAddress;
  };
  /** The option that moves the ports, for the error when one is taken; default `--port-offset`. */
  readonly portOption?: string;
  /** Default `connect`. */
  readonly metricNames?: MetricNames;
  readonly markets?: readonly Market[];
  /** Time between ticks; default 250 ms. */
  readonly updateIntervalMs?: number;
  /** Default 2 min. */
  readonly maxPriceAgeMs?: number;
  /** How long the fault `slow` holds answers back; default 3 s. */
  readonly slowMs?: number;
  /** Pairs of the fault `pair-missing`; default TIA/USD. */
  readonly missingPairs?: readonly string[];
  /** What the API says as its version; default empty, as a deployed build without tag. */
  readonly version?: string;
}

/** What the sidecar needs from its surroundings. */
export interface SidecarDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}
