import { describe, expect, it } from "vitest";
import { MsgPlaceLimitOrder } from "../../../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import { seedDex } from "../../../../src/localnet/chain/modules/dex/genesis.ts";
import { moduleParams } from "../../../../src/localnet/chain/modules/dex/params.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { profileNamed } from "../../../../src/localnet/chain/deviations/profile-named.ts";
import type { ProfileName } from "../../../../src/localnet/chain/deviations/deviations.ts";
import { moduleAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { createDexWorld, type DexWorld } from "../../../support/dex-world.ts";
import { createTestKey } from "../../../support/test-keys.ts";

const OWNER = createTestKey("owner").address;
const PARTIES = { creator: OWNER, receiver: OWNER };
const NOW_NS = 1_790_000_000_000_000_000n;
const HOUR_NS = 3_600_000_000_000n;

function fundedWorld(profile?: ProfileName): DexWorld {
  const world = createDexWorld(undefined, profileNamed(profile));
  world.fund(
    OWNER,
    ["TokenA", "TokenB"].map((denom) => ({ denom, amount: 1_000_000n })),
  );
  return world;
}

function run(world: DexWorld, message: string, json: JsonObject): JsonObject {
  const name = `neutron.dex.Msg${message}`;
  const handler = world.module.messages.find(({ typeUrl }) => typeUrl === `/${name}`);
  const bytes = messageFromJson(name, json);
  const { result } = world.run(NOW_NS, (context) => handler?.handle(context, bytes));
  return recordOf(messageToJson(`${name}Response`, result?.response ?? new Uint8Array(0)));
}

function recordOf(json: JsonValue): JsonObject {
  if (!isRecord(json)) throw new Error("not an object");
  return json;
}

function ticksOf(world: DexWorld): readonly JsonValue[] {
  const ticks = recordOf(world.read(NOW_NS, world.module.exportGenesis))["tick_liquidity_list"];
  return Array.isArray(ticks) ? ticks : [];
}

describe("a swap on deposit that ends behind enemy lines", () => {
  /** Both sides sell 2 % below the other one's price. Messages cannot cross the book; an import can. */
  function crossedWorld(profile?: ProfileName): DexWorld {
    const ticks = [
      { token_in: "TokenA", token_out: "TokenB" },
      { token_in: "TokenB", token_out: "TokenA" },
    ].flatMap((side) => {
      const world = fundedWorld(profile);
      run(world, "PlaceLimitOrder", { ...PARTIES, ...side, tick_index_in_to_out: 200, amount_in: "1000" });
      return ticksOf(world);
    });
    const world = fundedWorld(profile);
    world.run(NOW_NS, (context) => world.module.initGenesis(context, { tick_liquidity_list: ticks }));
    return world;
  }
  const deposit = (options: JsonObject): JsonObject => ({
    ...PARTIES,
    token_a: "TokenA",
    token_b: "TokenB",
    amounts_a: ["500"],
    amounts_b: ["0"],
    tick_indexes_a_to_b: [0],
    fees: [1],
    options: [{ swap_on_deposit: true, ...options }],
  });
  const text =
    "deposit failed at tick 0 fee 1: Cannot deposit at a price below the opposing token's current price";

  it("undoes its swap, for which nobody pays", () => {
    const world = crossedWorld();
    const before = ticksOf(world);
    expect(run(world, "Deposit", deposit({}))).toMatchObject({
      reserve0_deposited: ["0"],
      failed_deposits: [{ deposit_idx: "0", error: text }],
    });
    expect(ticksOf(world)).toEqual(before);
  });

  it("leaves its swap in the book with the profile deployed, also without a payment", () => {
    const world = crossedWorld("deployed");
    const before = ticksOf(world);
    expect(run(world, "Deposit", deposit({}))).toMatchObject({
      reserve0_deposited: ["0"],
      failed_deposits: [{ deposit_idx: "0", error: text }],
    });
    const orders = ticksOf(world);
    expect(orders).not.toEqual(before);
    // The order that sells TokenB was taken in part: 500 TokenA went to its maker.
    expect(JSON.stringify(orders)).toContain('"reserves_taker_denom":"500"');
    const paid = world.read(
      NOW_NS,
      (context) => world.bank.balance(context, moduleAddress("dex"), "TokenA").amount,
    );
    expect(paid).toBe(0n);
  });

  it("fails the message when the position wants it", () => {
    expect(() => run(crossedWorld(), "Deposit", deposit({ fail_tx_on_bel: true }))).toThrow(text);
  });
});

describe("the purge of expired orders", () => {
  it("pays for reading its allowance, and not for opening its walk", () => {
    const world = fundedWorld();
    const expiring = { order_type: "GOOD_TIL_TIME", expiration_time: "2026-09-21T14:13:21Z" };
    const order = { token_in: "TokenA", token_out: "TokenB", tick_index_in_to_out: -20, amount_in: "500" };
    run(world, "PlaceLimitOrder", { ...PARTIES, ...order, ...expiring });
    const beginWith = (goodTilPurgeAllowance: bigint): readonly string[] => {
      world.run(0n, (context) =>
        moduleParams.set(context, { ...moduleParams.defaults, goodTilPurgeAllowance }),
      );
      const begin = world.module.beginBlock;
      return world
        .run(NOW_NS + HOUR_NS, (context) => begin?.(context, { lastCommit: [] }))
        .events.map(({ type }) => type);
    };
    expect(beginWith(1n)).toEqual(["GoodTilPurgeHitGasLimit"]);
    expect(ticksOf(world)).toHaveLength(1);
    // Reading the parameters costs about 1,120 gas; opening the walk, 700.
    expect(beginWith(1_300n)).toEqual(["TickUpdate", "neutron"]);
    expect(ticksOf(world)).toEqual([]);
  });
});

it("a seeded book holds what its makers have paid", () => {
  const order = { ...PARTIES, token_in: "TokenA", token_out: "TokenB", amount_in: "600" };
  const message = messageFromJson("neutron.dex.MsgPlaceLimitOrder", { ...order, tick_index_in_to_out: 0 });
  const { balances } = seedDex({
    chainName: "neutron",
    bech32Prefix: "neutron",
    authority: OWNER,
    timeNs: NOW_NS,
    balances: [{ address: OWNER, coins: [{ denom: "TokenA", amount: 1_000n }] }],
    deposits: [],
    orders: [MsgPlaceLimitOrder.decode(message)],
  });
  const held = balances.map(({ address, coins }) => [address === OWNER, coins]);
  expect(held).toContainEqual([true, [{ denom: "TokenA", amount: 400n }]]);
  expect(held).toContainEqual([false, [{ denom: "TokenA", amount: 600n }]]);
});
