import type { Comet38Client } from "@cosmjs/tendermint-rpc";
import { minInt } from "../../platform/base/integers.ts";
import type { JsonField } from "../../platform/base/json.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { createBatchingRpcClient, createHttpTransport } from "./batching-rpc-client.ts";
import { decodeBlockResults, decodeTxCounts, decodeTxSearch } from "../comet/rpc-blocks.ts";
import type {
  BlockRange,
  ChainClient,
  CometReads,
  LightBlockBytes,
  ProofOp,
  QueryHeight,
  SearchPage,
  StoreRead,
  StoreResponse,
  TxSearcher,
} from "./chain-client.ts";
import { createCosmjsRpcClient, type RpcObserver, type RpcRead, type RpcWork } from "./rpc-caller.ts";
import type { Endpoint, NetworkOptions } from "../../platform/http/remote.ts";
import { parseEndpoints } from "./endpoint.ts";
import { createPooledEndpoint } from "./pooled-endpoint.ts";
import { createEndpointPool, type EndpointPool } from "./endpoint-pool.ts";
import { ClientError, closedError, heightUnavailable } from "../client-error.ts";
import type { readLightBlock } from "./light-block.ts";
import { badResponse, decodeStatus, decodeTxsOfBlock, resultField } from "./rpc-response.ts";
import { toHex } from "../../platform/base/bytes.ts";
import { isHeightLog } from "./answers.ts";

interface ChainClientOptions {
  /** At least one endpoint, in order of preference. */
  readonly endpoints: readonly Endpoint[];
  /** Id of the chain that every endpoint must serve, or undefined to accept any chain. */
  readonly chainId: string | undefined;
  readonly limits?: Partial<typeof DEFAULT_LIMITS>;
  readonly network?: NetworkOptions;
}

/** Default limits, suitable for a public node with a round-trip time of about 100 ms. */
const DEFAULT_LIMITS = {
  /**
   * Deadline for one HTTP request. Each attempt to read makes at most two requests: the check of the chain id, and the call. A read
   * makes one attempt per endpoint, or two attempts if there is only one endpoint.
   */
  deadlineMs: 10_000,
  /**
   * Maximum number of HTTP connections per endpoint, opened on demand. With 64 connections, a thousand reads take two round trips.
   * A CometBFT node accepts 900 connections by default.
   */
  connections: 64,
  /** Initial maximum number of calls per HTTP request. The maximum is lowered for an endpoint that refuses a batch. */
  maxBatch: 10,
  maxResponseBytes: 64 * 1024 * 1024,
  /** Backoff during which an endpoint rests after a failure. */
  rest: { minMs: 500, baseMs: 1_000, maxMs: 30_000 },
};

export interface ChainClientDeps {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observer: RpcObserver;
  /**
   * Default: the function of the same name, which is imported on first use because it loads signature verification. The import
   * delays the call, so the call is not part of the current event loop turn's batch. A relayer passes the function in, so that it
   * sends only one HTTP request per turn.
   */
  readonly readLightBlock?: typeof readLightBlock;
}

export interface PooledChainClient extends ChainClient {
  /** The endpoint pool, for startup checks, endpoint health, and RPC methods that have no function here. */
  readonly pool: EndpointPool;
}

