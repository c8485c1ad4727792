import { describe, expect, it } from "vitest";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { createDexWorld, type DexWorld } from "../../../support/dex-world.ts";
import { createTestKey } from "../../../support/test-keys.ts";

const OWNER = createTestKey("owner").address;
const TAKER = createTestKey("taker").address;
const NOW_NS = 1_790_000_000_000_000_000n;

/** A world with pools, filled, cancelled and timed orders. */
function populatedWorld(): DexWorld {
  const world = createDexWorld();
  for (const address of [OWNER, TAKER]) {
    const coins = ["TokenA", "TokenB"].map((denom) => ({ denom, amount: 1_000_000n }));
    world.fund(address, coins);
  }
  const pools = { amounts_a: ["1000", "0"], amounts_b: ["1000", "700"], options: [{}, {}] };
  const parties = { token_a: "TokenA", token_b: "TokenB", tick_indexes_a_to_b: [0, 200], fees: [1, 5] };
  run(world, "Deposit", { creator: OWNER, receiver: OWNER, ...parties, ...pools });
  order(world, { amount_in: "500", tick_index_in_to_out: -20 });
  order(world, { amount_in: "300", tick_index_in_to_out: -30, ...untilYear("2030") });
  order(world, { amount_in: "200", tick_index_in_to_out: -40, ...untilYear("2031") });
  const taker = { creator: TAKER, receiver: TAKER, token_in: "TokenB", token_out: "TokenA" };
  // Fills the pool and the first two orders.
  order(world, { ...taker, amount_in: "1900", tick_index_in_to_out: 35, order_type: "IMMEDIATE_OR_CANCEL" });
  return world;
}

function untilYear(year: string): JsonObject {
  return { order_type: "GOOD_TIL_TIME", expiration_time: `${year}-01-01T00:00:00Z` };
}

function order(world: DexWorld, change: JsonObject): void {
  const parties = { creator: OWNER, receiver: OWNER, token_in: "TokenA", token_out: "TokenB" };
  run(world, "PlaceLimitOrder", { ...parties, min_average_sell_price: "0.5", ...change });
}

function run(world: DexWorld, message: string, json: JsonObject): void {
  const handler = world.module.messages.find(({ typeUrl }) => typeUrl === `/neutron.dex.Msg${message}`);
  const bytes = messageFromJson(`neutron.dex.Msg${message}`, json);
  world.run(NOW_NS, (context) => handler?.handle(context, bytes));
}

function exported(world: DexWorld): JsonObject {
  const genesis = world.read(NOW_NS, world.module.exportGenesis);
  if (!isRecord(genesis)) throw new Error("not an object");
  return genesis;
}

function imported(genesis: JsonValue): DexWorld {
  const world = createDexWorld();
  world.run(NOW_NS, (context) => world.module.initGenesis(context, genesis));
  return world;
}

function listOf(genesis: JsonObject, name: string): readonly JsonValue[] {
  const list = genesis[name];
  return Array.isArray(list) ? list : [];
}

describe("genesis of the dex", () => {
  it("exports every list", () => {
    const genesis = exported(populatedWorld());
    const lengths = Object.entries(genesis).flatMap(([name, list]) =>
      Array.isArray(list) ? [[name, list.length]] : [],
    );
    expect(Object.fromEntries(lengths)).toEqual({
      tick_liquidity_list: 3,
      inactive_limit_order_tranche_list: 2,
      limit_order_tranche_user_list: 3,
      limit_order_expiration_list: 2,
      pool_metadata_list: 2,
      deposit_record_list: 2,
      pool_list: 2,
    });
    expect(genesis).toMatchObject({ pool_count: "2", tranche_count: "4" });
  });

  it("is the same after an import, save for the records that follow from balances", () => {
    const genesis = exported(populatedWorld());
    expect(exported(imported(genesis))).toEqual({ ...genesis, deposit_record_list: [] });
  });

  it("creates the expirations of active tranches when the list is absent", () => {
    const genesis = exported(populatedWorld());
    const { limit_order_expiration_list: expirations, ...rest } = genesis;
    // The filled order keeps its expiration until the purge, which only the list can tell.
    expect(Array.isArray(expirations) && expirations[1]).toEqual(
      listOf(exported(imported(rest)), "limit_order_expiration_list")[0],
    );
  });

  it("has defaults without a document or without parameters", () => {
    const world = createDexWorld();
    world.clear();
    world.run(NOW_NS, (context) => world.module.initGenesis(context, undefined));
    expect(exported(world)).toEqual(exported(createDexWorld()));
    expect(exported(imported({}))).toEqual(exported(createDexWorld()));
  });

  it.each([
    ["limit_order_tranche_user_list", "duplicated index for LimitOrderTrancheUser"],
    ["tick_liquidity_list", "duplicated index for tickLiquidity"],
    ["inactive_limit_order_tranche_list", "duplicated index for inactiveLimitOrderTranche"],
    ["pool_metadata_list", "duplicated id for poolMetadata"],
  ])("is rejected when %s has an entry twice", (name, text) => {
    const genesis = exported(populatedWorld());
    const [first = null] = listOf(genesis, name);
    const twice = { ...genesis, [name]: [...listOf(genesis, name), first] };
    expect(() => imported(twice)).toThrow(`app_state.dex: ${text}`);
  });

  it.each<[JsonObject, string]>([
    [{ pool_count: "1" }, "poolMetadata id should be lower or equal than the last id"],
    [{ params: { fee_tiers: [1, 1] } }, "invalid fee tiers: duplicate fee tier found"],
    [{ params: { whitelisted_lps: ["x"] } }, "invalid whitelisted LPs: invalid LP address (x)"],
    [{ tick_liquidity_list: [{}] }, "tick_liquidity_list[0]: expected liquidity or limit_order_tranche"],
    [{ pool_counts: "1" }, "has no such field"],
    [{ pool_count: -1 }, "expected a uint64"],
  ])("is rejected with %j", (change, text) => {
    expect(() => imported({ ...exported(populatedWorld()), ...change })).toThrow(text);
  });
});
