import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBase64, utf8 } from "../../../../../src/platform/base/bytes.ts";
import {
  BroadcastMode,
  BroadcastTxRequest,
  BroadcastTxResponse,
  GetBlockWithTxsRequest,
  GetBlockWithTxsResponse,
  GetTxRequest,
  GetTxResponse,
  GetTxsEventRequest,
  GetTxsEventResponse,
  OrderBy,
  SimulateRequest,
  TxDecodeRequest,
  TxDecodeResponse,
  TxEncodeRequest,
  TxEncodeResponse,
} from "../../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../../support/grpc-client.ts";
import { type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";
import { recordedTxBase64 } from "../../../../support/recorded-rest.ts";

const TX = "/cosmos.tx.v1beta1.Service";
const TX_HASH = "C42722E64CE5BFFB5FB59BFA3E66B16C79DF96BA35CE32F759785EBD4A030C02";
const NOTHING = new Uint8Array(0);

let node: RecordedNode;
let client: GrpcTestClient;

beforeAll(async () => {
  node = await startRecordedNode();
  client = createGrpcTestClient(node.grpcAddress);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

describe("cosmos.tx.v1beta1.Service", () => {
  const tx = fromBase64(recordedTxBase64());

  it("finds a transaction by its hash in either case, and reports an unknown one", async () => {
    for (const hash of [TX_HASH, TX_HASH.toLowerCase()]) {
      const { value } = await client.call(`${TX}/GetTx`, GetTxRequest.encode({ hash }).finish());
      const { txResponse } = GetTxResponse.decode(value);
      expect(txResponse).toMatchObject({
        txhash: TX_HASH,
        height: 12n,
        code: 0,
        timestamp: "2026-11-21T12:26:02Z",
      });
      expect(txResponse?.events.map(({ type }) => type)).toContain("update_client");
    }
    const absent = "00".repeat(32);
    await expect(
      client.call(`${TX}/GetTx`, GetTxRequest.encode({ hash: absent }).finish()),
    ).rejects.toMatchObject({
      code: 5,
      details: `tx not found: ${absent}`,
    });
    await expect(client.call(`${TX}/GetTx`, NOTHING)).rejects.toMatchObject({
      code: 3,
      details: "tx hash cannot be empty",
    });
    await expect(
      client.call(`${TX}/GetTx`, GetTxRequest.encode({ hash: "xy" }).finish()),
    ).rejects.toMatchObject({
      code: 2,
      details: "encoding/hex: invalid byte: U+0078 'x'",
    });
  });

  const search = { events: [], pagination: undefined, page: 0n, limit: 0n, orderBy: OrderBy.ORDER_BY_DESC };

  it("searches by events", async () => {
    const query = "message.action='/ibc.core.client.v1.MsgUpdateClient'";
    const request = GetTxsEventRequest.encode({ ...search, query }).finish();
    const found = GetTxsEventResponse.decode((await client.call(`${TX}/GetTxsEvent`, request)).value);
    expect(found.total).toBe(1n);
    expect(found.txs).toHaveLength(1);
    expect(found.txResponses.map(({ txhash }) => txhash)).toEqual([TX_HASH]);
  });

  it.each([
    [
      { query: "tx.height=12", page: 2n },
      "failed to search for txs: page should be within [1, 1] range, given 2",
    ],
    [{ query: `a='${"b".repeat(600)}'` }, "failed to search for txs: maximum query length exceeded"],
    [{ query: "" }, "query cannot be empty"],
  ])("refuses a search, case %#", async (wish, details) => {
    const request = GetTxsEventRequest.encode({ ...search, ...wish }).finish();
    await expect(client.call(`${TX}/GetTxsEvent`, request)).rejects.toMatchObject({ code: 13, details });
  });

  it("returns a block with its transactions", async () => {
    const of = (height: bigint): Uint8Array =>
      GetBlockWithTxsRequest.encode({ height, pagination: undefined }).finish();
    const { value } = await client.call(`${TX}/GetBlockWithTxs`, of(12n));
    const answer = GetBlockWithTxsResponse.decode(value);
    expect(answer.txs).toHaveLength(1);
    expect(answer.block?.data?.txs).toHaveLength(1);
    expect(answer.pagination?.total).toBe(1n);
    await expect(client.call(`${TX}/GetBlockWithTxs`, of(13n))).rejects.toMatchObject({
      code: 2,
      details:
        "codespace sdk code 26: invalid height: requested height 13 but height must not be less than 1 or greater than the current height 12",
    });
  });

  it("pages through a block's transactions from either end", async () => {
    const page = { key: NOTHING, offset: 1n, limit: 1n, countTotal: false, reverse: true };
    const request = GetBlockWithTxsRequest.encode({ height: 12n, pagination: page }).finish();
    await expect(client.call(`${TX}/GetBlockWithTxs`, request)).rejects.toMatchObject({
      details:
        "codespace sdk code 18: invalid request: out of range: cannot paginate 1 txs with offset 1 and limit 1",
    });
  });

  it("decodes and encodes to the same bytes", async () => {
    const decoded = await client.call(`${TX}/TxDecode`, TxDecodeRequest.encode({ txBytes: tx }).finish());
    const again = TxEncodeRequest.encode({ tx: TxDecodeResponse.decode(decoded.value).tx }).finish();
    const encoded = await client.call(`${TX}/TxEncode`, again);
    expect(Buffer.from(TxEncodeResponse.decode(encoded.value).txBytes).equals(Buffer.from(tx))).toBe(true);
    await expect(
      client.call(`${TX}/TxDecode`, TxDecodeRequest.encode({ txBytes: utf8("x") }).finish()),
    ).rejects.toMatchObject({
      code: 2,
      details: expect.stringContaining("codespace sdk code 2: tx parse error"),
    });
  });

  it("broadcasts as the SDK does", async () => {
    const send = async (txBytes: Uint8Array, mode: BroadcastTxRequest["mode"]) => {
      const request = BroadcastTxRequest.encode({ txBytes, mode }).finish();
      return BroadcastTxResponse.decode((await client.call(`${TX}/BroadcastTx`, request)).value).txResponse;
    };
    expect(await send(tx, BroadcastMode.BROADCAST_MODE_SYNC)).toMatchObject({ code: 19, codespace: "sdk" });
    expect(await send(utf8("garbage"), BroadcastMode.BROADCAST_MODE_ASYNC)).toMatchObject({
      code: 0,
      rawLog: "",
    });
    expect(await send(new Uint8Array(2 ** 20 + 1), BroadcastMode.BROADCAST_MODE_SYNC)).toMatchObject({
      code: 21,
    });
    await expect(send(tx, BroadcastMode.BROADCAST_MODE_BLOCK)).rejects.toMatchObject({
      code: 2,
      details: "unsupported return type unspecified; supported types: sync, async",
    });
    await expect(send(NOTHING, BroadcastMode.BROADCAST_MODE_SYNC)).rejects.toMatchObject({
      code: 3,
      details: "invalid empty tx",
    });
  });

  it("simulates in the application", async () => {
    const request = SimulateRequest.encode({ tx: undefined, txBytes: tx }).finish();
    await expect(client.call(`${TX}/Simulate`, request)).rejects.toMatchObject({
      code: 2,
      details: expect.stringContaining("account sequence mismatch, expected 2625, got 2624"),
    });
  });
});
