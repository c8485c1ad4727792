import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { decodeBroadcast, decodeFound } from "../../../src/cosmos/client/tx/flights.ts";
import { createCosmjsRpcClient } from "../../../src/cosmos/client/rpc-caller.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { decodeGrpcResponse, decodeStoreResponse } from "../../../src/cosmos/client/create-chain-client.ts";
import { decodeSignedHeader, decodeValidatorsPage } from "../../../src/cosmos/client/light-block.ts";
import { decodeStatus, parseRpcResponses } from "../../../src/cosmos/client/rpc-response.ts";
import { type RecordedCall, recordedBody, recordedCalls } from "../../support/client/fixture.ts";

const calls = recordedCalls();

/** Method of a call, from its JSON-RPC request or its URI. */
function methodOf(call: RecordedCall): string {
  return call.request?.method ?? call.path?.slice(1).split("?")[0] ?? "";
}

function resultOf(call: RecordedCall): unknown {
  const [response] = parseRpcResponses(recordedBody(call), "node");
  return response !== undefined && "result" in response ? response.result : undefined;
}

/** Recorded calls of these methods that have a result. */
function withResult(...methods: readonly string[]): readonly RecordedCall[] {
  return calls.filter(
    (call) => methods.includes(methodOf(call)) && isRecord(call.response) && "result" in call.response,
  );
}

/** CosmJS' client over one recorded result. */
function cometOver(call: RecordedCall): Comet38Client {
  const caller = { call: () => Promise.resolve(resultOf(call)), close: () => {} };
  return Comet38Client.create(createCosmjsRpcClient(caller, new AbortController().signal));
}

describe("parseRpcResponses over recorded bodies", () => {
  it("parses every body or throws a ClientError", () => {
    expect(calls).toHaveLength(86);
    const kinds = calls.map((call) => {
      try {
        return parseRpcResponses(recordedBody(call), "node")
          .map((response) => ("result" in response ? "result" : `error ${response.rpcCode}`))
          .join(", ");
      } catch (error) {
        return error instanceof ClientError ? error.facts.code : "another error";
      }
    });
    const counts: Record<string, number> = {};
    for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
    expect(counts).toMatchInlineSnapshot(`
      {
        "bad-answer": 4,
        "error -32601": 2,
        "error -32602": 6,
        "error -32603": 12,
        "result": 61,
        "result, error -32601": 1,
      }
    `);
  });

  it("returns the recorded result or error", () => {
    let compared = 0;
    for (const call of calls) {
      if (!isRecord(call.response)) continue;
      const [response] = parseRpcResponses(recordedBody(call), "node");
      if (response === undefined) throw new Error("no response");
      const { error } = call.response;
      if ("result" in response) expect(response.result).toEqual(call.response["result"]);
      else if (isRecord(error))
        expect([response.rpcCode, response.data]).toEqual([error["code"], error["data"] ?? ""]);
      expect(response.id).toEqual(call.response["id"]);
      compared += 1;
    }
    expect(compared).toBe(81);
  });
});

describe("our decoders over recorded results", () => {
  it("decode every status", () => {
    const found = withResult("status");
    expect(found).toHaveLength(3);
    for (const call of found)
      expect(decodeStatus(resultOf(call), "node")).toEqual({
        version: "0.38.17",
        chainId: "test-1",
        latestHeight: 1556n,
        latestTimeNs: 1_795_263_965_360_483_943n,
        earliestHeight: 1n,
        catchingUp: false,
      });
  });

  it("decode every commit", () => {
    const commits = withResult("commit").map((call) => decodeSignedHeader(resultOf(call), "node"));
    expect(commits).toHaveLength(2);
  });

  it("decode every page of validators", () => {
    const found = withResult("validators");
    expect(found).toHaveLength(5);
    for (const call of found) {
      const result = resultOf(call);
      const height = isRecord(result) ? BigInt(String(result["block_height"])) : 0n;
      const page = decodeValidatorsPage(result, height, "node");
      expect(page.validators).toHaveLength(1);
      expect(page.total).toBe(1);
      expect(() => decodeValidatorsPage(result, height + 1n, "node")).toThrow(ClientError);
    }
  });

  it("decode every abci_query, as a store read and as a gRPC query", () => {
    const found = withResult("abci_query");
    expect(found).toHaveLength(11);
    let refused = 0;
    for (const call of found) {
      const read = decodeStoreResponse(resultOf(call), "node");
      if (read.code === 0) {
        const { height, value = new Uint8Array(0) } = read;
        const decode = (atLeast: bigint): Uint8Array =>
          decodeGrpcResponse(resultOf(call), { path: "/path", height: { atLeast } }, "node");
        expect(decode(height)).toEqual(value);
        // Real nodes say which height they have read.
        expect(height).toBeGreaterThan(0n);
        expect(() => decode(height + 1n)).toThrow(`it returned the state at height ${height}`);
        continue;
      }
      refused += 1;
      expect(() => decodeGrpcResponse(resultOf(call), { path: "/path", height: 0n }, "node")).toThrow(
        read.log,
      );
    }
    expect(refused).toBe(4);
  });

  it("decode every transaction and every broadcast", () => {
    const found = withResult("tx").map((call) => decodeFound(resultOf(call), "node"));
    expect(found).toHaveLength(3);
    for (const tx of found) expect(tx).toMatchObject({ kind: "included", height: 1553n });
    const broadcasts = withResult("broadcast_tx_sync", "broadcast_tx_async");
    expect(broadcasts.map((call) => decodeBroadcast(resultOf(call), "node").kind)).toEqual([
      "accepted",
      "refused",
      "refused",
    ]);
  });
});

describe("CosmJS' client over our caller", () => {
  const decoders: Readonly<Record<string, (comet: Comet38Client) => Promise<unknown>>> = {
    abci_info: (comet) => comet.abciInfo(),
    abci_query: (comet) => comet.abciQuery({ path: "/path", data: new Uint8Array([1]) }),
    block: (comet) => comet.block(),
    block_by_hash: (comet) => comet.block(),
    block_results: (comet) => comet.blockResults(),
    block_search: (comet) => comet.blockSearch({ query: "block.height>1" }),
    blockchain: (comet) => comet.blockchain(),
    broadcast_tx_async: (comet) => comet.broadcastTxAsync({ tx: fromBase64("AAAA") }),
    broadcast_tx_commit: (comet) => comet.broadcastTxCommit({ tx: fromBase64("AAAA") }),
    broadcast_tx_sync: (comet) => comet.broadcastTxSync({ tx: fromBase64("AAAA") }),
    commit: (comet) => comet.commit(),
    health: (comet) => comet.health(),
    num_unconfirmed_txs: (comet) => comet.numUnconfirmedTxs(),
    status: (comet) => comet.status(),
    tx: (comet) => comet.tx({ hash: new Uint8Array(32) }),
    tx_search: (comet) => comet.txSearch({ query: "tx.height>1" }),
    validators: (comet) => comet.validators({ height: 1 }),
  };

  it("decodes every recorded result of the methods that it knows", async () => {
    const errors: string[] = [];
    let decoded = 0;
    for (const [method, decode] of Object.entries(decoders))
      for (const call of withResult(method)) {
        decoded += 1;
        await decode(cometOver(call)).catch((error: unknown) => errors.push(`${method}: ${String(error)}`));
      }
    expect(errors).toEqual([]);
    // 61 results less those of methods that CosmJS lacks (8) and of raw request texts (3).
    expect(decoded).toBe(50);
  });
});
