import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../../../../src/platform/base/logger.ts";
import { createGrpcEndpoint } from "../../../../../src/localnet/node/grpc/grpc-endpoint.ts";
import {
  QueryAllBalancesRequest,
  QueryAllBalancesResponse,
  QuerySupplyOfRequest,
  QuerySupplyOfResponse,
} from "../../../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { QueryRegisteredQueryRequest } from "../../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../../support/grpc-client.ts";
import { RECORDED_ACCOUNT, type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";

const TX = "/cosmos.tx.v1beta1.Service";
const TENDERMINT = "/cosmos.base.tendermint.v1beta1.Service";
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
  it("reach the application and return the height", async () => {
    const request = QueryAllBalancesRequest.encode({
      address: RECORDED_ACCOUNT,
      pagination: undefined,
      resolveDenom: false,
    }).finish();
    const answer = await client.call("/cosmos.bank.v1beta1.Query/AllBalances", request);
    expect(QueryAllBalancesResponse.decode(answer.value).balances).toHaveLength(5);
    expect(answer.metadata["x-cosmos-block-height"]).toBe("12");
  });

  it("read the height in the metadata", async () => {
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
  ])("fail for the height %s, in the application and in the node", async (height, details) => {
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

  it("fail for undecodable bytes and unknown paths", async () => {
    for (const path of ["/cosmos.bank.v1beta1.Query/AllBalances", `${TX}/GetTx`]) {
      await expect(client.call(path, new Uint8Array([0x0a, 0x7f, 1]))).rejects.toMatchObject({
        code: 13,
        details: expect.stringContaining("grpc: failed to unmarshal the received message"),
      });
    }
    await expect(client.call("/cosmos.evidence.v1beta1.Query/AllEvidence", NOTHING)).rejects.toMatchObject({
      code: 12,
    });
    await expect(client.call(`${TX}/TxEncodeAmino`, NOTHING)).rejects.toMatchObject({ code: 12 });
  });

  it("fail for a request larger than 10 MiB", async () => {
    await expect(client.call(`${TX}/TxDecode`, new Uint8Array(10 * 1024 * 1024 + 1))).rejects.toMatchObject({
      code: 8,
    });
  });
});

describe("the gRPC port", () => {
  const options = {
    host: "127.0.0.1",
    portOption: "--grpc-port",
    chainName: "neutron",
  };

  it("reports a busy port and the option that changes it", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const address = holder.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const server = createGrpcEndpoint({ ...options, port }, { logger: silentLogger })(node.router);
    await expect(server.listen()).rejects.toMatchObject({
      facts: { code: "port-in-use", port, option: "--grpc-port" },
    });
    await new Promise((resolve) => holder.close(resolve));
  });

  it("closes while a stream is open and a client stays connected", async () => {
    const server = createGrpcEndpoint({ ...options, port: 0 }, { logger: silentLogger })(node.router);
    const port = await server.listen();
    const other = createGrpcTestClient(`127.0.0.1:${port}`);
    await other.call(`${TENDERMINT}/GetSyncing`, NOTHING);
    const open = other.openReflection();
    await open.answered;
    await server.close();
    await expect(open.ended).resolves.toBeTypeOf("number");
    await expect(other.call(`${TENDERMINT}/GetSyncing`, NOTHING)).rejects.toMatchObject({ code: 14 });
    other.close();
  });
});
