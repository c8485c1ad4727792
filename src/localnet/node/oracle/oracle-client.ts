import { withTimeout } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { isRecord } from "../../../platform/base/json.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { OracleFaultSet } from "./oracle-faults.ts";
import type { OracleVote } from "./oracle-metrics.ts";
import {
  createSidecarConnection,
  httpTransport,
  type SidecarResponse,
  type SidecarTransport,
} from "./sidecar-connection.ts";

/** Address of the sidecar, and the deadline of a price request. */
export interface OracleOptions {
  /** Base URL: "http://127.0.0.1:8080". */
  readonly address: string;
  /** Time that a vote waits for the sidecar: the smaller of `client_timeout` (2 s) and the 1 s that a real node allows. */
  readonly timeoutMs: number;
  /** Injected faults of the votes. */
  readonly faults?: OracleFaultSet;
}

/** Requests prices once per block, as a validator does when it extends its vote. */
export interface OracleClient {
  /**
   * Rejects only on abort. Every other error is a vote without prices, since a missing sidecar must not stop the chain.
   * `signal` lives as long as the node: between votes, the client uses it to connect again.
   */
  readonly vote: (signal: AbortSignal) => Promise<OracleVote>;
}

export interface OracleDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: HTTP. */
  readonly transport?: SidecarTransport;
}

type Prices = ReadonlyMap<string, bigint>;

/** The current path, and the only path of deployed v1 sidecars. */
const PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;

const MAX_PRICES = 5_000;

/**
 * Creates an oracle client. One deadline covers a whole vote: both paths, and the wait for a connection. The client of a
 * real node waits for a refused connection too, until its deadline. A chain with one validator therefore slows down while
 * its sidecar is down, and this client reproduces that.
 */
export function createOracleClient(options: OracleOptions, deps: OracleDeps): OracleClient {
  const connection = createSidecarConnection(options.address, deps.transport ?? httpTransport, deps.clock);
  let path: (typeof PATHS)[number] = PATHS[0];
  const fetchPrices = async (requestSignal: AbortSignal, signal: AbortSignal): Promise<Prices> => {
    const first = await connection.get(path, requestSignal, signal);
    if (first.status !== 404) return readPrices(first);
    // The path that works stays the first choice, so that a v1 sidecar costs one extra request in total.
    path = path === PATHS[0] ? PATHS[1] : PATHS[0];
    const second = await connection.get(path, requestSignal, signal);
    if (second.status === 404) throw new Error("the sidecar has no path for prices");
    return readPrices(second);
  };
  return {
    vote: async (signal) => {
      const startedMs = deps.clock.monotonicMs();
      const result = (success: boolean, prices?: Prices): OracleVote => ({
        success,
        usable: prices !== undefined,
        prices: prices ?? new Map(),
        latencyMs: deps.clock.monotonicMs() - startedMs,
      });
      const fetch = (requestSignal: AbortSignal): Promise<Prices> => fetchPrices(requestSignal, signal);
      try {
        const prices = await withTimeout(options.timeoutMs, deps.clock, signal, fetch);
        if (prices === undefined) throw new Error("context deadline exceeded");
        return result(true, prices);
      } catch (error) {
        signal.throwIfAborted();
        deps.logger.debug("failed to retrieve oracle prices for vote extension", { error: errorText(error) });
        return result(error instanceof PriceError);
      }
    },
  };
}

/** Thrown for a price that is not an integer in an otherwise valid response. */
class PriceError extends Error {}

function readPrices({ status, contentType, text }: SidecarResponse): Prices {
  // The text of the gRPC client of a real node, for a sidecar that drains.
  if (contentType === undefined) throw new Error("malformed header: missing HTTP content-type");
  if (status !== 200) throw new Error(`the sidecar responded with status ${status}`);
  return parsePrices(JSON.parse(text));
}

/** Parses `{"prices": {"BTC/USD": "93450", …}}` to integer prices by lower-case ticker. */
function parsePrices(document: unknown): Prices {
  const prices = isRecord(document) ? document.prices : undefined;
  if (!isRecord(prices)) throw new Error("the response of the sidecar has no prices");
  const entries = Object.entries(prices);
  if (entries.length > MAX_PRICES) throw new Error(`the sidecar sent more than ${MAX_PRICES} prices`);
  return new Map(
    entries.map(([ticker, price]) => {
      // 80 digits bound the cost of BigInt; a uint256 has at most 78.
      if (typeof price !== "string" || !/^-?\d{1,80}$/.test(price)) {
        throw new PriceError(`the price of ${ticker.slice(0, 40)} is not a whole number`);
      }
      return [ticker.toLowerCase(), BigInt(price)];
    }),
  );
}
