import { withDeadline } from "../../base/abort.ts";
import { request } from "undici";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import type { OracleVote } from "./oracle-metrics.ts";

/** Where the sidecar is and how long a block waits for it. */
export interface OracleOptions {
  /** Base address of the sidecar, "http://127.0.0.1:8080". */
  readonly address: string;
  /** A real node's `client_timeout`; default there 2 s. */
  readonly timeoutMs: number;
}

/** Asks the price sidecar once a block, as a validator does when it extends its vote. */
export interface OracleClient {
  /** Never rejects, save with the signal's reason: a sidecar that fails is a vote without prices. */
  readonly vote: (signal: AbortSignal) => Promise<OracleVote>;
}

/** What the client needs. */
export interface OracleDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Current path first; deployed v1 sidecars have only the second. */
const PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;

const MAX_BODY_BYTES = 1_048_576;
const MAX_PRICES = 5_000;

/**
 * Creates a client. As the real one it waits its whole timeout when the connection is refused, since it waits for the
 * sidecar to come back: with one validator the chain slows down while its sidecar is away.
 */
export function createOracleClient(options: OracleOptions, deps: OracleDeps): OracleClient {
  let path: (typeof PATHS)[number] = PATHS[0];
  const ask = async (signal: AbortSignal): Promise<ReadonlyMap<string, bigint>> => {
    const first = await fetchPrices(new URL(path, options.address), signal);
    if (first !== "not-found") return first;
    path = path === PATHS[0] ? PATHS[1] : PATHS[0];
    const second = await fetchPrices(new URL(path, options.address), signal);
    if (second === "not-found") throw new Error("no price path is there");
    return second;
  };
  const askUntilThere = async (signal: AbortSignal): Promise<ReadonlyMap<string, bigint>> => {
    for (;;) {
      try {
        return await ask(signal);
      } catch (error) {
        if (!isRefused(error)) throw error;
        await deps.clock.sleep(RECONNECT_MS, signal);
      }
    }
  };
  return {
    vote: async (signal) => {
      const startedMs = deps.clock.monotonicMs();
      const done = (success: boolean, prices?: OracleVote["prices"]): OracleVote => ({
        success,
        usable: prices !== undefined,
        prices: prices ?? new Map(),
        latencyMs: deps.clock.monotonicMs() - startedMs,
      });
      try {
        return done(true, await withDeadline("oracle prices", options.timeoutMs, signal, askUntilThere));
      } catch (error) {
        signal.throwIfAborted();
        deps.logger.debug("oracle client failed", { error: errorText(error) });
        return done(error instanceof PriceError);
      }
    },
  };
}

/** A price in an otherwise good answer that is no whole number. */
class PriceError extends Error {}

const RECONNECT_MS = 200;

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

async function fetchPrices(
  url: URL,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint> | "not-found"> {
  const { statusCode, body } = await request(url, { signal });
  let text = "";
  for await (const chunk of body.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) throw new Error("the sidecar's answer is too long");
  }
  if (statusCode === 404) return "not-found";
  if (statusCode !== 200) throw new Error(`the sidecar answered status ${statusCode}`);
  return parsePrices(JSON.parse(text));
}

/** Reads `{"prices": {"BTC/USD": "93450", …}}`; tickers come out in lower case. Throws on another shape. */
export function parsePrices(answer: unknown): ReadonlyMap<string, bigint> {
  const prices = isRecord(answer) ? answer.prices : undefined;
  if (!isRecord(prices)) throw new Error("the sidecar's answer has no prices");
  const entries = Object.entries(prices);
  if (entries.length > MAX_PRICES) throw new Error(`the sidecar's answer has more than ${MAX_PRICES} prices`);
  return new Map(
    entries.map(([ticker, price]) => {
      if (typeof price !== "string" || !/^-?\d{1,80}$/.test(price)) {
        throw new PriceError(`the price of ${ticker.slice(0, 40)} is not a whole number`);
      }
      return [ticker.toLowerCase(), BigInt(price)];
    }),
  );
}