/** Creates a chain client that connects on its first call. Throws `bad-endpoint` for an invalid endpoint URL. */
export function createChainClient(options: ChainClientOptions, deps: ChainClientDeps): PooledChainClient {
  const { chainId } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const life = new AbortController();
  const pool = createEndpointPool(
    parseEndpoints(options.endpoints, options.network).map((parsed) => {
      const { name } = parsed;
      const transport = createHttpTransport(parsed, limits);
      const caller = createBatchingRpcClient({ ...limits, ...deps, endpoint: name, transport });
      return createPooledEndpoint({ ...limits, name, chainId }, { ...deps, caller });
    }),
  );
  return {
    pool,
    comet: createCometReads(pool, life.signal),
    cometWith: (blocks, check) => createSearcher(pool, life.signal, blocks, check),
    txCounts: ({ from, to }, signal) => {
      const params = { minHeight: from.toString(), maxHeight: to.toString() };
      return pool.read({ method: "blockchain", params, decode: decodeCounts }, signal);
    },
    status: (signal) => pool.read({ method: "status", params: {}, decode: decodeStatus }, signal),
    earliestHeight: (signal) => readEarliestHeight(pool, signal),
    readStore: (read, signal) => pool.read(storeRead(read), signal),
    grpcQuery: (path, request, signal, height = 0n) => pool.read(grpcRead(path, request, height), signal),
    lightBlock: (height, signal, validators) => {
      const params = height === 0n ? {} : { height: height.toString() };
      const run: RpcWork<LightBlockBytes>["run"] = async (call, endpoint) => {
        const read = deps.readLightBlock ?? (await import("./light-block.ts")).readLightBlock;
        return read(height, call, endpoint, validators);
      };
      return pool.run({ method: "commit", params, run }, signal);
    },
    distrust: pool.distrust,
    close: () => {
      life.abort(closedError());
      pool.close();
    },
  };
}

type Decode<T> = RpcRead<T>["decode"];

const decodeCounts: Decode<ReadonlyMap<bigint, number>> = (result, endpoint) =>
  decodeTxCounts(resultField(result, "blockchain", endpoint));

/** Creates block and transaction readers. When `signal` aborts, all calls to the readers reject. */
export function createCometReads(pool: Pick<EndpointPool, "call" | "read">, signal: AbortSignal): CometReads {
  const atHeight =
    <T>(method: string, decode: (root: JsonField, endpoint: string) => T) =>
    (height: number): Promise<T & { readonly endpoint: string }> => {
      const read: Decode<T & { readonly endpoint: string }> = (result, endpoint) => ({
        ...decode(resultField(result, `${method} of ${height}`, endpoint), endpoint),
        endpoint,
      });
      return pool.read({ method, params: { height: height.toString() }, decode: read }, signal);
    };
  let opened: Promise<Comet38Client> | undefined;
  // Load CosmJS on first use, because loading takes longer than a query and most commands read no block.
  const cosmjs = (): Promise<Comet38Client> =>
    (opened ??= import("@cosmjs/tendermint-rpc").then((module) =>
      module.Comet38Client.create(createCosmjsRpcClient(pool, signal)),
    ));
  return {
    commit: async (height) => (await cosmjs()).commit(height),
    blockSearch: async (params) => (await cosmjs()).blockSearch(params),
    ...createSearcher(pool, signal),
    blockResults: atHeight("block_results", decodeBlockResults),
    block: atHeight("block", (root, endpoint) => ({ block: { txs: decodeTxsOfBlock(root, endpoint) } })),
  };
}

function createSearcher(
  pool: Pick<EndpointPool, "read">,
  signal: AbortSignal,
  blocks?: BlockRange,
  check?: (page: SearchPage) => string | undefined,
): TxSearcher {
  return {
    txSearch: ({ prove = false, page = 1, per_page: size = 30, order_by: order = "asc", query }) => {
      const params = { query, prove, page: page.toString(), per_page: size.toString(), order_by: order };
      const decode: Decode<SearchPage> = (result, endpoint) => {
        const found = { ...decodeTxSearch(resultField(result, "tx_search", endpoint), { prove }), endpoint };
        const problem = check?.(found);
        if (problem !== undefined) throw badResponse(endpoint, "tx_search", problem);
        return found;
      };
      return pool.read({ method: "tx_search", params, decode, blocks }, signal);
    },
  };
}

async function readEarliestHeight(pool: EndpointPool, signal: AbortSignal): Promise<bigint> {
  const checks = await pool.check(signal);
  signal.throwIfAborted();
  const heights = checks.flatMap((check) => (check.ok ? [check.status.earliestHeight] : []));
  if (heights.length > 0) return heights.reduce(minInt);
  const [error] = checks.flatMap((check) => (check.ok ? [] : [check.error]));
  throw error ?? closedError("the client has no endpoints");
}

