import { createProtobufRpcClient, QueryClient } from "@cosmjs/stargate";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { profileNamed } from "../../../../../src/localnet/chain/deviations/profile-named.ts";
import { createReflectionStream } from "../../../../../src/localnet/node/grpc/reflection.ts";
import type { JsonObject } from "../../../../../src/platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../../../src/cosmos/proto/json.ts";
import { type Decoded, decodeDeployed } from "../../../../support/deployed-dex-types.ts";
import { type DexNode, startDexNode } from "../../../../support/dex-node.ts";

/** What a stock client reads of the first tick and of the first order. */
interface Reading {
  readonly pair: unknown;
  readonly kind: readonly string[];
  readonly withdrawn: unknown;
  readonly cancelled: unknown;
}

/** Places a pool and an order of two, takes one of the two, and withdraws it: the order has withdrawn shares. */
async function trade(node: DexNode): Promise<void> {
  const [maker, taker] = [node.addressOf("demo1"), node.addressOf("demo2")];
  const order = (creator: string, fields: JsonObject) => ({
    "@type": "/neutron.dex.MsgPlaceLimitOrder",
    creator,
    receiver: creator,
    ...fields,
  });
  const placed = await node.send("demo1", [
    order(maker, {
      token_in: "untrn",
      token_out: "uibcatom",
      amount_in: "1000",
      tick_index_in_to_out: "0",
      order_type: "GOOD_TIL_CANCELLED",
    }),
  ]);
  expect(placed.raw_log).toBe("");
  const key = placed.events
    .flatMap(({ attributes }) => attributes)
    .find((attribute) => attribute.key === "TrancheKey");
  const taken = await node.send("demo2", [
    order(taker, {
      token_in: "uibcatom",
      token_out: "untrn",
      amount_in: "400",
      limit_sell_price: "0.9",
      order_type: "IMMEDIATE_OR_CANCEL",
    }),
  ]);
  expect(taken.raw_log).toBe("");
  const withdrawal = {
    "@type": "/neutron.dex.MsgWithdrawFilledLimitOrder",
    creator: maker,
    tranche_key: key?.value ?? "",
  };
  expect((await node.send("demo1", [withdrawal])).raw_log).toBe("");
}

async function read(node: DexNode): Promise<Reading> {
  const comet = await Comet38Client.connect(node.rpcUrl);
  const rpc = createProtobufRpcClient(QueryClient.withExtensions(comet));
  const ask = async (name: string, request: string, response: string, fields: object): Promise<Decoded> =>
    decodeDeployed(
      response,
      await rpc.request("neutron.dex.Query", name, messageFromJson(`neutron.dex.${request}`, fields)),
    );
  const { tick_liquidity: ticks } = await ask(
    "TickLiquidityAll",
    "QueryAllTickLiquidityRequest",
    "QueryAllTickLiquidityResponse",
    { pair_id: "uibcatom<>untrn", token_in: "untrn" },
  );
  const { limit_order_tranche_user: users } = await ask(
    "LimitOrderTrancheUserAll",
    "QueryAllLimitOrderTrancheUserRequest",
    "QueryAllLimitOrderTrancheUserResponse",
    {},
  );
  comet.disconnect();
  const [tick, user] = [first(ticks), first(users)];
  const key = first(first(tick["limit_order_tranche"])["key"]);
  return {
    pair: first(key["trade_pair_id"]),
    kind: Object.keys(tick),
    withdrawn: user["shares_withdrawn"]?.[0],
    cancelled: user["shares_cancelled"]?.[0],
  };
}

function first(values: Decoded[string] | undefined): Decoded {
  const [value] = values ?? [];
  if (value === undefined || typeof value === "string") throw new Error("a message was expected");
  return value;
}

describe("cosmjs with the types of the deployed chain", () => {
  let nodes: readonly DexNode[];
  beforeAll(async () => {
    nodes = [await startDexNode(undefined, "deployed"), await startDexNode()];
    for (const node of nodes) await trade(node);
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));
  const node = (profile: "deployed" | "specification"): DexNode => {
    const found = nodes[profile === "deployed" ? 0 : 1];
    if (found === undefined) throw new Error("not started");
    return found;
  };

  it("reads a chain with the profile deployed", async () => {
    expect(await read(node("deployed"))).toEqual({
      pair: { maker_denom: ["untrn"], taker_denom: ["uibcatom"] },
      kind: ["limit_order_tranche"],
      withdrawn: "400",
      cancelled: "0",
    });
  });

  it("reads a chain of the specification wrongly, and without an error", async () => {
    expect(await read(node("specification"))).toEqual({
      pair: { maker_denom: ["uibcatom"] },
      kind: ["limit_order_tranche"],
      withdrawn: "0",
      cancelled: "400",
    });
  });

  it("finds in the REST response what the bytes of the other servers say", async () => {
    const path = "/neutron/dex/tick_liquidity/uibcatom%3C%3Euntrn/untrn";
    const reply = await node("deployed").get(path);
    expect(reply.body).toMatchObject({
      tick_liquidity: [
        {
          limit_order_tranche: {
            key: { trade_pair_id: { maker_denom: "untrn", taker_denom: "uibcatom" }, tranche_key: "tk-0" },
          },
        },
      ],
    });
    const users = await node("deployed").get("/neutron/dex/limit_order_tranche_user");
    expect(users.body).toMatchObject({
      limit_order_tranche_user: [{ shares_withdrawn: "400", shares_cancelled: "0", tranche_key: "tk-0" }],
    });
  });

  it("gets the descriptors of these types by reflection", () => {
    const { proto } = profileNamed("deployed");
    const stream = createReflectionStream({ paths: [], chainName: "neutron", proto });
    const { messageResponse } = stream.respond({
      host: "",
      messageRequest: { $case: "fileContainingSymbol", value: "neutron.dex.LimitOrderTrancheUser" },
    });
    if (messageResponse?.$case !== "fileDescriptorResponse") throw new Error("no file");
    const files = messageResponse.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    const numbers = (name: string): Readonly<Record<string, number>> =>
      Object.fromEntries(
        files
          .flatMap(({ messageType }) => messageType)
          .filter((message) => message.name === name)
          .flatMap(({ field }) => field.map((one) => [one.name, one.number])),
      );
    expect(numbers("TradePairID")).toEqual({ maker_denom: 2, taker_denom: 3 });
    expect(numbers("LimitOrderTrancheUser")).toMatchObject({ shares_withdrawn: 6, shares_cancelled: 7 });
  });

  it("gets bytes that this repository's readers recognize and convert", async () => {
    const { proto } = profileNamed("deployed");
    const comet = await Comet38Client.connect(node("deployed").rpcUrl);
    const rpc = createProtobufRpcClient(QueryClient.withExtensions(comet));
    const bytes = await rpc.request("neutron.dex.Query", "LimitOrderTrancheUserAll", new Uint8Array(0));
    comet.disconnect();
    const type = "neutron.dex.QueryAllLimitOrderTrancheUserResponse";
    const canonical = proto?.decode(type, bytes) ?? bytes;
    expect([proto?.recognizes(type, bytes), proto?.recognizes(type, canonical)]).toEqual([true, false]);
    expect(messageToJson(type, canonical)).toMatchObject({
      limit_order_tranche_user: [
        { trade_pair_id: { maker_denom: "untrn", taker_denom: "uibcatom" }, shares_withdrawn: "400" },
      ],
    });
    expect(proto?.encode(type, canonical)).toEqual(new Uint8Array(bytes));
  });
});
