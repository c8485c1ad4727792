import { beforeEach, describe, expect, it } from "vitest";
import { isRecord, type JsonObject } from "../../../src/base/json.ts";
import { ModuleError } from "../../../src/chain/runtime/module-error.ts";
import { ErrOutOfGas } from "../../../src/chain/runtime/sdk-errors.ts";
import {
  account,
  castBank,
  consensusKey,
  type Name,
  NAMES,
  operator,
  stakeMessages,
  stakeParams,
} from "../../support/stake-cast.ts";
import { AUTHORITY, createStakeWorld, ECHO, type StakeWorld } from "../../support/stake-world.ts";

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

function cancel(): void {
  block(() => undelegate("a", "a", 10));
  world.calls.length = 0;
  block(() => world.run(stakeMessages.cancel("a", "a", 10, height - 1n)));
}

const limit = (maxValidators: number) => world.run(stakeParams(AUTHORITY, maxValidators));

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

  it("stop the chain at the end of a block", () => {
    failOn("after_validator_bonded");
    expect(() => block(() => create("c", 1_000_000))).toThrow("execute wasm contract failed");
  });

  it("are never ignored when the gas is used up", () => {
    failOn("after_unbonding_initiated", ErrOutOfGas("all"));
    expect(() => undelegate("a", "a", 10)).toThrow("out of gas");
  });
});
