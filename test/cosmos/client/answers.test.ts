import { describe, expect, it } from "vitest";
import {
  type Answer,
  type AnswerClass,
  answerOf,
  type Lack,
  readAnswer,
} from "../../../src/cosmos/client/answers.ts";
import { ClientError, type ClientErrorFacts } from "../../../src/cosmos/client-error.ts";

const endpoint = "node";

function rpc(method: string, rpcCode: number, text: string, status = 200): ClientError {
  // CometBFT has its detail in `data`, gateways have it in `message`.
  const [message = "", data = ""] = text.includes("|") ? text.split("|") : ["Internal error", text];
  return new ClientError({ code: "rpc", endpoint, method, rpcCode, message, data, status }, text);
}

/** What a JSON-RPC error with this text means for this method. */
type TextRow = readonly [method: string, rpcCode: number, text: string, lack: Lack | undefined];

const HEIGHTS: readonly TextRow[] = (
  [
    // CometBFT and Tendermint 0.34 to 1.0.
    ["commit", "height 9 must be less than or equal to the current blockchain height 8"],
    ["commit", "height 1 is not available, lowest height is 5"],
    [
      "commit",
      "height must be less than or equal to the head of the node's blockchain (requested height: 9, blockchain height: 8)",
    ],
    ["block_results", "could not find results for height #21835191"],
    ["block_results", "could not find FinalizeBlock responses for height #177879394"],
    ["block_results", "could not find ABCI responses for height 7"],
    ["validators", "could not find validator set for height #5"],
    ["validators", "couldn't find validators at height 5"],
    ["validators", "no validator set found for height 5"],
    ["consensus_params", "could not find consensus params for height #5"],
    ["block", "block at height 5 not found"],
    ["block", "block not found"],
    ["block", "unable to find block at height 5"],
    ["header", "header at height 5 not found"],
    ["commit", "commit for height 5 not found"],
    ["commit", "no commit found for height 5"],
    ["commit", "light block not found"],
    ["block", "block has been pruned"],
    ["block", "height 5 has been pruned, the earliest is 9"],
    ["block", "requested height is too high"],
    ["block", "the block is not yet available"],
    ["abci_query", "cannot query with height in the future; please provide a valid height"],
    ["abci_query", "failed to load state at height 5; version does not exist (latest height: 9)"],
    [
      "abci_query",
      "version mismatch on immutable IAVL tree; version does not exist. Version has either been pruned, or is for a future block height",
    ],
    ["block", "failed to load block meta for height 5: unable to load block"],
  ] as const
).map(([method, text]) => [method, -32603, text, "height"]);

const LACKS: readonly TextRow[] = [
  ["block_results", -32603, "node is not persisting finalize block responses", "results"],
  ["block_results", -32603, "node is not persisting abci responses", "results"],
  ["block_results", -32603, "ABCI responses are discarded", "results"],
  ["tx_search", -32603, "transaction indexing is disabled", "index"],
  ["tx", -32603, "transaction indexing is disabled", "index"],
  ["tx_search", -32603, "the TxIndexer.Search method is not supported", "index"],
  ["tx", -32603, "the TxIndexer.Get method is not supported", "index"],
  ["tx_search", -32603, "TxSearch is not supported via the postgres event sink", "index"],
  ["tx_search", -32603, "transaction searching is disabled due to no kvEventSink", "index"],
  ["tx", -32603, "transaction querying is disabled due to no kvEventSink", "index"],
  ["tx", -32603, "tx (47DE) not found", "transaction"],
  ["tx", -32603, "tx not found", "transaction"],
  ["header", -32601, "Method not found|", "method"],
  ["tx_search", -32603, "method tx_search is disabled on this endpoint|", "method"],
  ["tx_search", -32000, "the method tx_search does not exist/is not available|", "method"],
  ["tx_search", -32000, "rpc method is not whitelisted|", "method"],
  ["tx_search", -32000, "unauthorized: invalid api key|", "access"],
  ["status", -32600, "Invalid Request|batch request exceeds maximum (2) allowed number of requests", "batch"],
  ["status", -32600, "batch too large|", "batch"],
  ["status", -32600, "Batch size too large|", "batch"],
  ["status", -32600, "batch requests are not supported|", "batch"],
  ["status", -32600, "batch limit exceeded|", "batch"],
  ["status", -32600, "too many requests in batch|", "batch"],
  ["status", -32010, "The batch request was too large|Exceeded max limit of 5", "batch"],
  [
    "status",
    -32600,
    "Invalid Request|error reading request body: http: request body too large",
    "request-size",
  ],
  ["status", -32600, "payload too large|", "request-size"],
  ["block_results", -32603, "response too large|", "response-size"],
  ["block_results", -32008, "Response is too big|Exceeded max limit of 1000", "response-size"],
  ["block_results", -32603, "grpc: received message larger than max (5 vs. 4)", "response-size"],
  ["block_results", -32603, "something that nobody has seen", undefined],
  ["abci_query", -31999, "something that nobody has seen", undefined],
  ["tx_search", -32602, "an argument that this gateway does not like|", undefined],
];

