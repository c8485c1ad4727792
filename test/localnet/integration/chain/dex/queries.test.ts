import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord, type JsonObject, type JsonValue } from "../../../../../src/platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../../../src/cosmos/proto/json.ts";
import { httpRules } from "../../../../../src/cosmos/proto/http-rules.ts";
import { findService } from "../../../../../src/cosmos/proto/registry.ts";
import { type DexNode, startDexNode } from "../../../../support/dex-node.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../../support/grpc-client.ts";

const PAIR = encodeURIComponent("uibcatom<>untrn");
const DEX = "/neutron/dex";

let node: DexNode;
let grpc: GrpcTestClient;
let creator = "";

beforeAll(async () => {
  node = await startDexNode();
  grpc = createGrpcTestClient(node.grpcAddress);
  creator = node.addressOf("demo1");
  const ticks = Array.from({ length: 5 }, (_, index) => String(index * 100));
  const deposit = depositMessage(ticks);
  const orders = [10, 20, 30].map((tick) => orderMessage({ tick_index_in_to_out: String(-tick - 1000) }));
  const sent = await node.send("demo1", [deposit, ...orders]);
  expect(sent).toMatchObject({ code: 0, raw_log: "" });
});
afterAll(async () => {
  grpc.close();
  await node.stop();
});

function depositMessage(ticks: readonly string[]): JsonObject {
  return {
    "@type": "/neutron.dex.MsgDeposit",
    creator,
    receiver: creator,
    token_a: "uibcatom",
    token_b: "untrn",
    amounts_a: ticks.map(() => "0"),
    amounts_b: ticks.map(() => "1000"),
    tick_indexes_a_to_b: ticks,
    fees: ticks.map(() => "1"),
    options: ticks.map(() => ({})),
  };
}

function orderMessage(change: JsonObject): JsonObject {
  return {
    "@type": "/neutron.dex.MsgPlaceLimitOrder",
    creator,
    receiver: creator,
    token_in: "uibcatom",
    token_out: "untrn",
    amount_in: "500",
    order_type: "GOOD_TIL_CANCELLED",
    ...change,
  };
}

async function body(path: string): Promise<JsonObject> {
  const response = await node.get(`${DEX}/${path}`);
  if (response.status !== 200 || !isRecord(response.body)) throw new Error(JSON.stringify(response));
  return response.body;
}

function listOf(json: JsonObject, name: string): readonly JsonValue[] {
  const list = json[name];
  return Array.isArray(list) ? list : [];
}

function simulation(name: string, message: JsonObject): string {
  const { "@type": _, ...fields } = message;
  return `simulate_${name}?msg=${encodeURIComponent(JSON.stringify(fields))}`;
}

describe("paths with IBC denominations", () => {
  it.each(["pool_reserves", "limit_order_tranche", "tick_liquidity"])(
    "%s lists a side of a pair",
    async (name) => {
      const denom = "ibc/27394FB092D2ECCD";
      // Decoded before they are split, the segments would be those of the path of one pool or tranche.
      for (const other of ["untrn", "ibc/4622E82B845FFC6A"]) {
        const path = `${DEX}/${name}/${encodeURIComponent(`${denom}<>${other}`)}/${encodeURIComponent(denom)}`;
        expect(await node.get(path)).toMatchObject({ status: 200, body: { pagination: { next_key: null } } });
      }
    },
  );
});

