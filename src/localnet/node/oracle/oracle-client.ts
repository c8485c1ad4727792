import { connect } from "node:net";
import { request } from "undici";
import { raceAbort, withTimeout } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { isRecord } from "../../../platform/base/json.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { readTextBody } from "../../../platform/base/read-text.ts";
import type { OracleVote } from "./oracle-metrics.ts";
import type { FaultSwitches } from "../../../platform/base/fault-switches.ts";
import { deflateSync } from "node:zlib";
import { BLOCK_ID_FLAG } from "../../../cosmos/comet/block-types.ts";
import { OracleVoteExtension } from "../../../cosmos/proto/gen/slinky/abci/v1/vote_extensions.ts";
import {
  GetCurrencyPairMappingResponse,
  GetPricesRequest,
  GetPricesResponse,
} from "../../../cosmos/proto/gen/slinky/oracle/v1/query.ts";
import { ExtendedCommitInfo } from "../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { BlockIDFlag } from "../../../cosmos/proto/gen/tendermint/types/validator.ts";
import { equalBytes } from "../../../platform/base/bytes.ts";
import { writeFrame, writeGobInt } from "../../chain/modules/oracle/module.ts";
import type { Application } from "../../chain/runtime/abci.ts";
import type { ChainState } from "../consensus/chain-state.ts";

/** Faults that can be injected into a node's oracle client, and their visible effects. */
export const ORACLE_FAULTS = {
  "vote-extensions-missing":
    "the node counts Success, but its vote extension arrives late, so the chain counts the validator as absent",
  "payment-differs":
    "the chain receives the validator's votes without prices, but the node counts them as votes with prices: the month's payment is lower than the node's counts suggest",
  "payment-missing":
    "the chain's blocks contain no price votes: its prices do not change, and a month-end payment waits until the fault is switched off",
  "jail-near":
    "local-1's first validator signs no blocks: its signing window fills, and it is jailed once it has missed more than the window allows. Requires other validators with more than two thirds of the power (--local-validators 10,10,10,10)",
  "price-deviation": "all votes, and thus the chain, have prices 10 % above the sidecar's",
  "pre-block-error": "extending the vote fails before the sidecar is queried: neither Success nor Failure",
} as const;

export type OracleFaultName = keyof typeof ORACLE_FAULTS;

/** The sidecar's address, and the deadline for price requests. */
export interface OracleOptions {
  /** The sidecar's base URL, such as "http://127.0.0.1:8080". */
  readonly address: string;
  /** Maximum time that a vote waits for the sidecar. A real node waits for `client_timeout` (2 s by default), but at most 1 s. */
  readonly timeoutMs: number;
  /** Faults injected into the votes. */
  readonly faults?: Pick<FaultSwitches<OracleFaultName>, "has">;
}

interface OracleDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sends requests to the sidecar. Default: over HTTP. */
  readonly transport?: SidecarTransport;
}

type Prices = ReadonlyMap<string, bigint>;

/** Paths of the price API: first the current path, then the only path that deployed v1 sidecars serve. */
const PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;

const MAX_PRICES = 5_000;

/**
 * Creates an oracle client. A vote has a single deadline, which includes both paths and the wait for a connection. Like a real
 * node's client, this client waits until the deadline if a connection is refused. A refused connection therefore slows down a chain
 * with one validator.
 */
