import { QueryClient, setupTxExtension } from "@cosmjs/stargate";
import { connectComet } from "@cosmjs/tendermint-rpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBase64, fromHex, toBase64, toHex } from "../../../../src/platform/base/bytes.ts";
import { GetBlockByHeightRequest } from "../../../../src/cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import {
  StatusResponse,
  ConfigResponse,
} from "../../../../src/cosmos/proto/gen/cosmos/base/node/v1beta1/query.ts";
import {
  ListAllInterfacesResponse,
  ListImplementationsRequest,
  ListImplementationsResponse,
} from "../../../../src/cosmos/proto/gen/cosmos/base/reflection/v1beta1/reflection.ts";
import {
  GetBlockWithTxsRequest,
  GetTxRequest,
  GetTxsEventRequest,
  OrderBy,
  TxDecodeRequest,
} from "../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../support/grpc-client.ts";
import { type RecordedNode, startRecordedNode } from "../../../support/recorded-node.ts";
import { recordedTxBase64 } from "../../../support/recorded-rest.ts";

const TX = "/cosmos.tx.v1beta1.Service";
const TENDERMINT = "/cosmos.base.tendermint.v1beta1.Service";
const NODE = "/cosmos.base.node.v1beta1.Service";
const REFLECTION = "/cosmos.base.reflection.v1beta1.ReflectionService";
const TX_HASH = "C42722E64CE5BFFB5FB59BFA3E66B16C79DF96BA35CE32F759785EBD4A030C02";
const NOTHING = new Uint8Array(0);
const UNKNOWN_PATH = "unknown query path: unknown request";

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

interface AbciResponse {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly height: string;
  readonly value: string | null;
}

async function query(path: string, data: Uint8Array = NOTHING, options: object = {}): Promise<AbciResponse> {
  const params = { path, data: toHex(data), ...options };
  const request = { jsonrpc: "2.0", id: 1, method: "abci_query", params };
  const reply = await fetch(node.rpcUrl, { method: "POST", body: JSON.stringify(request) });
  const json: { readonly result: { readonly response: AbciResponse } } = JSON.parse(await reply.text());
  return json.result.response;
}

function valueOf({ value }: AbciResponse): Uint8Array {
  return fromBase64(value ?? "");
}

const search = GetTxsEventRequest.encode({
  events: [],
  pagination: undefined,
  orderBy: OrderBy.ORDER_BY_DESC,
  page: 0n,
  limit: 0n,
  query: "tx.height=12",
}).finish();

const CALLS: readonly (readonly [path: string, request: Uint8Array])[] = [
  [`${TX}/GetTx`, GetTxRequest.encode({ hash: TX_HASH }).finish()],
  [`${TX}/GetTxsEvent`, search],
  [`${TX}/GetBlockWithTxs`, GetBlockWithTxsRequest.encode({ height: 12n, pagination: undefined }).finish()],
  [`${TX}/TxDecode`, TxDecodeRequest.encode({ txBytes: fromBase64(recordedTxBase64()) }).finish()],
  [`${TENDERMINT}/GetNodeInfo`, NOTHING],
  [`${TENDERMINT}/GetSyncing`, NOTHING],
  [`${TENDERMINT}/GetLatestBlock`, NOTHING],
  [`${TENDERMINT}/GetBlockByHeight`, GetBlockByHeightRequest.encode({ height: 3n }).finish()],
  [`${TENDERMINT}/GetLatestValidatorSet`, NOTHING],
  [`${NODE}/Config`, NOTHING],
  [`${NODE}/Status`, NOTHING],
  [`${REFLECTION}/ListAllInterfaces`, NOTHING],
  ["/cosmos.bank.v1beta1.Query/Params", NOTHING],
];

