import { beforeEach, describe, expect, it } from "vitest";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { countAccesses } from "../../support/counted-accesses.ts";
import { createDexWorld, type DexWorld } from "../../support/dex-world.ts";
import { castBank, stakeMessages } from "../../support/stake-cast.ts";
import { AUTHORITY, createStakeWorld, ECHO, type StakeWorld } from "../../support/stake-world.ts";

// Each store access consumes gas. Their numbers are those of the deployed modules: with them, the recorded chains of
// `npm run conformance:contracts` have the same gas.

const ADMIN = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";

function manage(hooks: readonly number[]): JsonObject {
  return {
    "@type": "/neutron.harpoon.MsgManageHookSubscription",
    authority: AUTHORITY,
    hook_subscription: { contract_address: ECHO, hooks: [...hooks] },
  };
}

const propose = (message: JsonObject): JsonObject => ({
  "@type": "/cosmos.adminmodule.adminmodule.MsgSubmitProposal",
  messages: [message],
  proposer: ADMIN,
});

describe("accesses of staking, its hooks and the admin module", () => {
  let world: StakeWorld;
  let height = 1n;

  const block = (work: () => unknown): void => {
    height += 1n;
    world.block({ height, timeNs: height * 1_000_000_000n }, [], work);
  };

  beforeEach(() => {
    world = createStakeWorld({ bank: castBank(1_000_000_000), adminmodule: { admins: [ADMIN] } }, 0n);
    block(() => world.run(stakeMessages.create("a", 10_000_000)));
    block(() => world.run(stakeMessages.create("b", 5_000_000)));
  });

  it.each<readonly [string, JsonObject, string]>([
    ["a delegation", stakeMessages.delegate("c", "a", 10), "9 reads, 2 looks, 8 writes, 1 deletes"],
    ["an undelegation", stakeMessages.undelegate("a", "a", 10), "17 reads, 4 looks, 14 writes, 1 deletes"],
    [
      "a redelegation",
      stakeMessages.redelegate("a", ["a", "b"], 10),
      "14 reads, 5 looks, 15 writes, 2 deletes, 1 seeks",
    ],
    [
      "an undelegation that jails the validator",
      stakeMessages.undelegate("a", "a", 10_000_000),
      "18 reads, 4 looks, 12 writes, 4 deletes",
    ],
    ["a validator", stakeMessages.create("c", 10), "12 reads, 3 looks, 12 writes, 1 deletes"],
    ["a first subscription", manage([9]), "12 looks, 1 writes"],
    ["a subscription without hooks", manage([]), "12 looks"],
    ["a proposal", propose(manage([])), "2 reads, 12 looks, 3 writes"],
  ])("of %s", (_name, message, expected) => {
    expect(countAccesses((gas) => world.atomically(() => world.run(message), gas))).toBe(expected);
  });

  it("of a subscriber that leaves", () => {
    world.run(manage([9]));
    expect(countAccesses((gas) => world.atomically(() => world.run(manage([])), gas))).toBe(
      "1 reads, 12 looks, 1 deletes",
    );
  });
});

describe("accesses of the exchange", () => {
  let world: DexWorld;

  beforeEach(() => {
    world = createDexWorld();
    world.fund(
      ADMIN,
      ["aaa", "bbb", "ccc"].map((denom) => ({ denom, amount: 1_000n })),
    );
  });

  function count(name: string, fields: JsonObject): string {
    const typeUrl = `/neutron.dex.${name}`;
    const handler = world.module.messages.find((one) => one.typeUrl === typeUrl);
    const bytes = messageFromJson(typeUrl.slice(1), { creator: ADMIN, receiver: ADMIN, ...fields });
    return countAccesses((gas) => world.run(1n, (context) => handler?.handle(context.withGas(gas), bytes)));
  }

  const deposit = (tick: number): JsonObject => ({
    token_a: "aaa",
    token_b: "bbb",
    amounts_a: ["10"],
    amounts_b: ["10"],
    tick_indexes_a_to_b: [tick],
    fees: [1],
    options: [{}],
  });
  const order = (orderType: string): JsonObject => ({
    token_in: "aaa",
    token_out: "bbb",
    tick_index_in_to_out: -200,
    amount_in: "100",
    order_type: orderType,
  });

  it("for a new pool, an order with a new tranche, and an order for one block", () => {
    expect([
      count("MsgDeposit", deposit(0)),
      count("MsgDeposit", deposit(0)),
      count("MsgPlaceLimitOrder", order("GOOD_TIL_CANCELLED")),
      count("MsgPlaceLimitOrder", order("JUST_IN_TIME")),
    ]).toEqual([
      "23 reads, 4 looks, 21 writes, 2 deletes, 2 seeks",
      "21 reads, 3 looks, 15 writes, 2 deletes, 2 seeks",
      "9 reads, 1 looks, 7 writes, 3 seeks",
      "12 reads, 1 looks, 9 writes, 2 seeks",
    ]);
  });

  it("for routes with the same beginning, whose swaps are paid once", () => {
    const large = { ...deposit(0), amounts_a: ["300"], amounts_b: ["300"] };
    count("MsgDeposit", large);
    count("MsgDeposit", { ...large, token_a: "bbb", token_b: "ccc" });
    const swap = (...routes: readonly (readonly string[])[]): string =>
      count("MsgMultiHopSwap", {
        routes: routes.map((hops) => ({ hops: [...hops] })),
        amount_in: "50",
        exit_limit_price: "0.1",
        pick_best_route: true,
      });
    const one = swap(["aaa", "bbb", "ccc"]);
    const same = swap(["aaa", "bbb", "ccc"], ["aaa", "bbb", "ccc"]);
    expect([one, same]).toEqual([
      "10 reads, 2 looks, 12 writes, 6 seeks",
      // Only the two prices again.
      "10 reads, 2 looks, 12 writes, 8 seeks",
    ]);
  });
});