export function createOracleClient(options: OracleOptions, deps: OracleDeps) {
  const connection = createSidecarConnection(options.address, deps.transport ?? httpTransport, deps.clock);
  let path: (typeof PATHS)[number] = PATHS[0];
  const fetchPrices = async (requestSignal: AbortSignal, signal: AbortSignal): Promise<Prices> => {
    const first = await connection.get(path, requestSignal, signal);
    if (first.status !== 404) return readPrices(first);
    // Remember the other path for later votes, so that a v1 sidecar costs only one extra request in total.
    path = path === PATHS[0] ? PATHS[1] : PATHS[0];
    const second = await connection.get(path, requestSignal, signal);
    if (second.status === 404) throw new Error("the sidecar serves none of the known price paths");
    return readPrices(second);
  };
  return {
    /**
     * Requests the prices for a vote. Rejects only if `signal` aborts. After any other error, the vote contains no prices, because
     * a missing sidecar must not stop the chain. `signal` must not abort before the node stops, because the client also reconnects
     * between votes.
     */
    vote: async (signal: AbortSignal): Promise<OracleVote> => {
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

/** Thrown if a price in an otherwise valid response is not an integer. */
class PriceError extends Error {}

function readPrices({ status, contentType, text }: SidecarResponse): Prices {
  // Use the message of a real node's gRPC client for a sidecar that is draining.
  if (contentType === undefined) throw new Error("malformed header: missing HTTP content-type");
  if (status !== 200) throw new Error(`the sidecar responded with status ${status}`);
  return parsePrices(JSON.parse(text));
}

/** Parses `{"prices": {"BTC/USD": "93450", …}}`, and returns integer prices by lower-case ticker. */
function parsePrices(document: unknown): Prices {
  const prices = isRecord(document) ? document.prices : undefined;
  if (!isRecord(prices)) throw new Error("the sidecar's response has no prices");
  const entries = Object.entries(prices);
  if (entries.length > MAX_PRICES) throw new Error(`the sidecar sent more than ${MAX_PRICES} prices`);
  return new Map(
    entries.map(([ticker, price]) => {
      // Limit prices to 80 digits to bound the cost of BigInt. A uint256 has at most 78 digits.
      if (typeof price !== "string" || !/^-?\d{1,80}$/.test(price)) {
        throw new PriceError(`the price of ${ticker.slice(0, 40)} is not an integer`);
      }
      return [ticker.toLowerCase(), BigInt(price)];
    }),
  );
}

export interface SidecarResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

export interface SidecarTransport {
  /** Sends a GET request. Rejects with an error whose code is `ECONNREFUSED` if no process is listening. */
  readonly get: (url: URL, signal: AbortSignal) => Promise<SidecarResponse>;
  /** Returns true if the URL's host currently accepts connections. */
  readonly connects: (url: URL, signal: AbortSignal) => Promise<boolean>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 120_000;
const PAUSE_FACTOR = 1.6;

/**
 * Creates a connection to the sidecar. After a refusal, the connection retries with gRPC's backoff: 1 s, 1.6 s, 2.56 s, … up to 2
 * min between attempts. Because of this backoff, price requests still fail for a while after the sidecar has restarted, and even
 * longer after a long outage. gRPC varies each delay by a fifth. Here, the delays are exact, so that rehearsals are repeatable.
 */
function createSidecarConnection(address: string, transport: SidecarTransport, clock: Clock) {
  let reconnecting: Promise<void> | undefined;
  const reconnect = async (signal: AbortSignal): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_FACTOR, LONGEST_PAUSE_MS)) {
      await clock.sleep(pauseMs, signal);
      if (await transport.connects(new URL(address), signal)) return;
    }
  };
  const startReconnecting = (signal: AbortSignal): Promise<void> => {
    const attempt = reconnect(signal).finally(() => {
      reconnecting = undefined;
    });
    // Ignore rejections, because between requests nothing awaits the attempts. The attempts end when the signal aborts.
    attempt.catch(() => {});
    return attempt;
  };
  return {
    /**
     * Sends a request as soon as the sidecar is connected. `requestSignal` aborts only this request. `lifeSignal` also stops
     * reconnecting.
     */
    get: async (
      path: string,
      requestSignal: AbortSignal,
      lifeSignal: AbortSignal,
    ): Promise<SidecarResponse> => {
      for (;;) {
        if (reconnecting !== undefined) await raceAbort(reconnecting, requestSignal);
        try {
          return await transport.get(new URL(path, address), requestSignal);
        } catch (error) {
          if (!isRefused(error)) throw error;
          reconnecting ??= startReconnecting(lifeSignal);
        }
      }
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

const MAX_BODY_BYTES = 1_048_576;

const httpTransport: SidecarTransport = {
  get: async (url, signal) => {
    const { statusCode, headers, body } = await request(url, { signal });
    // Always read the body, because an unread body would block the connection.
    const text = await readTextBody(body, MAX_BODY_BYTES);
    const contentType = headers["content-type"];
    return {
      status: statusCode,
      contentType: Array.isArray(contentType) ? contentType[0] : contentType,
      text,
    };
  },
  connects: (url, signal) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port), signal });
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", (error) => {
        if (signal.aborted) reject(error);
        else resolve(false);
      });
    }),
};