describe("abci_query", () => {
  it("routes every method that gRPC serves, except BroadcastTx", async () => {
    expect(node.router.paths.length).toBeGreaterThan(50);
    const unrouted: string[] = [];
    for (const path of node.router.paths) {
      if ((await query(path)).log === UNKNOWN_PATH) unrouted.push(path);
    }
    expect(unrouted).toEqual([]);
    expect(await query(`${TX}/NoSuchMethod`)).toMatchObject({ code: 6, log: UNKNOWN_PATH });
    expect(await query(`${TX}/BroadcastTx`)).toMatchObject({
      code: 18,
      codespace: "sdk",
      log: "can't route a broadcast tx message: invalid request",
      height: "0",
    });
  });

  it.each(CALLS)("%s returns the bytes that gRPC returns", async (path, request) => {
    const response = await query(path, request);
    expect(response).toMatchObject({ code: 0, codespace: "", log: "", height: "12" });
    expect(response.value ?? "").toBe(toBase64((await client.call(path, request)).value));
  });

  it.each([
    [
      GetTxRequest.encode({ hash: "" }).finish(),
      18,
      "InvalidArgument desc = tx hash cannot be empty: invalid request",
    ],
    [
      GetTxRequest.encode({ hash: "00".repeat(32) }).finish(),
      22,
      `NotFound desc = tx not found: ${"00".repeat(32)}: key not found`,
    ],
  ])("reports a gRPC status of GetTx as baseapp does, case %#", async (request, code, text) =>
    expect(await query(`${TX}/GetTx`, request)).toMatchObject({
      code,
      codespace: "sdk",
      log: `rpc error: code = ${text}`,
      height: "12",
      value: null,
    }),
  );

  it("reports other errors as baseapp does", async () => {
    const xy = GetTxRequest.encode({ hash: "xy" }).finish();
    expect(await query(`${TX}/GetTx`, xy)).toMatchObject({
      code: 18,
      log: "encoding/hex: invalid byte: U+0078 'x': invalid request",
    });
    const future = GetBlockWithTxsRequest.encode({ height: 13n, pagination: undefined }).finish();
    expect(await query(`${TX}/GetBlockWithTxs`, future)).toMatchObject({
      code: 6,
      codespace: "sdk",
      log: expect.stringMatching(/requested height 13 but .* invalid height: unknown request$/),
    });
  });

  it.each([`${TX}/GetTx`, "/cosmos.bank.v1beta1.Query/Balance"])(
    "%s reports bytes that do not decode",
    async (path) =>
      expect(await query(path, new Uint8Array([0x0a, 0x7f, 1]))).toMatchObject({
        code: 18,
        codespace: "sdk",
        log: "unexpected EOF: invalid request",
        height: "12",
      }),
  );

  it.each([
    ["a message that runs past the end of its parent", "12020a03010203", "unexpected EOF"],
    ["a tag of zero", "00", "illegal tag"],
    ["the end of a group that never began", "0c", "illegal tag"],
  ])("refuses %s, also over gRPC", async (_name, hex, text) => {
    const bytes = fromHex(hex);
    expect(await query("/cosmos.bank.v1beta1.Query/AllBalances", bytes)).toMatchObject({
      code: 18,
      codespace: "sdk",
      log: `${text}: invalid request`,
    });
    await expect(client.call("/cosmos.bank.v1beta1.Query/AllBalances", bytes)).rejects.toMatchObject({
      code: 13,
      details: `grpc: failed to unmarshal the received message: ${text}`,
    });
  });

  it.each([
    [
      { height: "13" },
      26,
      "cannot query with height in the future; please provide a valid height: invalid height",
    ],
    [
      { height: "1", prove: true },
      18,
      "cannot query with proof when height <= 1; please provide a valid height: invalid request",
    ],
  ])("checks the height as for the application: %j", async (options, code, log) => {
    for (const path of [`${NODE}/Status`, "/cosmos.bank.v1beta1.Query/Params"]) {
      expect(await query(path, NOTHING, options)).toMatchObject({ code, codespace: "sdk", log, height: "0" });
    }
  });

  it("reads state of the node at the requested height", async () => {
    const status = StatusResponse.decode(valueOf(await query(`${NODE}/Status`, NOTHING, { height: "4" })));
    expect(status.height).toBe(4n);
    expect(toHex(status.appHash)).toBe(toHex(node.view.block(4n)?.header.appHash ?? NOTHING));
  });
});

describe("the services of the node", () => {
  it("return settings and interfaces", async () => {
    expect(ConfigResponse.decode(valueOf(await query(`${NODE}/Config`)))).toEqual({
      minimumGasPrice: "0.002500000000000000untrn",
      pruningKeepRecent: "0",
      pruningInterval: "0",
      haltHeight: 0n,
    });
    const { interfaceNames } = ListAllInterfacesResponse.decode(
      valueOf(await query(`${REFLECTION}/ListAllInterfaces`)),
    );
    expect(interfaceNames).toContain("ibc.core.client.v1.ClientState");
    const listed = async (interfaceName: string): Promise<readonly string[]> => {
      const request = ListImplementationsRequest.encode({ interfaceName }).finish();
      const response = await query(`${REFLECTION}/ListImplementations`, request);
      return ListImplementationsResponse.decode(valueOf(response)).implementationMessageNames;
    };
    for (const name of interfaceNames) expect(await listed(name)).not.toEqual([]);
    expect(await listed("cosmos.base.v1beta1.Msg")).toContain(
      "/neutron.interchainqueries.MsgSubmitQueryResult",
    );
    expect(await listed("nosuch.Interface")).toEqual([]);
    expect((await query(`${REFLECTION}/ListImplementations`)).log).toBe(
      "rpc error: code = InvalidArgument desc = invalid interface name: invalid request",
    );
  });

  it("are served over REST too", async () => {
    const get = async (path: string): Promise<unknown> => (await fetch(`${node.restUrl}${path}`)).json();
    expect(await get("/cosmos/base/node/v1beta1/config")).toEqual({
      minimum_gas_price: "0.002500000000000000untrn",
      pruning_keep_recent: "0",
      pruning_interval: "0",
      halt_height: "0",
    });
    expect(await get("/cosmos/base/node/v1beta1/status")).toMatchObject({
      earliest_store_height: "0",
      height: "12",
      timestamp: new Date(Number((node.view.block(12n)?.header.timeNs ?? 0n) / 1_000_000n))
        .toISOString()
        .replace(".000Z", "Z"),
    });
    expect(
      await get("/cosmos/base/reflection/v1beta1/interfaces/cosmos.tx.v1beta1.Tx/implementations"),
    ).toEqual({ implementation_message_names: ["/cosmos.tx.v1beta1.Tx"] });
  });
});

describe("a stock QueryClient", () => {
  it("finds a transaction over RPC", async () => {
    const comet = await connectComet(node.rpcUrl);
    const { tx } = QueryClient.withExtensions(comet, setupTxExtension);
    const found = await tx.getTx(TX_HASH);
    expect(found.txResponse).toMatchObject({ txhash: TX_HASH, height: 12n, code: 0 });
    await expect(tx.getTx("00".repeat(32))).rejects.toThrow("tx not found");
    comet.disconnect();
  });
});