/** First byte of an encoded `ics23.CommitmentProof` that contains an existence proof: field 1, length-delimited. */
const EXISTENCE_TAG = 0x0a;

/**
 * Reads a store key with a proof. Throws `height-unavailable` if the node does not have the height, so that the pool tries the next
 * node.
 */
function storeRead({ store, key, height }: StoreRead): RpcRead<StoreResponse> {
  return {
    method: "abci_query",
    params: { path: `store/${store}/key`, data: toHex(key), height: height.toString(), prove: true },
    decode: (result, endpoint) => {
      const response = decodeStoreResponse(result, endpoint);
      const isOther = response.code === 0 && height !== 0n && response.height !== height;
      if (!isOther && (response.code === 0 || !isHeightLog(response.log))) return response;
      const reason = isOther ? `it returned height ${response.height}` : response.log;
      throw heightUnavailable(endpoint, height, `does not have the state at height ${height}: ${reason}`);
    },
  };
}

/** Runs a gRPC query over `abci_query`; see {@link decodeGrpcResponse}. */
function grpcRead(path: string, request: Uint8Array, height: QueryHeight): RpcRead<Uint8Array> {
  const exact = typeof height === "bigint" ? height : 0n;
  return {
    method: "abci_query",
    params: { path, data: toHex(request), height: exact.toString(), prove: false },
    decode: (result, endpoint) => decodeGrpcResponse(result, { path, height }, endpoint),
  };
}

/** Decodes the result of an `abci_query` with a proof. */
export function decodeStoreResponse(result: unknown, endpoint: string): StoreResponse {
  const response = resultField(result, "abci_query", endpoint).member("response");
  const value = response.member("value");
  const code = response.member("code").asUint32();
  const proof = response.member("proofOps").orEmpty().member("ops").elements().map(decodeProofOp);
  // A node whose application runs behind an ABCI socket returns null both for a missing key and for an empty value. The type of the
  // first proof distinguishes the two cases.
  const exists = value.isPresent() || (code === 0 && proof[0]?.data[0] === EXISTENCE_TAG);
  return {
    code,
    codespace: response.member("codespace").asText(),
    log: response.member("log").asText(),
    height: response.member("height").asHeight(),
    value: exists ? value.asBase64() : undefined,
    proof,
    endpoint,
  };
}

/**
 * Decodes the result of a gRPC query over `abci_query`. Throws `abci` for a nonzero code, `height-unavailable` for a height below
 * `atLeast`.
 */
export function decodeGrpcResponse(
  result: unknown,
  { path, height }: { readonly path: string; readonly height: QueryHeight },
  endpoint: string,
): Uint8Array {
  const response = resultField(result, "abci_query", endpoint).member("response");
  const abciCode = response.member("code").asUint32();
  const codespace = response.member("codespace").asText();
  const log = response.member("log").asText();
  if (abciCode !== 0) {
    const text = `${path} was refused: ${codespace}/${abciCode}: ${log}`;
    throw new ClientError({ code: "abci", path, abciCode, codespace, log }, text);
  }
  if (typeof height !== "bigint") {
    const { atLeast } = height;
    const found = response.member("height").asHeight();
    const text = `lags behind: it returned the state at height ${found}, but at least ${atLeast} is needed`;
    // A node that returns 0 does not report which height it read.
    if (found !== 0n && found < atLeast) throw heightUnavailable(endpoint, atLeast, text);
  }
  return response.member("value").asBase64();
}

function decodeProofOp(op: JsonField): ProofOp {
  const type = op.member("type");
  if (type.asText() === "") throw type.error(type.path, "a proof type");
  return { type: type.asText(), key: op.member("key").asBase64(), data: op.member("data").asBase64() };
}
