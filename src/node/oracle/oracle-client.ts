import { request } from "undici";
import { withDeadline } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import type { OracleVote } from "./oracle-metrics.ts";

/** Address of the sidecar, and the deadline of a price request. */
export interface OracleOptions {
  /** Base URL: "http://127.0.0.1:8080". */
  readonly address: string;
  /** `client_timeout` of a real node, where the default is 2 s. */
  readonly timeoutMs: number;
}

/** Requests prices once per block, as a validator does when it extends its vote. */
export interface OracleClient {
  /** Rejects only on abort. Every other error is a vote without prices, since a missing sidecar must not stop the chain. */
  readonly vote: (signal: AbortSignal) => Promise<OracleVote>;
}

export interface OracleDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

type Prices = ReadonlyMap<string, bigint>;

/** The current path, and the only path of deployed v1 sidecars. */
const PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;

const MAX_BODY_BYTES = 1_048_576;
const MAX_PRICES = 5_000;

/**
 * Creates an oracle client. One deadline covers a whole vote: both paths, and the wait for a connection. The client of a
 * real node waits for a refused connection too, until its deadline. A chain with one validator therefore slows down while
 * its sidecar is down, and this client reproduces that.
 */
export function createOracleClient(options: OracleOptions, deps: OracleDeps): OracleClient {
  let path: (typeof PATHS)[number] = PATHS[0];
  const fetchFromEitherPath = async (signal: AbortSignal): Promise<Prices> => {
    const first = await fetchPrices(new URL(path, options.address), signal);
    if (first !== "not-found") return first;
    // The path that works stays the first choice, so that a v1 sidecar costs one extra request in total.
    path = path === PATHS[0] ? PATHS[1] : PATHS[0];
    const second = await fetchPrices(new URL(path, options.address), signal);
    if (second === "not-found") throw new Error("the sidecar has no path for prices");
    return second;
  };
  const fetchWhenConnected = async (signal: AbortSignal): Promise<Prices> => {
    for (;;) {
      try {
        return await fetchFromEitherPath(signal);
      } catch (error) {
        if (!isRefused(error)) throw error;
        await deps.clock.sleep(RECONNECT_MS, signal);
      }
    }
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
      try {
        return result(
          true,
          await withDeadline("oracle prices", options.timeoutMs, signal, fetchWhenConnected),
        );
      } catch (error) {
        signal.throwIfAborted();
        deps.logger.debug("oracle client failed", { error: errorText(error) });
        return result(error instanceof PriceError);
      }
    },
  };
}

/** Thrown for a price that is not an integer in an otherwise valid response. */
class PriceError extends Error {}

/** Short compared to the deadline, so that a sidecar that restarts is used in the same block. */
const RECONNECT_MS = 200;

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

async function fetchPrices(url: URL, signal: AbortSignal): Promise<Prices | "not-found"> {
  const { statusCode, body } = await request(url, { signal });
  let text = "";
  // The body is read in any case. An unread body would keep the connection busy.
  for await (const chunk of body.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) throw new Error("the response of the sidecar is too long");
  }
  if (statusCode === 404) return "not-found";
  if (statusCode !== 200) throw new Error(`the sidecar responded with status ${statusCode}`);
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