/** Collects the validators' price votes for a chain's blocks. */
export type ExtendedCommits = ReturnType<typeof createExtendedCommits>;

interface ExtendedCommitDeps extends Pick<OracleOptions, "faults"> {
  readonly app: Pick<Application, "query">;
  /** Address of this node's validator. */
  readonly own: Uint8Array;
}

/** Voted prices while the fault `price-deviation` is on, in percent of the sidecar's prices. */
const DEVIATION_PERCENT = 110n;

const NOTHING = new Uint8Array(0);

/**
 * Creates all validators' price votes. While the sidecar is down, this node's validator votes for no prices, but the other validators keep
 * voting for the sidecar's last prices. A block made without a price request repeats the prices of the previous votes.
 */
export function createExtendedCommits({ app, own, faults }: ExtendedCommitDeps) {
  let ofOwn: Prices = new Map();
  let ofOthers: Prices = new Map();
  const read = (path: string, data: Uint8Array): Uint8Array =>
    app.query({ path: `/slinky.oracle.v1.Query/${path}`, data, height: 0n, prove: false }).value;
  const extensionOf = (prices: Prices): Uint8Array => {
    if (prices.size === 0) return NOTHING;
    const { currencyPairMapping } = GetCurrencyPairMappingResponse.decode(
      read("GetCurrencyPairMapping", NOTHING),
    );
    const pairs = [...currencyPairMapping.values()].map(({ Base, Quote }) => `${Base}/${Quote}`);
    const query = GetPricesRequest.encode({ currencyPairIds: pairs }).finish();
    const stored = GetPricesResponse.decode(read("GetPrices", query)).prices;
    const deltas = stored.flatMap(({ id, price }, index) => {
      const voted = prices.get(pairs[index]?.toLowerCase() ?? "");
      if (voted === undefined) return [];
      const seen = faults?.has("price-deviation") ? (voted * DEVIATION_PERCENT) / 100n : voted;
      return [[id, writeGobInt(seen - BigInt(price?.price ?? "0"))] as const];
    });
    return deflateSync(OracleVoteExtension.encode({ prices: new Map(deltas) }).finish());
  };
  return {
    /** Sets the prices for which this node's validator votes from now on. If `prices` is empty, the vote extension is empty. */
    extend: (prices: Prices) => {
      ofOwn = prices;
      if (prices.size > 0) ofOthers = prices;
    },
    /** Returns the next block's first transaction, i.e. the votes on the last block, or undefined if a fault suppresses the votes. */
    next: ({ lastCommit, lastValidators }: ChainState): Uint8Array | undefined => {
      if (faults?.has("payment-missing")) return undefined;
      const others = extensionOf(ofOthers);
      const isEmpty = faults?.has("payment-differs") || faults?.has("pre-block-error");
      const votes = lastValidators.validators.map(({ address, power }, index) => {
        const isOwn = equalBytes(address, own);
        const isAbsent =
          lastCommit.signatures[index]?.flag !== BLOCK_ID_FLAG.commit ||
          (isOwn && faults?.has("vote-extensions-missing") === true);
        const voted = isOwn ? (isEmpty ? NOTHING : ofOwn === ofOthers ? others : extensionOf(ofOwn)) : others;
        return {
          validator: { address, power },
          voteExtension: isAbsent ? NOTHING : voted,
          extensionSignature: NOTHING,
          blockIdFlag: isAbsent ? BlockIDFlag.BLOCK_ID_FLAG_ABSENT : BlockIDFlag.BLOCK_ID_FLAG_COMMIT,
        };
      });
      return writeFrame(ExtendedCommitInfo.encode({ round: lastCommit.round, votes }).finish());
    },
  };
}
