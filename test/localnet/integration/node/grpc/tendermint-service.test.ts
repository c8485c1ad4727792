import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ABCIQueryRequest,
  ABCIQueryResponse,
  GetBlockByHeightRequest,
  GetBlockByHeightResponse,
  GetLatestBlockResponse,
  GetNodeInfoResponse,
} from "../../../../../src/cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../../support/grpc-client.ts";
import { record } from "../../../../support/recorded-client.ts";
import { type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";
import { recordedBody } from "../../../../support/recorded-rest.ts";

const TENDERMINT = "/cosmos.base.tendermint.v1beta1.Service";
const NOTHING = new Uint8Array(0);
const NODE_INFO = "/cosmos/base/tendermint/v1beta1/node_info";

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

describe("cosmos.base.tendermint.v1beta1.Service", () => {
  it("returns name and versions of the node", async () => {
    const info = GetNodeInfoResponse.decode((await client.call(`${TENDERMINT}/GetNodeInfo`, NOTHING)).value);
    expect(info.defaultNodeInfo).toMatchObject({ network: "test-1", moniker: "lab" });
    expect(info.applicationVersion).toMatchObject({ name: "neutron", appName: "neutrond", version: "6.0.3" });
  });

  // Hermes refuses a chain without the first and the second, and cannot choose an encoding of blocks without the third.
  it("names the releases of the modules that relayers look for, as recorded", async () => {
    const info = GetNodeInfoResponse.decode((await client.call(`${TENDERMINT}/GetNodeInfo`, NOTHING)).value);
    const deps = info.applicationVersion?.buildDeps ?? [];
    expect(deps.map(({ path }) => path)).toEqual([
      "github.com/cosmos/cosmos-sdk",
      "github.com/cosmos/ibc-go/v8",
      "github.com/cometbft/cometbft",
    ]);
    const recorded = record(recordedBody(NODE_INFO)["application_version"]);
    expect(recorded["build_deps"]).toEqual(expect.arrayContaining(deps));
  });

  it("returns blocks by height", async () => {
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

  it("queries stores, but no gRPC paths", async () => {
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
