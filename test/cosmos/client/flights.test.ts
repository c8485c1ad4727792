import { describe, expect, it } from "vitest";
import type { PooledChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { createEndpointPool } from "../../../src/cosmos/client/endpoint-pool.ts";
import { ClientError, type ClientErrorFacts } from "../../../src/cosmos/client-error.ts";
import {
  broadcastTransaction,
  type Flight,
  confirmFlights,
  decodeFound,
} from "../../../src/cosmos/client/tx/flights.ts";
import { sha256, toBase64, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { blockResult } from "../../support/client/rpc-server.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;

const rpcError = (data: string, rpcCode = -32603): ClientError =>
  new ClientError({ code: "rpc", endpoint: "fake", method: "tx", rpcCode, data }, data);
const unreachable = new ClientError({ code: "unreachable", endpoint: "fake", reason: "ECONNRESET" }, "down");
const notFound = rpcError("tx (00) not found");
const lacking = rpcError("height 120 must be less than or equal to the current blockchain height 119");

const isList = (value: unknown): value is readonly Uint8Array[] => Array.isArray(value);

/** Responses of CheckTx, and errors of the call. */
const ACCEPTED = { code: 0 };
const NO_FUNDS = { code: 5, codespace: "sdk", log: "insufficient funds" };
const USED = {
  code: 32,
  codespace: "sdk",
  log: "account sequence mismatch, expected 41, got 40: incorrect account sequence",
};
const INCLUDED = { height: "101", tx_result: { code: 0, gas_used: "1", gas_wanted: "2" } };

type Response = ClientError | Readonly<Record<string, unknown>>;

/** Flights that were broadcast at height 100. The node responds to look-ups with `found`, and to broadcasts with `checks` in order. */
function setUp(count = 1) {
  const clock = createManualClock(0);
  const flight = (index: number): Flight => ({
    tx: {
      hash: sha256(Uint8Array.of(index)),
      sequence: 40n + BigInt(index),
      size: 1,
      gasLimit: 1n,
      feeAmount: 1n,
    },
    bytes: Uint8Array.of(index),
    timeoutHeight: 120n,
    deadlineMs: 90_000,
    checkedAt: 100n,
    refused: undefined,
  });
  let flights: readonly Flight[] = Array.from({ length: count }, (_, index) => flight(index));
  const node = {
    found: notFound as Response,
    checks: [] as Response[],
    broadcasts: 0,
    /** Transactions by height. */
    blocks: new Map<string, readonly Uint8Array[] | Response>(),
    reads: [] as string[],
  };
  const call = (method: string, { height = "" }: Readonly<Record<string, unknown>> = {}): Response => {
    if (method === "tx") return node.found;
    if (method === "block") {
      node.reads.push(String(height));
      const txs = node.blocks.get(String(height));
      if (txs === undefined && node.blocks.size === 0) return blockResult([]);
      if (txs === undefined) return unreachable;
      return isList(txs) ? blockResult(txs) : txs;
    }
    if (method === "block_results")
      return {
        txs_results: [
          { code: 5, log: "other" },
          { code: 0, gas_used: "7", gas_wanted: 9 },
        ],
      };
    node.broadcasts += 1;
    return node.checks.shift() ?? ACCEPTED;
  };
  const pool: PooledChainClient["pool"] = {
    read: async ({ method, params, decode }) => {
      const response = call(method, params);
      if (response instanceof ClientError) throw response;
      return decode(response, "fake");
    },
    call: async (method) => call(method),
    run: () => expect.unreachable("an account makes one call at a time"),
    check: async () => [],
    health: () => [],
    order: () => [],
    distrust: () => {},
    close: () => {},
  };
  /** Returns the outcome of each flight that is final, and the number of those that are not. */
  const confirm = async (height: bigint, isUncertain = false) => {
    const deps = { client: { pool }, clock };
    const { finals, remaining } = await confirmFlights(flights, { height, isUncertain }, deps, signal);
    flights = remaining;
    const texts = finals.map(({ confirmation }) =>
      confirmation.kind === "lost" ? confirmation.reason : confirmation.kind,
    );
    return [...texts, ...remaining.map(() => "in flight")];
  };
  return { clock, node, confirm };
}

describe("a flight that is in no block", () => {
  it("is broadcast again after two blocks, or after one when a node may have dropped it", async () => {
    const sure = setUp();
    for (const height of [101n, 102n, 103n, 104n]) await sure.confirm(height);
    expect(sure.node.broadcasts).toBe(2);
    const unsure = setUp();
    for (const height of [101n, 102n]) await unsure.confirm(height, true);
    expect(unsure.node.broadcasts).toBe(2);
  });

  it("is lost when two blocks after its timeout height it is still not indexed", async () => {
    const { confirm } = setUp();
    expect(await confirm(122n)).toEqual(["in flight"]);
    expect(await confirm(123n)).toEqual(["not in a block up to its timeout height 120"]);
  });

  it("is lost at its deadline while the chain halts", async () => {
    const { clock, confirm } = setUp();
    await clock.advance(89_999);
    expect(await confirm(100n)).toEqual(["in flight"]);
    await clock.advance(1);
    expect(await confirm(100n)).toEqual(["not in a block before its deadline"]);
  });

  it("is lost when the height falls by more than endpoints differ", async () => {
    const { confirm } = setUp();
    expect(await confirm(80n)).toEqual(["in flight"]);
    expect(await confirm(79n)).toEqual(["the chain was reset"]);
  });

  it("is kept while the node cannot say whether it is in a block, even after its timeout height", async () => {
    const { node, confirm } = setUp();
    node.found = unreachable;
    expect(await confirm(200n)).toEqual(["in flight"]);
    expect(node.broadcasts).toBe(0);
    node.found = INCLUDED;
    expect(await confirm(200n)).toEqual(["included"]);
  });

  it("is broadcast alone: those behind a flight that is alive are in the same mempool", async () => {
    const { node, confirm } = setUp(3);
    expect(await confirm(102n)).toEqual(["in flight", "in flight", "in flight"]);
    expect(node.broadcasts).toBe(1);
  });

  it("makes room for the next one to be broadcast when it is lost", async () => {
    const { node, confirm } = setUp(3);
    const log = "account sequence mismatch, expected 39, got 40: incorrect account sequence";
    node.checks.push({ ...USED, log });
    expect(await confirm(102n)).toEqual([`sdk/32: ${log}`, "in flight", "in flight"]);
    expect(node.broadcasts).toBe(2);
  });
});

describe("a flight that the node refuses to take again", () => {
  it.each([
    ["before it looks at the sequence", NO_FUNDS],
    ["since its sequence is used", USED],
  ])("%s is lost after two blocks, in which it could have been indexed", async (_why, refusal) => {
    const { node, confirm } = setUp();
    node.checks.push(refusal, refusal, refusal);
    for (const height of [102n, 103n]) expect(await confirm(height)).toEqual(["in flight"]);
    expect(await confirm(104n)).toEqual([`sdk/${refusal.code}: ${refusal.log}`]);
  });

  it.each([
    ["for want of funds first and for its sequence later", NO_FUNDS, USED],
    ["for its sequence first and for want of funds later", USED, NO_FUNDS],
  ])("%s is lost two blocks after the later kind began", async (_why, first, later) => {
    const { node, confirm } = setUp();
    node.checks.push(first, later, later, later);
    for (const height of [102n, 103n, 104n]) expect(await confirm(height)).toEqual(["in flight"]);
    expect(await confirm(105n)).toEqual([`sdk/${later.code}: ${later.log}`]);
  });

  it.each([
    ["takes it", ACCEPTED],
    ["has it in its cache", rpcError("tx already exists in cache")],
    ["does not respond", unreachable],
    ["has a full mempool", rpcError("mempool is full: number of txs 5000")],
  ])("counts from the beginning after the node %s meanwhile", async (_what, between) => {
    const { node, confirm } = setUp();
    node.checks.push(NO_FUNDS, between, NO_FUNDS, NO_FUNDS, NO_FUNDS);
    // 102: refused; 103: not refused; two blocks later it is overdue again.
    for (const height of [102n, 103n, 104n, 105n, 106n]) expect(await confirm(height)).toEqual(["in flight"]);
    expect(await confirm(107n)).toEqual(["sdk/5: insufficient funds"]);
  });

  it("is lost at once when no other try can succeed", async () => {
    const { node, confirm } = setUp();
    const reason = "error converting json params to arguments: illegal base64 data";
    node.checks.push(rpcError(reason, -32602));
    expect(await confirm(102n)).toEqual([reason]);
  });
});

describe("a transaction that failed in its block", () => {
  const failed = (events: readonly unknown[] | null) =>
    decodeFound(
      {
        height: "7",
        tx_result: { code: 32, codespace: "sdk", log: "no", gas_used: "5", gas_wanted: "9", events },
      },
      "node",
    );

  it("has cost its fee when the ante handler left events", () =>
    expect(failed([{ type: "tx", attributes: [] }])).toEqual({
      kind: "failed",
      height: 7n,
      code: 32,
      codespace: "sdk",
      log: "no",
      gasUsed: 5n,
    }));

  it("has cost nothing when the ante handler refused it", () => {
    expect(failed([])).toMatchObject({ kind: "failed", isUnpaid: true });
    expect(failed(null)).toMatchObject({ isUnpaid: true });
  });
});

describe("a flight on a node without a transaction index", () => {
  const noIndex = (): ReturnType<typeof setUp> => {
    const world = setUp();
    world.node.found = rpcError("the TxIndexer.Get method is not supported");
    return world;
  };

  it("is found in its block, and each block is read once", async () => {
    const { node, confirm } = noIndex();
    node.blocks.set("101", []).set("102", [Uint8Array.of(9), Uint8Array.of(0)]);
    expect(await confirm(101n)).toEqual(["in flight"]);
    expect(await confirm(102n)).toEqual(["included"]);
    expect(node.reads).toEqual(["101", "102"]);
  });

  it("is lost after its timeout height, when all blocks up to there were read", async () => {
    const { node, confirm } = noIndex();
    for (let height = 101; height <= 119; height++) node.blocks.set(`${height}`, []);
    expect(await confirm(124n)).toEqual(["in flight"]);
    node.blocks.set("120", []);
    expect(await confirm(124n)).toEqual(["not in a block up to its timeout height 120"]);
    expect(node.reads).not.toContain("121");
  });

  it.each([
    ["cannot be read", unreachable],
    ["lacks transactions", { block: { header: { data_hash: toHex(sha256(utf8("a"))) }, data: { txs: [] } } }],
  ])("stays in flight while a block %s", async (_what, response) => {
    const { node, confirm } = noIndex();
    for (let height = 101; height <= 120; height++) node.blocks.set(`${height}`, []);
    node.blocks.set("105", response);
    expect(await confirm(130n)).toEqual(["in flight"]);
    expect(node.broadcasts).toBe(0);
  });
});

describe("a flight that an index does not have", () => {
  it("is not lost while its block is lacking where a node is behind", async () => {
    const { node, confirm } = setUp();
    for (let height = 101; height <= 120; height++) node.blocks.set(`${height}`, []);
    node.blocks.set("120", lacking);
    expect(await confirm(123n)).toEqual(["in flight"]);
    // Much later it is pruned.
    expect(await confirm(141n)).toEqual(["not in a block up to its timeout height 120"]);
  });

  it("is not lost when a block has it", async () => {
    const { node, confirm } = setUp();
    for (let height = 101; height <= 120; height++) node.blocks.set(`${height}`, []);
    node.blocks.set("110", [Uint8Array.of(1), Uint8Array.of(0)]);
    expect(await confirm(123n)).toEqual(["included"]);
  });
});

const method = "broadcast_tx_sync";
const refusedConnection = { code: "unreachable", endpoint: "fake", reason: "ECONNREFUSED", method } as const;
const cut = { code: "unreachable", endpoint: "fake", reason: "ECONNRESET", method } as const;
const isFull = { code: "rpc", endpoint: "fake", method, rpcCode: -32603, data: "mempool is full" } as const;
const inCache = { ...isFull, data: "tx already exists in cache" } as const;

/** What the endpoints respond, in order, and the outcome; "error": the broadcast rejects, so no mempool has the transaction. */
const BROADCASTS: readonly (readonly [
  text: string,
  responses: readonly (ClientErrorFacts | typeof ACCEPTED)[],
  outcome: string,
])[] = [
  ["a cut", [cut], "unclear"],
  ["a cut, then a refusal of the sequence", [cut, USED], "unclear"],
  ["a cut, then any refusal", [cut, NO_FUNDS], "unclear"],
  ["a cut, then a full mempool", [cut, isFull], "unclear"],
  ["a full mempool, then a cut", [isFull, cut], "unclear"],
  ["a cut, then the cache of a mempool", [cut, inCache], "accepted"],
  ["a cut, then an acceptance", [cut, ACCEPTED], "accepted"],
  [
    "a cut without a method",
    [{ code: "unreachable", endpoint: "fake", reason: "down" }, NO_FUNDS],
    "unclear",
  ],
  ["a timeout", [{ code: "timeout", endpoint: "fake", method, afterMs: 1 }, NO_FUNDS], "unclear"],
  ["a gateway's status", [{ code: "http-status", endpoint: "fake", status: 502, method }, USED], "unclear"],
  [
    "a response that is missing",
    [{ code: "bad-answer", endpoint: "fake", where: "x", method }, USED],
    "unclear",
  ],
  ["a response that is too large", [{ code: "too-large", endpoint: "fake", limitBytes: 1 }, USED], "unclear"],
  ["a refused connection, then a refusal", [refusedConnection, NO_FUNDS], "refused"],
  ["a status without response, then a refusal", [{ ...cut, method: "status" }, NO_FUNDS], "refused"],
  [
    "a limit, then a refusal",
    [{ code: "http-status", endpoint: "fake", status: 429, method }, USED],
    "refused",
  ],
  ["refused connections", [refusedConnection, refusedConnection], "error"],
  ["full mempools", [isFull, isFull], "error"],
];

describe("a broadcast to several endpoints", () => {
  it.each(BROADCASTS)("that has %s", async (_text, responses, outcome) => {
    const sent: unknown[] = [];
    const pool = createEndpointPool(
      responses.map((response, index) => ({
        name: `endpoint ${index}`,
        read: async (request) => {
          sent.push(request.params["tx"]);
          if (typeof response.code === "string") throw new ClientError(response, "failed");
          return "run" in request ? expect.unreachable() : request.decode(response, "fake");
        },
        verify: () => Promise.reject(new Error("not used")),
        probe: () => {},
        isSilent: () => false,
        restMs: () => 0,
        distrust: () => {},
        health: () => ({
          name: `endpoint ${index}`,
          state: "good",
          failures: 0,
          lastError: undefined,
          status: undefined,
          latencyMs: undefined,
          distrusted: undefined,
        }),
        close: () => {},
      })),
    );
    const ended = await broadcastTransaction(pool, Uint8Array.of(7), signal).catch(() => ({ kind: "error" }));
    expect(ended.kind).toBe(outcome);
    expect(sent).toEqual(responses.map(() => toBase64(Uint8Array.of(7))));
  });
});