const NOT_NOW: readonly TextRow[] = (
  [
    [-32005, "request rate exceeded|"],
    [-32005, "rate limit exceeded, retry in 10s|"],
    [-32029, "Too Many Requests|"],
    [-32097, "|rate exceeded"],
    [-32012, "credits limited to 6000/sec|"],
    [-32007, "50/second request limit reached - reduce calls per second or upgrade your account|"],
    [429, "Your app has exceeded its compute units per second capacity|"],
    [-32000, "daily request count exceeded, request rate limited|"],
    [-32603, "You have reached your monthly quota|"],
    [-32000, "too many concurrent requests|"],
    [1015, "rate limited|"],
    [-32603, "endpoint is closed while node is catching up"],
    [-32000, "node is syncing|"],
    [-32603, "upstream unavailable|"],
    [-32603, "no healthy upstream|"],
    [-32603, "context deadline exceeded"],
    [-32603, "server is busy|"],
    [-32603, 'post failed: Post "http://127.0.0.1:26657": EOF'],
  ] as const
).map(([code, text]) => ["abci_query", code, text, undefined]);

const FINAL: readonly TextRow[] = [
  ["commit", -32603, "height must be greater than 0, but got 0", undefined],
  ["tx_search", -32603, 'got "<", wanted: offset 12: unexpected token', undefined],
  ["tx_search", -32603, "maximum query length exceeded", undefined],
  ["tx_search", -32603, "failed to parse query: syntax error", undefined],
  [
    "abci_query",
    -32602,
    "Invalid params|error converting json params to arguments: illegal base64",
    undefined,
  ],
  ["broadcast_tx_sync", -32603, "tx too large. Max size is 1048576, but got 2000000", undefined],
];

/** Of a broadcast: may it have arrived? */
const BROADCASTS: readonly (readonly [AnswerClass, ClientErrorFacts])[] = [
  ["perhaps-done", broadcastError(-32603, "tx already exists in cache")],
  ["perhaps-done", broadcastError(-32603, "broadcast confirmation not received: context canceled")],
  ["perhaps-done", broadcastError(-32603, "timed out waiting for tx to be included in a block")],
  ["perhaps-done", broadcastError(-32603, "upstream connection error", 502)],
  ["perhaps-done", broadcastError(-32603, "something that nobody has seen")],
  ["perhaps-done", { code: "timeout", endpoint, method: "broadcast_tx_sync", afterMs: 1 }],
  ["perhaps-done", { code: "unreachable", endpoint, reason: "ECONNRESET", method: "broadcast_tx_sync" }],
  ["perhaps-done", { code: "http-status", endpoint, status: 502, method: "broadcast_tx_sync" }],
  ["perhaps-done", { code: "bad-answer", endpoint, where: "body", method: "broadcast_tx_sync" }],
  ["perhaps-done", { code: "bad-answer", endpoint, where: "broadcast_tx_sync.code" }],
  // Refused before it was read: it is in no mempool.
  ["not-now", { code: "unreachable", endpoint, reason: "ECONNREFUSED", method: "broadcast_tx_sync" }],
  ["not-now", { code: "http-status", endpoint, status: 429, method: "broadcast_tx_sync" }],
  ["not-here", { code: "http-status", endpoint, status: 403, method: "broadcast_tx_sync" }],
  ["not-now", broadcastError(-32603, "mempool is full: number of txs 5000 (max: 5000)")],
  ["not-now", broadcastError(-32603, "mempool of this kind is full: 5000 transactions")],
  ["not-now", broadcastError(-32005, "request rate exceeded")],
  ["not-here", broadcastError(-32601, "Method not found")],
];

function broadcastError(rpcCode: number, data: string, status = 200): ClientErrorFacts {
  return { code: "rpc", endpoint, method: "broadcast_tx_sync", rpcCode, data, status };
}