describe("simulations with the message as JSON", () => {
  it("answer as the message would, and execute nothing", async () => {
    const order = { ...orderMessage({}), token_in: "uibcatom", tick_index_in_to_out: "450" };
    const before = await node.get(`${DEX}/tick_liquidity/${PAIR}/untrn`);
    const simulated = await body(simulation("place_limit_order", order));
    expect(simulated).toMatchObject({
      resp: { trancheKey: "t||3", coin_in: { denom: "uibcatom", amount: "500" } },
    });
    expect(await node.get(`${DEX}/tick_liquidity/${PAIR}/untrn`)).toEqual(before);
    expect((await body(simulation("place_limit_order", order)))["resp"]).toEqual(simulated["resp"]);
  });

  it("do not ask for the coins of the creator", async () => {
    const poor = {
      ...depositMessage(["0"]),
      amounts_a: ["0"],
      amounts_b: ["9".repeat(30)],
      creator: "nobody",
    };
    expect(await body(simulation("deposit", poor))).toMatchObject({
      resp: { reserve0_deposited: ["0"], reserve1_deposited: ["9".repeat(30)], failed_deposits: [] },
    });
  });

  it("use the own shares and orders of the creator", async () => {
    const withdrawal = {
      creator,
      receiver: creator,
      token_a: "uibcatom",
      token_b: "untrn",
      shares_to_remove: ["100"],
      tick_indexes_a_to_b: ["0"],
      fees: ["1"],
    };
    expect(await body(simulation("withdrawal", withdrawal))).toMatchObject({
      resp: { reserve0_withdrawn: "0", shares_burned: [{ denom: "neutron/pool/0", amount: "100" }] },
    });
    const key = { creator, tranche_key: "t||0" };
    expect(await body(simulation("cancel_limit_order", key))).toMatchObject({
      resp: { maker_coin_out: { denom: "uibcatom", amount: "500" } },
    });
    expect(await node.get(`${DEX}/${simulation("withdraw_filled_limit_order", key)}`)).toMatchObject({
      status: 500,
      body: { code: 2, message: expect.stringContaining("codespace dex code 1124") },
    });
  });

  it("swap over several pairs", async () => {
    const swap = {
      receiver: creator,
      routes: [{ hops: ["uibcatom", "untrn"] }],
      amount_in: "100",
      exit_limit_price: "0.5",
      pick_best_route: true,
    };
    expect(await body(simulation("multi_hop_swap", swap))).toMatchObject({
      resp: { coin_out: { denom: "untrn" }, route: { hops: ["uibcatom", "untrn"] } },
    });
  });

  it.each([
    ["simulate_deposit", 500, "runtime error: invalid memory address or nil pointer dereference"],
    ["simulate_deposit?msg=%7B", 400, "unexpected EOF"],
    ["simulate_deposit?msg=%5B%5D", 400, "cannot unmarshal array"],
    ["simulate_deposit?msg=%7B%22nope%22%3A1%7D", 400, 'unknown field "nope"'],
    ["simulate_deposit?msg=%7B%7D", 500, "codespace dex code 1157"],
    ["simulate_multi_hop_swap?msg=%7B%22amount_in%22%3A%221.5%22%7D", 400, "not an integer"],
  ])("%s is refused with %i", async (path, status, message) => {
    const response = await node.get(`${DEX}/${path}`);
    expect(response.status).toBe(status);
    expect(JSON.stringify(response.body)).toContain(JSON.stringify(message).slice(1, -1));
  });
});

describe("deprecated estimates", () => {
  it("answer when the creator can pay", async () => {
    const order = `creator=${creator}&receiver=${creator}&token_in=uibcatom&token_out=untrn&amount_in=100`;
    const estimated = await body(`estimate_place_limit_order?${order}&tick_index_in_to_out=300`);
    expect(estimated).toMatchObject({ total_in_coin: { denom: "uibcatom", amount: "100" } });
    const hops = encodeURIComponent('{"hops":["uibcatom","untrn"]}');
    const swap = `creator=${creator}&receiver=${creator}&routes=${hops}&amount_in=100&exit_limit_price=0.1`;
    expect(await body(`estimate_multi_hop_swap?${swap}`)).toMatchObject({ coin_out: { denom: "untrn" } });
    const poor = swap.replace("amount_in=100", `amount_in=${"9".repeat(20)}`);
    expect((await node.get(`${DEX}/estimate_multi_hop_swap?${poor}`)).status).toBe(500);
  });
});

