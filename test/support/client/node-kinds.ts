import { gzipSync } from "node:zlib";
import { isRecord } from "../../../src/platform/base/json.ts";
import {
  callsOf,
  type IdentifiedCall,
  mapResponses,
  type ProxiedCall,
  withWrongAppHash,
  withWrongProof,
} from "../json-rpc-bodies.ts";
import { type RpcExchange, startRpcServer } from "./rpc-server.ts";

/** What the relayer does with an endpoint. */
export const USES = ["KV", "TX", "client update", "broadcast", "confirmation"] as const;

export type Use = (typeof USES)[number];

/** A kind of node, as a row of the table in `docs/compatibility.md`. */
export interface NodeKind {
  readonly name: string;
  /** What the node does instead of CometBFT 0.38 with its default settings. */
  readonly change: NodeChange;
  /** The uses that such a node alone cannot serve, with a part of the reason that is shown. */
  readonly alone?: { readonly [use in Use]?: string };
  /** Headers of the endpoint in the configuration. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is known of the chain: the block with the transactions that are searched for. */
interface KnownBlock {
  readonly height: bigint;
}

interface JsonError {
  readonly code: number;
  readonly message: string;
  readonly data?: string;
}

interface NodeChange {
  /** Decides about a whole request. Undefined: the node answers. */
  readonly request?: (exchange: RpcExchange, n: number) => Refusal | undefined;
  /** Replaces the response of a call by an error. */
  readonly error?: (call: ProxiedCall, known: KnownBlock, n: number) => JsonError | undefined;
  readonly result?: (call: ProxiedCall, result: Record<string, unknown>) => unknown;
  readonly delayMs?: number;
  /** Compresses each response. */
  readonly isGzip?: boolean;
}

interface Refusal {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the connection instead. */
  readonly isCut?: boolean;
}

const internal = (data: string): JsonError => ({ code: -32603, message: "Internal error", data });
const base64 = (text: unknown): string =>
  Buffer.from(typeof text === "string" ? text : "").toString("base64");

function withVersion(
  version: string,
  call: ProxiedCall,
  result: Record<string, unknown>,
): Record<string, unknown> {
  if (call.method !== "status" || !isRecord(result["node_info"])) return result;
  return { ...result, node_info: { ...result["node_info"], version } };
}

/** Block events as before 0.38. */
function splitEvents(call: ProxiedCall, result: Record<string, unknown>): Record<string, unknown> {
  if (call.method !== "block_results") return result;
  const { finalize_block_events: begin, app_hash: _hash, ...rest } = result;
  return { ...rest, begin_block_events: begin, end_block_events: null };
}

/** Keys and values of each attribute in base64. */
function encodeAttributes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encodeAttributes);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === "attributes" && Array.isArray(inner)
        ? inner.map((one: unknown) =>
            isRecord(one) ? { ...one, key: base64(one["key"]), value: base64(one["value"]) } : one,
          )
        : encodeAttributes(inner),
    ]),
  );
}

const isBatchAbove = (most: number, refusal: Refusal) => (exchange: RpcExchange) =>
  exchange.isBatch && exchange.calls.length > most ? refusal : undefined;

