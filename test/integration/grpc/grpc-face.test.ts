import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBase64, utf8 } from "../../../src/base/bytes.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { createGrpcFace } from "../../../src/node/grpc/grpc-face.ts";
import {
  QueryAllBalancesRequest,
  QueryAllBalancesResponse,
  QuerySupplyOfRequest,
  QuerySupplyOfResponse,
} from "../../../src/proto/gen/cosmos/bank/v1beta1/query.ts";
import {
  ABCIQueryRequest,
  ABCIQueryResponse,
  GetBlockByHeightRequest,
  GetBlockByHeightResponse,
  GetLatestBlockResponse,
  GetNodeInfoResponse,
} from "../../../src/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
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
} from "../../../src/proto/gen/cosmos/tx/v1beta1/service.ts";
import { QueryRegisteredQueryRequest } from "../../../src/proto/gen/neutron/interchainqueries/query.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../support/grpc-client.ts";
import { RECORDED_ACCOUNT, type RecordedNode, startRecordedNode } from "../../support/recorded-node.ts";
import { recordedTxBase64 } from "../../support/recorded-rest.ts";

const TX = "/cosmos.tx.v1beta1.Service";
const TENDERMINT = "/cosmos.base.tendermint.v1beta1.Service";
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

describe("queries over gRPC", () => {
  it("pass through to the application and name the height", async () => {
    const request = QueryAllBalancesRequest.encode({
      address: RECORDED_ACCOUNT,
      pagination: undefined,
      resolveDenom: false,
    }).finish();
    const answer = await client.call("/cosmos.bank.v1beta1.Query/AllBalances", request);
    expect(QueryAllBalancesResponse.decode(answer.value).balances).toHaveLength(5);
    expect(answer.metadata["x-cosmos-block-height"]).toBe("12");
  });

  it("look at the height that the metadata names", async () => {
    const path = "/cosmos.bank.v1beta1.Query/SupplyOf";
    const request = QuerySupplyOfRequest.encode({ denom: "untrn" }).finish();
    const past = await client.call(path, request, "3");
    expect(past.metadata["x-cosmos-block-height"]).toBe("3");
    expect(QuerySupplyOfResponse.decode(past.value).amount?.denom).toBe("untrn");
  });

  it.each([
    [
      "13",
      "codespace sdk code 26: invalid height: cannot query with height in the future; please provide a valid height",
    ],
    [
      "-1",
      "codespace sdk code 18: invalid request: cannot query with height < 0; please provide a valid height",
    ],
    [
      "x",
      'codespace sdk code 18: invalid request: Baseapp.RegisterGRPCServer: invalid height header "x-cosmos-block-height": strconv.ParseInt: parsing "x": invalid syntax',
    ],
  ])("refuse the height %s, of application and node alike", async (height, details) => {
    for (const path of ["/cosmos.bank.v1beta1.Query/Params", `${TENDERMINT}/GetSyncing`]) {
      await expect(client.call(path, NOTHING, height)).rejects.toMatchObject({ code: 2, details });
    }
  });

  it("fail with the application's status and text", async () => {
    const request = QueryRegisteredQueryRequest.encode({ queryId: 99999n }).finish();
    await expect(
      client.call("/neutron.interchainqueries.Query/RegisteredQuery", request),
    ).rejects.toMatchObject({
      code: 2,
      details:
        "codespace interchainqueries code 1100: invalid query id: failed to get registered query by query id: there is no query with id: 99999: invalid query id",
    });
  });

  it("refuse bytes that are no request, and paths that nobody has", async () => {
    for (const path of ["/cosmos.bank.v1beta1.Query/AllBalances", `${TX}/GetTx`]) {
      await expect(client.call(path, new Uint8Array([0x0a, 0x7f, 1]))).rejects.toMatchObject({
        code: 13,
        details: expect.stringContaining("grpc: failed to unmarshal the received message"),
      });
    }
    await expect(client.call("/cosmos.staking.v1beta1.Query/Params", NOTHING)).rejects.toMatchObject({
      code: 12,
    });
    await expect(client.call(`${TX}/TxEncodeAmino`, NOTHING)).rejects.toMatchObject({ code: 12 });
  });

  it("refuse a request larger than 10 MiB", async () => {
    await expect(client.call(`${TX}/TxDecode`, new Uint8Array(10 * 1024 * 1024 + 1))).rejects.toMatchObject({
      code: 8,
    });
  });
});