describe("lists", () => {
  const LISTS = [
    [`tick_liquidity/${PAIR}/untrn`, "tick_liquidity", 5],
    [`tick_liquidity/${PAIR}/uibcatom`, "tick_liquidity", 3],
    [`pool_reserves/${PAIR}/untrn`, "pool_reserves", 5],
    [`limit_order_tranche/${PAIR}/uibcatom`, "limit_order_tranche", 3],
    ["limit_order_tranche_user", "limit_order_tranche_user", 3],
    ["user/limit_orders/CREATOR", "limit_orders", 3],
    ["user/deposits/CREATOR", "deposits", 5],
    ["pool_metadata", "pool_metadata", 5],
    ["inactive_limit_order_tranche", "inactive_limit_order_tranche", 0],
  ] as const;

  it.each(LISTS)("%s: every page size gives the same entries", async (path, name, count) => {
    const url = path.replace("CREATOR", creator);
    const all = await body(url);
    expect(all).toMatchObject({ pagination: { next_key: null, total: String(count) } });
    expect(listOf(all, name)).toHaveLength(count);
    for (const limit of [1, 2, 4]) {
      const entries: JsonValue[] = [];
      let key: unknown = "";
      for (let page = 0; page < 10 && typeof key === "string"; page++) {
        const query = `pagination.limit=${limit}&pagination.key=${encodeURIComponent(key)}`;
        const json = await body(`${url}?${query}`);
        entries.push(...listOf(json, name));
        key = isRecord(json["pagination"]) ? json["pagination"]["next_key"] : null;
      }
      expect(entries).toEqual(listOf(all, name));
    }
    const skipped = await body(`${url}?pagination.offset=1&pagination.limit=100&pagination.count_total=true`);
    expect(listOf(skipped, name)).toEqual(listOf(all, name).slice(1));
    const both = await node.get(`${DEX}/${url}?pagination.offset=1&pagination.key=AA%3D%3D`);
    expect(both.body).toMatchObject({ code: 13 });
    if (name === "deposits") return;
    const reversed = await body(`${url}?pagination.reverse=true`);
    expect(listOf(reversed, name)).toEqual(listOf(all, name).toReversed());
  });

  it("take pairs in any order, and names of the maker only", async () => {
    const swapped = encodeURIComponent("untrn<>uibcatom");
    expect(await body(`pool/${swapped}/0/1`)).toEqual(await body(`pool/${PAIR}/0/1`));
    expect(await body(`pool_reserves/${PAIR}/nothing`)).toMatchObject({ pool_reserves: [] });
    expect((await node.get(`${DEX}/pool/${encodeURIComponent("a<>a")}/0/1`)).body).toMatchObject({
      message: expect.stringContaining("codespace dex code 1102"),
    });
  });

  it("take negative ticks and encoded slashes in the path", async () => {
    const tick = `limit_order_tranche/${PAIR}/uibcatom/1010/t%7C%7C0`;
    expect(await body(tick)).toMatchObject({ limit_order_tranche: { key: { tranche_key: "t||0" } } });
    expect((await node.get(`${DEX}/pool_reserves/${PAIR}/untrn/-5/1`)).status).toBe(404);
    const ibc = encodeURIComponent(`ibc/${"A".repeat(64)}<>untrn`);
    expect(await body(`tick_liquidity/${ibc}/untrn`)).toMatchObject({ tick_liquidity: [] });
  });
});

describe("the query service", () => {
  const service = findService("neutron.dex.Query");

  it("has a REST route for every method", () => {
    const routed = new Set(
      httpRules()
        .filter((rule) => rule.service === service?.name)
        .map(({ rpc }) => rpc),
    );
    expect(service?.methods.map(({ name }) => name).filter((name) => !routed.has(name))).toEqual([]);
  });

  it("answers every method over gRPC", async () => {
    for (const { path, requestType, responseType } of service?.methods ?? []) {
      const request = messageFromJson(requestType, {});
      const answer = await grpc.call(path, request).then(
        ({ value }) => messageToJson(responseType, value),
        (error: { readonly code: number }) => error.code,
      );
      // An empty request finds nothing, or fails its checks. No method is unimplemented.
      expect(typeof answer === "number" ? [2, 5, 13] : [answer]).toContain(answer);
    }
  });

  it("answers the same over gRPC as over REST", async () => {
    const request = messageFromJson("neutron.dex.QueryAllTickLiquidityRequest", {
      pair_id: "uibcatom<>untrn",
      token_in: "untrn",
    });
    const { value } = await grpc.call("/neutron.dex.Query/TickLiquidityAll", request);
    expect(messageToJson("neutron.dex.QueryAllTickLiquidityResponse", value)).toEqual(
      await body(`tick_liquidity/${PAIR}/untrn`),
    );
  });
});
