import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ListenAddress } from "../../platform/config/config-fields.ts";
import type { Market } from "./markets.ts";
import type { MetricNames } from "./sidecar-families.ts";

export interface SidecarOptions {
  /** Value of the label `chain_id` in the oracle metrics. */
  readonly chainId: string;
  /** Seed of the prices: the same seed produces the same prices. */
  readonly seed: number;
  readonly listen: {
    readonly prices: ListenAddress;
    readonly oracleMetrics: ListenAddress;
    readonly sidecarMetrics: ListenAddress;
  };
  /** Name of the option that changes the ports, for the error of a port in use; default `--port-offset`. */
  readonly portOption?: string;
  /** Default `connect`. */
  readonly metricNames?: MetricNames;
  /** Default: `DEFAULT_MARKETS`. */
  readonly markets?: readonly Market[];
  /** Time between two ticks; default 250 ms. */
  readonly updateIntervalMs?: number;
  /** Maximum age of a provider's price; an older price is not used. Default 2 min. */
  readonly maxPriceAgeMs?: number;
  /** Delay of responses during the fault `slow`; default 3 s. */
  readonly slowMs?: number;
  /** Time from a stop of the process to its end; default 7.75 s, as measured at a deployed sidecar. */
  readonly drainMs?: number;
  /** Pairs without a price during the fault `pair-missing`; default TIA/USD. */
  readonly missingPairs?: readonly string[];
  /** Version in the API responses; default empty, as in a deployed build without a tag. */
  readonly version?: string;
}

export interface SidecarDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}