describe("cosmos.tx.v1beta1.Service", () => {
  const tx = fromBase64(recordedTxBase64());

  it("finds the transaction by hash in either case, and says when it is not there", async () => {
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

  it("gives a block with its transactions", async () => {
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

  it("simulates by the application", async () => {
    const request = SimulateRequest.encode({ tx: undefined, txBytes: tx }).finish();
    await expect(client.call(`${TX}/Simulate`, request)).rejects.toMatchObject({
      code: 2,
      details: expect.stringContaining("account sequence mismatch, expected 2625, got 2624"),
    });
  });
});

describe("cosmos.base.tendermint.v1beta1.Service", () => {
  it("says who the node is", async () => {
    const info = GetNodeInfoResponse.decode((await client.call(`${TENDERMINT}/GetNodeInfo`, NOTHING)).value);
    expect(info.defaultNodeInfo).toMatchObject({ network: "test-1", moniker: "lab" });
    expect(info.applicationVersion).toMatchObject({ name: "neutron", appName: "neutrond", version: "6.0.3" });
  });

  it("gives blocks by height", async () => {
    const latest = GetLatestBlockResponse.decode(
      (await client.call(`${TENDERMINT}/GetLatestBlock`, NOTHING)).value,
    );
    expect(latest.block?.header?.height).toBe(12n);
    const of = (height: bigint): Uint8Array => GetBlockByHeightRequest.encode({ height }).finish();
    const first = await client.call(`${TENDERMINT}/GetBlockByHeight`, of(1n));
    const { sdkBlock } = GetBlockByHeightResponse.decode(first.value);
    expect(sdkBlock?.header?.proposerAddress).toMatch(/^neutronvalcons1/);
    await expect(client.call(`${TENDERMINT}/GetBlockByHeight`, of(0n))).rejects.toMatchObject({
      code: 2,
      details: "height must be greater than 0, but got 0",
    });
  });

  it("asks stores, but no gRPC paths", async () => {
    const ask = (path: string): Promise<{ value: Uint8Array }> => {
      const request = ABCIQueryRequest.encode({ data: NOTHING, path, height: 0n, prove: false }).finish();
      return client.call(`${TENDERMINT}/ABCIQuery`, request);
    };
    const version = ABCIQueryResponse.decode((await ask("/app/version")).value);
    expect(Buffer.from(version.value).toString()).toBe("6.0.3");
    await expect(ask("/cosmos.bank.v1beta1.Query/Params")).rejects.toMatchObject({
      code: 3,
      details: "unsupported ABCI query path: /cosmos.bank.v1beta1.Query/Params",
    });
  });
});

describe("server reflection", () => {
  it.each(["v1", "v1alpha"] as const)("%s lists what is served", async (version) => {
    const [answer] = await client.reflect(version, [{ $case: "listServices", value: "" }]);
    const names =
      answer?.$case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    expect(names).toEqual([
      "cosmos.auth.v1beta1.Query",
      "cosmos.bank.v1beta1.Query",
      "cosmos.base.tendermint.v1beta1.Service",
      "cosmos.consensus.v1.Query",
      "cosmos.tx.v1beta1.Service",
      "cosmwasm.wasm.v1.Query",
      "feemarket.feemarket.v1.Query",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "ibc.core.client.v1.Query",
      "ibc.core.connection.v1.Query",
      "neutron.interchainqueries.Query",
    ]);
  });

  it("gives the file of a symbol with all that it imports, once a stream", async () => {
    const answers = await client.reflect("v1", [
      { $case: "fileContainingSymbol", value: "neutron.interchainqueries.Query" },
      { $case: "fileContainingSymbol", value: "neutron.interchainqueries.Query.Params" },
    ]);
    const [first = [], second = []] = answers.map((answer) =>
      answer?.$case === "fileDescriptorResponse"
        ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
        : [],
    );
    expect(first[0]?.name).toBe("neutron/interchainqueries/query.proto");
    expect(first.map(({ name }) => name)).toContain("cosmos/base/query/v1beta1/pagination.proto");
    expect(second.map(({ name }) => name)).toEqual(["neutron/interchainqueries/query.proto"]);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(first) }));
    expect(registry.getService("neutron.interchainqueries.Query")?.methods).toHaveLength(5);
  });

  it("knows extensions, and says what is not there", async () => {
    const [numbers, file, ...absent] = await client.reflect("v1", [
      { $case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" },
      {
        $case: "fileContainingExtension",
        value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 },
      },
      { $case: "fileByFilename", value: "nosuch.proto" },
      { $case: "fileContainingSymbol", value: "nosuch.Type" },
      { $case: "allExtensionNumbersOfType", value: "nosuch.Type" },
      {
        $case: "fileContainingExtension",
        value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 },
      },
    ]);
    expect(numbers).toMatchObject({ value: { extensionNumber: expect.arrayContaining([72295728]) } });
    expect(file?.$case).toBe("fileDescriptorResponse");
    expect(absent.map((answer) => answer?.$case)).toEqual(Array(4).fill("errorResponse"));
    expect(absent.map((answer) => answer?.$case === "errorResponse" && answer.value.errorCode)).toEqual([
      5, 5, 5, 5,
    ]);
    const [nothing] = await client.reflect("v1", [undefined]);
    expect(nothing).toMatchObject({ $case: "errorResponse", value: { errorCode: 3 } });
  });
});

/** Every file after those that it imports, as a descriptor set needs them. Throws when one is missing. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const visit = (wanted: string): void => {
    const file = files.find(({ name }) => name === wanted);
    if (file === undefined) throw new Error(`${wanted} is missing`);
    for (const each of file.dependency) visit(each);
    ordered.add(file);
  };
  for (const { name } of files) visit(name);
  return [...ordered];
}

describe("the listening side", () => {
  const options = {
    host: "127.0.0.1",
    portOption: "--grpc-port",
    chainName: "neutron",
    consensusPrefix: "neutronvalcons",
    rpcAddress: () => "",
  };

  it("says which port is taken and what moves it", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const address = holder.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const face = createGrpcFace({ ...options, port }, { logger: silentLogger })(node.view);
    await expect(face.listen()).rejects.toMatchObject({
      facts: { code: "port-in-use", port, option: "--grpc-port" },
    });
    await new Promise((resolve) => holder.close(resolve));
  });

  it("closes although a stream is open and a client stays", async () => {
    const face = createGrpcFace({ ...options, port: 0 }, { logger: silentLogger })(node.view);
    const port = await face.listen();
    const other = createGrpcTestClient(`127.0.0.1:${port}`);
    await other.call(`${TENDERMINT}/GetSyncing`, NOTHING);
    const open = other.openReflection();
    await open.answered;
    await face.close();
    await expect(open.ended).resolves.toBeTypeOf("number");
    await expect(other.call(`${TENDERMINT}/GetSyncing`, NOTHING)).rejects.toMatchObject({ code: 14 });
    other.close();
  });
});