const OTHERS: readonly (readonly [Answer, ClientErrorFacts])[] = [
  [{ class: "not-now" }, { code: "unreachable", endpoint, reason: "ECONNREFUSED" }],
  [{ class: "not-now" }, { code: "timeout", endpoint, method: "status", afterMs: 1 }],
  [{ class: "not-now" }, { code: "http-status", endpoint, status: 503 }],
  [{ class: "not-now" }, { code: "http-status", endpoint, status: 429 }],
  [
    { class: "not-now", retryAfterMs: 7_000 },
    { code: "http-status", endpoint, status: 429, retryAfterMs: 7_000 },
  ],
  [{ class: "not-now" }, { code: "http-status", endpoint, status: 522 }],
  [
    { class: "not-here", lack: "access" },
    { code: "http-status", endpoint, status: 401 },
  ],
  [
    { class: "not-here", lack: "method" },
    { code: "http-status", endpoint, status: 404 },
  ],
  [
    { class: "not-here", lack: "response-size" },
    { code: "too-large", endpoint, limitBytes: 1 },
  ],
  [
    { class: "not-here", lack: "request-size" },
    { code: "http-status", endpoint, status: 413 },
  ],
  [{ class: "not-now" }, { code: "bad-answer", endpoint, where: "body" }],
  [{ class: "not-here" }, { code: "bad-answer", endpoint, where: "block_results.txs_results[0].code" }],
  [{ class: "wrong" }, { code: "wrong-answer", endpoint, where: "block_results" }],
  [
    { class: "not-here", lack: "height" },
    { code: "height-unavailable", endpoint, height: 5n },
  ],
  [{ class: "not-now" }, { code: "overloaded", endpoint, limit: 1 }],
  [{ class: "not-here" }, { code: "wrong-chain", endpoint, expected: "a", found: "b" }],
  [
    { class: "final" },
    { code: "abci", path: "/a", abciCode: 4, codespace: "store", log: "contract: not found" },
  ],
  [
    { class: "not-here", lack: "height" },
    {
      code: "abci",
      path: "/a",
      abciCode: 38,
      codespace: "sdk",
      log: "failed to load state at height 3724044; version mismatch on immutable IAVL tree; version does not exist",
    },
  ],
  [
    { class: "not-now" },
    {
      code: "abci",
      path: "/a",
      abciCode: 26,
      codespace: "sdk",
      log: "GaiaApp is not ready; please wait for first block",
    },
  ],
  [{ class: "not-now" }, { code: "no-account", address: "a" }],
  [{ class: "not-now" }, { code: "gas-price-above-cap", denom: "untrn", price: "2", cap: "1" }],
  [{ class: "final" }, { code: "bad-key", kind: "mnemonic" }],
  [{ class: "final" }, { code: "bad-endpoint", endpoint }],
  [{ class: "final" }, { code: "closed" }],
];

describe("answerOf", () => {
  it.each([...HEIGHTS, ...LACKS])("%s (%i) %s: this node cannot", (method, code, text, lack) => {
    const { class: found, lack: foundLack } = readAnswer(rpc(method, code, text));
    expect([found, foundLack]).toEqual(["not-here", lack]);
  });

  it.each(NOT_NOW)("%s (%i) %s: not now", (method, code, text) => {
    expect(readAnswer(rpc(method, code, text))).toMatchObject({ class: "not-now" });
  });

  it.each(FINAL)("%s (%i) %s: final", (method, code, text) => {
    expect(answerOf(rpc(method, code, text))).toBe("final");
  });

  it.each(BROADCASTS)("a broadcast is %s after case %#", (expected, facts) => {
    expect(answerOf(new ClientError(facts, "text"))).toBe(expected);
  });

  it.each(OTHERS)("is right for case %#", (expected, facts) => {
    expect(readAnswer(new ClientError(facts, "text"))).toEqual(expected);
  });

  it("decides an unknown text by the HTTP status, and takes when to ask again from a text", () => {
    expect(answerOf(rpc("status", -32603, "what is this", 503))).toBe("not-now");
    expect(answerOf(rpc("status", -32603, "what is this", 500))).toBe("not-here");
    expect(readAnswer(rpc("status", -32005, "rate limit exceeded, retry in 10s|")).retryAfterMs).toBe(10_000);
    expect(readAnswer(rpc("status", -32005, 'limit|{"try_again_in":"250.5ms"}')).retryAfterMs).toBe(250.5);
    expect(readAnswer(rpc("status", -32005, "limit|retry after 90000 s")).retryAfterMs).toBe(600_000);
  });

  it("compares the beginning of a text: a node can send one of any length, and the time would grow with its square", () => {
    expect(answerOf(rpc("tx", -32603, `rate limit exceeded ${"max ".repeat(500_000)}`))).toBe("not-now");
    expect(answerOf(rpc("tx", -32603, `${"max ".repeat(500_000)} rate limit exceeded`))).toBe("not-here");
  });

  it("takes an error that the client did not throw for final", () => {
    expect(answerOf(new TypeError("bug"))).toBe("final");
    expect(answerOf(new Error("lowest height is 5"))).toBe("final");
  });
});