function json(error: JsonError, id: unknown = -1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

const heightOf = ({ params }: ProxiedCall): bigint => {
  const { height } = params;
  return typeof height === "string" && /^\d+$/.test(height) ? BigInt(height) : 0n;
};

const isStatusOnly = ({ calls }: RpcExchange): boolean => calls.every(({ method }) => method === "status");
const unlessStatus = (refusal: Refusal) => (exchange: RpcExchange) =>
  isStatusOnly(exchange) ? undefined : refusal;
const always = (refusal: Refusal) => () => refusal;
const each = (reason: string): Readonly<Record<Use, string>> => ({
  KV: reason,
  TX: reason,
  "client update": reason,
  broadcast: reason,
  confirmation: reason,
});
const withoutTx = (data: string) => (call: ProxiedCall) =>
  call.method === "tx" || call.method === "tx_search" ? internal(data) : undefined;
const oldBlock =
  (data: string, methods: readonly string[]) =>
  (call: ProxiedCall, { height }: KnownBlock) =>
    methods.includes(call.method) && heightOf(call) > 0n && heightOf(call) <= height
      ? internal(data)
      : undefined;

const replaced =
  (method: string, part: RegExp, instead: string) =>
  (call: ProxiedCall, result: Record<string, unknown>): Record<string, unknown> =>
    call.method === method ? JSON.parse(JSON.stringify(result).replace(part, instead)) : result;

export const NODE_KINDS: readonly NodeKind[] = [
  { name: "CometBFT 0.38", change: {} },
  {
    name: "CometBFT 1.0",
    change: {
      result: (call, result) => {
        const updates = [{ power: "573929", pub_key_bytes: "AQEB", pub_key_type: "ed25519" }];
        const updated = call.method === "block_results" ? { ...result, validator_updates: updates } : result;
        return withVersion("1.0.1", call, updated);
      },
    },
  },
  {
    name: "CometBFT 0.37",
    change: { result: (call, result) => withVersion("0.37.15", call, splitEvents(call, result)) },
  },
  {
    name: "Tendermint 0.34: attributes in base64, without `header`",
    change: {
      error: ({ method }) =>
        method === "header" ? { code: -32601, message: "Method not found" } : undefined,
      result: (call, result) =>
        call.method === "block_results" || call.method === "tx_search"
          ? encodeAttributes(splitEvents(call, result))
          : withVersion("0.34.29", call, result),
    },
  },
  {
    name: "pruned",
    change: {
      error: oldBlock("height 1 is not available, lowest height is 9", [
        "commit",
        "validators",
        "block",
        "block_results",
      ]),
    },
    alone: { TX: "is not available, lowest height is" },
  },
  {
    name: "state-synced: blocks without their results",
    change: { error: oldBlock("could not find results for height #1", ["block_results"]) },
    alone: { TX: "could not find results for height" },
  },
  {
    name: "results discarded (`discard_abci_responses`)",
    change: {
      error: ({ method }) =>
        method === "block_results" ? internal("node is not persisting finalize block responses") : undefined,
    },
    alone: { TX: "set storage.discard_abci_responses = false" },
  },
  {
    name: 'index off (`indexer = "null"`)',
    change: { error: withoutTx("transaction indexing is disabled") },
  },
  {
    name: 'index in PostgreSQL (`indexer = "psql"`)',
    change: { error: withoutTx("the TxIndexer.Search method is not supported") },
  },
  {
    name: "index with holes",
    change: {
      error: ({ method }) => (method === "tx" ? internal("tx (00) not found") : undefined),
      result: ({ method }, result) => (method === "tx_search" ? { txs: [], total_count: "0" } : result),
    },
  },
  {
    name: "batches of at most 5",
    change: {
      request: isBatchAbove(5, {
        status: 500,
        body: json({
          code: -32600,
          message: "Invalid Request",
          data: "batch request exceeds maximum (5) allowed number of requests",
        }),
      }),
    },
  },
  {
    name: "batches of at most 2",
    change: {
      request: isBatchAbove(2, {
        status: 200,
        body: json({ code: -32600, message: "batch too large" }, null),
      }),
    },
  },
  { name: "batches of 1", change: { request: isBatchAbove(1, { status: 413, body: "" }) } },
  {
    name: "no batches",
    change: {
      request: ({ isBatch }) =>
        isBatch ? { status: 400, body: '{"error":"batch requests are not supported"}' } : undefined,
    },
  },
  {
    name: "no batches: the connection is closed",
    change: { request: ({ isBatch }) => (isBatch ? { status: 0, isCut: true } : undefined) },
  },
  {
    name: "limit by 429",
    change: { request: unlessStatus({ status: 429, body: "<html>slow down</html>" }) },
    alone: each("HTTP status 429"),
  },
  {
    name: "limit with `Retry-After`",
    change: { request: unlessStatus({ status: 429, body: "", headers: { "retry-after": "30" } }) },
    alone: each("HTTP status 429"),
  },
  {
    name: "limit by JSON-RPC",
    change: {
      error: ({ method }) =>
        method === "status" ? undefined : { code: -32005, message: "request rate exceeded" },
    },
    alone: each("request rate exceeded"),
  },
  {
    name: "limit by JSON-RPC without id",
    change: {
      request: unlessStatus({
        status: 200,
        body: json({ code: -32029, message: "Too Many Requests" }, null),
      }),
    },
    alone: each("Too Many Requests"),
  },
  {
    name: "gateway page 502",
    change: { request: always({ status: 502, body: "<html>bad gateway</html>" }) },
    alone: each("HTTP status 502"),
  },
  {
    name: "gateway error 503",
    change: {
      request: always({ status: 503, body: json({ code: -32603, message: "upstream unavailable" }) }),
    },
    alone: each("upstream unavailable"),
  },
  {
    name: "HTML with 200",
    change: { request: unlessStatus({ status: 200, body: "<html>login</html>" }) },
    alone: each("is not JSON"),
  },
  {
    name: "redirect to the same host",
    change: {
      request: ({ request }) =>
        request.url === "/moved" ? undefined : { status: 308, headers: { location: "/moved" } },
    },
  },
  {
    name: "redirect to another host",
    change: { request: always({ status: 301, headers: { location: "https://other.example/key" } }) },
    alone: each("redirects to https://other.example (HTTP status 301)"),
  },
  {
    name: "credentials by header",
    headers: { "x-api-key": "s3cret" },
    change: {
      request: ({ request }) =>
        request.headers["x-api-key"] === "s3cret" ? undefined : { status: 401, body: "" },
    },
  },
  {
    name: "credentials that are refused",
    change: { request: always({ status: 403, body: '{"error":"forbidden"}' }) },
    alone: each("HTTP status 403"),
  },
  { name: "slow", change: { delayMs: 150 } },
  { name: "compressed without being asked", change: { isGzip: true } },
  {
    name: "different heights behind one address",
    change: {
      error: (call, _known, n) =>
        n % 3 === 0 && ["commit", "validators", "abci_query"].includes(call.method) && heightOf(call) > 0n
          ? internal("height 9 must be less than or equal to the current blockchain height 8")
          : undefined,
    },
  },
  {
    name: "wrong results",
    change: {
      result: (call, result) =>
        call.method === "block_results"
          ? JSON.parse(JSON.stringify(result).replaceAll('"gas_used":"', '"gas_used":"1'))
          : withWrongProof(call, result),
    },
    alone: { KV: "the proof", TX: "its results do not match the next header" },
  },
  ...(
    [
      ["another app hash", withWrongAppHash, "has a commit that is not for its header"],
      [
        "an invalid signature",
        replaced("commit", /"signature":"..../, '"signature":"AAAA'),
        "does not verify: wrong signature",
      ],
      [
        "other validators",
        replaced("validators", /"voting_power":"/, '"voting_power":"1'),
        "is not the validator set of the header",
      ],
    ] as const
  ).map(([what, result, reason]) => ({
    name: `wrong headers: ${what}`,
    change: { result },
    alone: { KV: reason, TX: reason, "client update": reason },
  })),
  {
    name: "wrong transactions",
    change: {
      result: (call, result) =>
        replaced(
          "tx_search",
          /"tx":"..../g,
          '"tx":"AAAA',
        )(call, replaced("tx", /"tx":"..../, '"tx":"AAAA')(call, result)),
    },
    alone: { TX: "the inclusion proof of transaction" },
  },
  {
    name: "responses above the limit",
    change: {
      result: ({ method }, result) =>
        method === "block_results" ? { ...result, padding: "x".repeat(1_100_000) } : result,
    },
    alone: { TX: "exceeds 1000000 bytes" },
  },
  {
    name: "broadcasts without a confirmation",
    change: {
      error: ({ method }) =>
        method.startsWith("broadcast_")
          ? internal("broadcast confirmation not received: context canceled")
          : undefined,
    },
  },
];

/** A node of one kind. */
interface KindServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts a node of this kind: a proxy in front of a real one. */
export async function startNodeKind(
  { change }: NodeKind,
  target: string,
  known: KnownBlock,
): Promise<KindServer> {
  let requests = 0;
  const respond = async (exchange: RpcExchange): Promise<void> => {
    requests += 1;
    const n = requests;
    const { response, body } = exchange;
    if (change.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, change.delayMs));
    const refusal = change.request?.(exchange, n);
    if (refusal?.isCut === true) return void exchange.request.socket.destroy();
    if (refusal !== undefined)
      return void response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    const upstream = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = changed(await upstream.text(), callsOf(body), change, { known, n });
    const headers = {
      "content-type": "application/json",
      ...(change.isGzip === true ? { "content-encoding": "gzip" } : {}),
    };
    return void response
      .writeHead(upstream.status, headers)
      .end(change.isGzip === true ? gzipSync(text) : text);
  };
  return startRpcServer((exchange) => void respond(exchange).catch(() => exchange.request.socket.destroy()));
}

function changed(
  body: string,
  calls: readonly IdentifiedCall[],
  change: NodeChange,
  { known, n }: { readonly known: KnownBlock; readonly n: number },
): string {
  return mapResponses(body, calls, (call, response) => {
    const error = change.error?.(call, known, n);
    if (error !== undefined) return { jsonrpc: "2.0", id: response["id"], error };
    const { result } = response;
    return change.result === undefined || !isRecord(result)
      ? response
      : { ...response, result: change.result(call, result) };
  });
}
