import { Comet38Client } from "@cosmjs/tendermint-rpc";
import type { BackoffOptions } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Header } from "../comet/block-types.ts";
import { createBatchingRpcClient } from "./rpc/batching-rpc-client.ts";
import type { ChainClient } from "./chain-client.ts";
import { createCosmjsRpcClient } from "./rpc/cosmjs-rpc-client.ts";
import { type Endpoint, parseEndpoint } from "./endpoints/endpoint.ts";
import { createEndpointPool, type EndpointPool } from "./endpoints/endpoint-pool.ts";
import { ClientError } from "./errors.ts";
import { createHttpTransport } from "./rpc/http-transport.ts";
import { decodeHeader, readLightBlock } from "./read/light-block.ts";
import { decodeStatus } from "./read/node-status.ts";
import { createPooledEndpoint, type PooledEndpoint } from "./endpoints/pooled-endpoint.ts";
import type { RpcObserver } from "./rpc/rpc-caller.ts";
import { decodeGrpcAnswer, decodeStoreAnswer, grpcQueryParams, storeReadParams } from "./read/store-read.ts";

/** How a chain is reached. */
export interface ChainClientOptions {
  /** In order of preference, at least one. */
  readonly endpoints: readonly Endpoint[];
  /** Every endpoint must serve this chain; undefined: any will do (for checks by hand). */
  readonly chainId: string | undefined;
  readonly limits?: Partial<ChainClientLimits>;
}

/** Bounds of a client; {@link DEFAULT_LIMITS} are for a public node some 100 ms away. */
interface ChainClientLimits {
  /** One try of one call. A read is tried on every endpoint, each time perhaps after a check of the chain id, so it settles within twice this for each endpoint. */
  readonly deadlineMs: number;
  readonly connectTimeoutMs: number;
  /** HTTP connections to each endpoint. */
  readonly connections: number;
  /** Calls in one HTTP request. */
  readonly maxBatch: number;
  /** Calls waiting at once at each endpoint. */
  readonly maxPending: number;
  readonly maxResponseBytes: number;
  /** Rest of an endpoint that failed. */
  readonly rest: BackoffOptions;
}

/** Defaults of {@link ChainClientLimits}. */
const DEFAULT_LIMITS: ChainClientLimits = {
  deadlineMs: 10_000,
  connectTimeoutMs: 3_000,
  connections: 8,
  maxBatch: 10,
  maxPending: 10_000,
  maxResponseBytes: 64 * 1024 * 1024,
  rest: { minMs: 500, baseMs: 1_000, maxMs: 30_000 },
};

/** What a client needs from its surroundings. */
export interface ChainClientDeps {
  readonly clock: Clock;
  /** gives [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: RpcObserver;
}

/** A chain client over a pool of endpoints. */
export interface PooledChainClient extends ChainClient {
  /** The endpoints, for start-up checks, `doctor` and metrics; also for calls that have no method of their own. */
  readonly pool: EndpointPool;
  /** The header of a height, by the call `header` (CometBFT 0.37 and later), without commit or validators. */
  readonly header: (height: bigint, signal: AbortSignal) => Promise<Header>;
}

/** Creates a client. Nothing is sent before the first call. Throws `bad-endpoint`. */
export function createChainClient(options: ChainClientOptions, deps: ChainClientDeps): PooledChainClient {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const life = new AbortController();
  const pool = createEndpointPool(
    options.endpoints.map((endpoint) => connectEndpoint(endpoint, options.chainId, limits, deps)),
  );
  return {
    pool,
    comet: Comet38Client.create(createCosmjsRpcClient(pool, life.signal)),
    status: (signal) => pool.read({ method: "status", params: {}, decode: decodeStatus }, signal),
    readStore: (read, signal) =>
      pool.read({ method: "abci_query", params: storeReadParams(read), decode: decodeStoreAnswer }, signal),
    grpcQuery: (path, request, signal, height = 0n) =>
      pool.read(
        {
          method: "abci_query",
          params: grpcQueryParams(path, request, height),
          decode: (result, endpoint) => decodeGrpcAnswer(result, path, endpoint),
        },
        signal,
      ),
    lightBlock: (height, signal) => readLightBlock(height, (read) => pool.read(read, signal)),
    header: (height, signal) =>
      pool.read(
        {
          method: "header",
          params: { height: height.toString() },
          decode: decodeHeader,
        },
        signal,
      ),
    close: () => {
      life.abort(new ClientError({ code: "closed" }, "the client is closed"));
      pool.close();
    },
  };
}

function connectEndpoint(
  endpoint: Endpoint,
  chainId: string | undefined,
  limits: ChainClientLimits,
  deps: ChainClientDeps,
): PooledEndpoint {
  const parsed = parseEndpoint(endpoint);
  const caller = createBatchingRpcClient(
    { ...limits, endpoint: parsed.name },
    { transport: createHttpTransport(parsed, limits), clock: deps.clock, observer: deps.observer },
  );
  return createPooledEndpoint({ name: parsed.name, chainId, rest: limits.rest }, { ...deps, caller });
}
