import { beforeEach, describe, expect, it } from "vitest";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import { formatAddress, moduleAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { DEC18_ONE } from "../../../../src/platform/base/decimal.ts";
import { ModuleError, ErrOutOfGas } from "../../../../src/localnet/chain/runtime/errors.ts";
import {
  account,
  castBank,
  consensusKey,
  type Name,
  NAMES,
  operator,
  stakeMessages,
  stakeParams,
} from "../../../support/stake-cast.ts";
import { AUTHORITY, createStakeWorld, ECHO, type StakeWorld } from "../../../support/stake-world.ts";

// Facts: the action and its hooks in order (SDK 0.50 with the hooks of the deployed fork).

const DAY = 86_400_000_000_000n;

let world: StakeWorld;
let height: bigint;
let timeNs: bigint;

beforeEach(() => {
  height = 1n;
  timeNs = DAY;
  world = createStakeWorld({ bank: castBank(1_000_000_000) }, 0n);
  world.run({
    "@type": "/neutron.harpoon.MsgManageHookSubscription",
    authority: AUTHORITY,
    hook_subscription: { contract_address: ECHO, hooks: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
  });
  block(() => create("a", 10_000_000));
  block(() => create("b", 5_000_000));
  world.calls.length = 0;
});

/** Runs the next block, one second later. */
function block(work: () => unknown = () => undefined, more: Parameters<StakeWorld["block"]>[3] = []): void {
  height += 1n;
  timeNs += 1_000_000_000n;
  world.block({ height, timeNs }, [], work, more);
}

const create = (name: Name, amount: number) => world.run(stakeMessages.create(name, amount));
const edit = (fields: JsonObject) => world.run(stakeMessages.edit("a", fields));
const delegate = (from: Name, to: Name, amount: number) =>
  world.run(stakeMessages.delegate(from, to, amount));
const undelegate = (from: Name, to: Name, amount: number) =>
  world.run(stakeMessages.undelegate(from, to, amount));
const redelegate = (from: Name, source: Name, destination: Name, amount: number) =>
  world.run(stakeMessages.redelegate(from, [source, destination], amount));

function doubleSign(name: Name, power: bigint): Parameters<StakeWorld["block"]>[3] {
  return [{ address: consensusKey(name).address, height: height - 1n, timeNs, power }];
}

const NUMBERS: Readonly<Record<string, number>> = {
  after_validator_created: 1,
  before_validator_modified: 2,
  after_validator_removed: 3,
  after_validator_bonded: 4,
  after_validator_begin_unbonding: 5,
  before_delegation_created: 6,
  before_delegation_shares_modified: 7,
  before_delegation_removed: 8,
  after_delegation_modified: 9,
  before_validator_slashed: 10,
  after_unbonding_initiated: 11,
};

/** The calls as "6(c,a)": hook, delegator and validator. */
function sequence(): string {
  return world.calls.map(([, message]) => describeCall(JSON.parse(message))).join(" ");
}

function describeCall(message: unknown): string {
  const [[name, body] = ["", {}]] = Object.entries(isRecord(message) ? message : {});
  const fields: Readonly<Record<string, unknown>> = isRecord(body) ? body : {};
  const names = ["del_addr", "val_addr"].flatMap((key) => {
    const known = NAMES.find((one) => [account(one), operator(one)].some((text) => text === fields[key]));
    return known === undefined ? [] : [known];
  });
  const id = typeof fields["id"] === "number" ? [fields["id"].toString()] : [];
  return `${NUMBERS[name] ?? name}(${[...names, ...id].join(",")})`;
}

const TABLE: readonly (readonly [action: string, run: () => void, sequence: string])[] = [
  ["create a validator that bonds", () => block(() => create("c", 1_000_000)), "1(c) 6(c,c) 9(c,c) 4(c)"],
  [
    "create a validator below the power of one",
    () => block(() => create("c", 999_999)),
    "1(c) 6(c,c) 9(c,c)",
  ],
  ["edit a description", () => block(() => edit({})), ""],
  [
    "edit a commission after a day",
    () => {
      timeNs += DAY;
      block(() => edit({ commission_rate: "0.105" }));
    },
    "2(a)",
  ],
  ["delegate for the first time", () => block(() => delegate("c", "a", 10)), "6(c,a) 9(c,a)"],
  ["delegate more", () => block(() => delegate("a", "a", 10)), "7(a,a) 9(a,a)"],
  ["undelegate a part", () => block(() => undelegate("a", "a", 10)), "7(a,a) 9(a,a) 11(1)"],
  [
    "undelegate everything of a bonded validator",
    () => block(() => undelegate("b", "b", 5_000_000)),
    "7(b,b) 8(b,b) 11(1) 5(b) 11(2)",
  ],
  [
    "undelegate twice in one block",
    () =>
      block(() => {
        undelegate("a", "a", 10);
        undelegate("a", "a", 10);
      }),
    "7(a,a) 9(a,a) 11(1) 7(a,a) 9(a,a)",
  ],
  [
    "redelegate a part",
    () => block(() => redelegate("a", "a", "b", 10)),
    "7(a,a) 9(a,a) 6(a,b) 9(a,b) 11(1)",
  ],
  [
    "redelegate everything of an unbonded validator",
    () => {
      block(() => create("c", 100));
      world.calls.length = 0;
      block(() => redelegate("c", "c", "a", 100));
    },
    "7(c,c) 8(c,c) 3(c) 6(c,a) 9(c,a)",
  ],
  [
    "undelegate everything of an unbonded validator",
    () => {
      block(() => create("c", 100));
      world.calls.length = 0;
      block(() => undelegate("c", "c", 100));
    },
    "7(c,c) 8(c,c) 3(c) 11(1)",
  ],
  ["cancel an undelegation", () => cancel(), "7(a,a) 9(a,a)"],
  ["double sign", () => block(undefined, doubleSign("b", 5n)), "2(b) 10(b) 5(b) 11(1)"],
  ["double sign of an unknown key", () => block(undefined, doubleSign("d", 5n)), ""],
  ["double sign without power", () => block(undefined, doubleSign("b", 0n)), "2(b) 5(b) 11(1)"],
  [
    "two validators change places",
    () => {
      block(() => limit(2));
      block(() => create("c", 20_000_000));
    },
    "1(c) 6(c,c) 9(c,c) 4(c) 5(b) 11(1)",
  ],
  [
    "the end of an unbonding time",
    () => {
      block(() => undelegate("b", "b", 5_000_000));
      world.calls.length = 0;
      timeNs += 22n * DAY;
      block();
    },
    "3(b)",
  ],
  ["a jail", () => block(() => world.staking.jail(world.context(), consensusKey("b").address)), "5(b) 11(1)"],
  [
    "an unjail after the jail time",
    () => {
      block(() => world.staking.jail(world.context(), consensusKey("b").address));
      world.calls.length = 0;
      block(() => world.run(stakeMessages.unjail("b")));
    },
    "4(b)",
  ],
  ["a slash of the present height", () => slash("b", height), "2(b) 10(b)"],
  ["a slash of a future height", () => expect(() => slash("b", height + 1n)).toThrow(FUTURE), "2(b)"],
  [
    "a slash of an unbonded validator",
    () => {
      block(() => create("c", 100));
      world.calls.length = 0;
      expect(() => slash("c", height)).toThrow("should not be slashing unbonded validator");
    },
    "",
  ],
  [
    "a redelegation that is slashed at its destination",
    () => {
      block(() => redelegate("b", "b", "a", 1_000_000));
      world.calls.length = 0;
      block(undefined, doubleSign("b", 5n));
    },
    "2(b) 7(b,a) 9(b,a) 10(b) 5(b) 11(2)",
  ],
];

const FUTURE = "impossible attempt to slash future infraction";

function slash(name: Name, at: bigint): void {
  const consensus = consensusKey(name).address;
  world.staking.slash(world.context(), { consensus, height: at, power: 5n, fraction: DEC18_ONE / 10n });
}

function cancel(): void {
  block(() => undelegate("a", "a", 10));
  world.calls.length = 0;
  block(() => world.run(stakeMessages.cancel("a", "a", 10, height - 1n)));
}

const limit = (maxValidators: number) => world.run(stakeParams(AUTHORITY, maxValidators));

describe("hooks of a genesis", () => {
  const genesis = (exported: boolean): JsonObject => ({
    bank: {
      balances: [
        {
          address: formatAddress("neutron", moduleAddress("not_bonded_tokens_pool")),
          coins: [{ denom: "untrn", amount: "5000000" }],
        },
      ],
    },
    harpoon: {
      hook_subscriptions: [1, 4, 6, 9].map((hook_type) => ({ hook_type, contract_addresses: [ECHO] })),
    },
    staking: {
      exported,
      validators: (["a", "b"] as const).map((name, index) => ({
        operator_address: operator(name),
        consensus_pubkey: stakeMessages.create(name, 1)["pubkey"] ?? null,
        status: "BOND_STATUS_UNBONDED",
        tokens: `${index + 2}000000`,
        delegator_shares: `${index + 2}000000`,
        description: { moniker: name },
        unbonding_time: "1970-01-01T00:00:00Z",
        commission: {
          commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
          update_time: "1970-01-01T00:00:00Z",
        },
        min_self_delegation: "1",
      })),
      delegations: (["a", "b"] as const).map((name, index) => ({
        delegator_address: account("c"),
        validator_address: operator(name),
        shares: `${index + 2}000000`,
      })),
    },
  });

  it("are those of its validators, then of its delegations, then of the highest power first", () => {
    world = createStakeWorld(genesis(false), 0n);
    expect(sequence()).toBe("1(a) 1(b) 6(c,a) 9(c,a) 6(c,b) 9(c,b) 4(b) 4(a)");
  });

  it("are none for an export", () => {
    world = createStakeWorld({ ...genesis(true) }, 0n);
    expect(sequence()).toBe("");
  });
});

describe("hooks of staking in order", () => {
  it.each(TABLE)("%s", (_action, run, expected) => {
    run();
    expect(sequence()).toBe(expected);
  });

  it("carry the effective fraction and the tokens of a slash", () => {
    block(undefined, doubleSign("b", 5n));
    const slashed = world.calls.map(([, message]) => message).find((one) => one.includes("slashed"));
    expect(slashed).toBe(
      `{"before_validator_slashed":{"val_addr":"${operator("b")}","fraction":"0.050000000000000000","tokens_to_burn":"250000"}}`,
    );
  });
});

/** Makes the contract fail on messages of one hook. */
function failOn(
  hook: string,
  error = new ModuleError("wasm", 5, "boom: execute wasm contract failed"),
): void {
  world.onSudo = (_context, _contract, message) => {
    if (message.startsWith(`{"${hook}"`)) throw error;
  };
}

const BOUND: readonly (readonly [hook: string, run: () => void])[] = [
  ["after_validator_created", () => create("c", 1_000_000)],
  ["before_delegation_created", () => delegate("c", "a", 10)],
  ["before_delegation_shares_modified", () => delegate("a", "a", 10)],
  ["before_delegation_removed", () => undelegate("b", "b", 5_000_000)],
  ["after_delegation_modified", () => delegate("c", "a", 10)],
];

const IGNORED: readonly (readonly [hook: string, run: () => void])[] = [
  [
    "after_validator_removed",
    () => {
      block(() => create("c", 100));
      block(() => undelegate("c", "c", 100));
    },
  ],
  ["after_unbonding_initiated", () => block(() => redelegate("a", "a", "b", 10))],
  ["after_unbonding_initiated", () => undelegate("a", "a", 10)],
  ["before_validator_modified", () => block(undefined, doubleSign("b", 5n))],
  ["before_validator_slashed", () => block(undefined, doubleSign("b", 5n))],
];

describe("errors of contracts", () => {
  it.each(BOUND)("%s fails the message", (hook, run) => {
    failOn(hook);
    expect(run).toThrow("execute wasm contract failed");
  });

  it.each(IGNORED)("%s is ignored", (hook, run) => {
    failOn(hook);
    expect(run).not.toThrow();
    expect(sequence()).not.toBe("");
  });

  it.each<[string, () => void]>([
    ["after_validator_bonded", () => block(() => create("c", 1_000_000))],
    ["after_validator_begin_unbonding", () => block(() => undelegate("b", "b", 5_000_000))],
    ["after_unbonding_initiated", () => block(undefined, doubleSign("b", 5n))],
  ])("of %s stop the chain at the end of a block", (hook, run) => {
    failOn(hook);
    expect(run).toThrow("execute wasm contract failed");
  });

  it.each(["before_delegation_shares_modified", "after_delegation_modified"])(
    "of %s stop the chain when a slash reaches a redelegation",
    (hook) => {
      block(() => redelegate("b", "b", "a", 1_000_000));
      failOn(hook);
      expect(() => block(undefined, doubleSign("b", 5n))).toThrow("execute wasm contract failed");
    },
  );

  it("leave what earlier contracts and the failing one wrote, when they are ignored", () => {
    world.onSudo = (context, _contract, message) => {
      if (!message.startsWith('{"before_validator_slashed"')) return;
      context.store("wasm").set(Uint8Array.of(1), Uint8Array.of(1));
      throw new ModuleError("wasm", 5, "boom: execute wasm contract failed");
    };
    block(undefined, doubleSign("b", 5n));
    expect(world.dump("wasm")).toEqual([["01", "01"]]);
  });

  it("are never ignored when the gas is used up", () => {
    failOn("after_unbonding_initiated", ErrOutOfGas("all"));
    expect(() => undelegate("a", "a", 10)).toThrow("out of gas");
  });
});
