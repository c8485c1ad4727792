import { beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../src/platform/base/json.ts";
import {
  createHarpoonModule,
  type HarpoonModule,
} from "../../../../src/localnet/chain/modules/harpoon/module.ts";
import { parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import {
  QuerySubscribedContractsRequest,
  QuerySubscribedContractsResponse,
} from "../../../../src/cosmos/proto/gen/neutron/harpoon/query.ts";
import { MsgManageHookSubscription } from "../../../../src/cosmos/proto/gen/neutron/harpoon/tx.ts";
import { createMemoryWorld, type MemoryWorld } from "../../../support/memory-context.ts";

const C1 = "neutron159kr6k0y4f43dsrdyqlm9x23jajunegal4nglw044u7zl72u0eeqharq3a";
const C2 = "neutron1u9dulasrfe6laxwwjx83njhm5as466uz43arfheq79k8eqahqhasf3tj94";
const C3 = "neutron1k5996rnrjcu4dwxtjq46zuh4dryl6pdrlyja7fw2qm7yarkvk97s9uzmuz";
const AUTHORITY = "neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z";
const CONTRACTS = [C1, C2, C3];

let world: MemoryWorld;
let harpoon: HarpoonModule;
/** Sudo calls in order: contract and message. */
let calls: (readonly [contract: string, message: string])[];
/** Contracts whose sudo entry point fails. */
let failing: readonly string[];

beforeEach(() => {
  world = createMemoryWorld();
  calls = [];
  failing = [];
  harpoon = createHarpoonModule(
    { chainName: "neutron", bech32Prefix: "neutron", authority: AUTHORITY },
    {
      contracts: {
        isContract: (_context, address) => CONTRACTS.includes(address),
        sudo: (_context, contract, message) => {
          calls.push([contract, message]);
          if (failing.includes(contract))
            throw new ModuleError("wasm", 5, "boom: execute wasm contract failed");
        },
      },
    },
  );
});

interface Manage {
  readonly authority?: string;
  readonly contract?: string;
  readonly hooks?: readonly number[];
}

function manage({ authority = AUTHORITY, contract = C1, hooks = [] }: Manage): void {
  const hookSubscription = { contractAddress: contract, hooks: hooks.map(toHookType) };
  const [handler] = harpoon.messages;
  handler?.handle(
    world.context(),
    MsgManageHookSubscription.encode({ authority, hookSubscription }).finish(),
  );
}

/** Any number, as it may come in a message. */
function toHookType(value: number): QuerySubscribedContractsRequest["hookType"] {
  return QuerySubscribedContractsRequest.decode(
    Uint8Array.of(0x08, ...(value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >> 7])),
  ).hookType;
}

function subscribed(hook: number): readonly string[] {
  const [handler] = harpoon.queries;
  const request = QuerySubscribedContractsRequest.encode({ hookType: toHookType(hook) }).finish();
  return QuerySubscribedContractsResponse.decode(handler?.query(world.context(), request) ?? new Uint8Array())
    .contractAddresses;
}

function errorOf(work: () => unknown): {
  readonly codespace?: string;
  readonly code?: number;
  readonly text: string;
} {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError)
      return { codespace: error.codespace, code: error.code, text: error.message };
    return { text: error instanceof Error ? error.message : String(error) };
  }
  return { text: "" };
}

describe("MsgManageHookSubscription", () => {
  const INVALID = "failed to validate manage hook subscription message: ";

  it.each<[string, Manage, readonly [codespace: string, code: number, text: string]]>([
    [
      "empty authority",
      { authority: "" },
      ["undefined", 1, `${INVALID}authority is invalid: empty address string is not allowed`],
    ],
    [
      "malformed contract",
      { contract: "neutron1x" },
      [
        "undefined",
        1,
        `${INVALID}hook subscription contractAddress is invalid: decoding bech32 failed: invalid separator index 7`,
      ],
    ],
    [
      "a hook twice",
      { hooks: [4, 9, 4] },
      [
        "undefined",
        1,
        `${INVALID}subscription hooks are not unique: non-unique hook=HOOK_TYPE_AFTER_VALIDATOR_BONDED`,
      ],
    ],
    [
      "an unknown hook twice",
      { hooks: [100, 100] },
      ["undefined", 1, `${INVALID}subscription hooks are not unique: non-unique hook=100`],
    ],
    [
      "an unknown hook",
      { hooks: [100] },
      ["undefined", 1, `${INVALID}non-existing hook type: non-existing hook=100`],
    ],
    [
      "the unspecified hook",
      { hooks: [0] },
      ["undefined", 1, `${INVALID}non-existing hook type: unspecified hooks are not allowed`],
    ],
    [
      "an account that is no contract, also from a wrong authority",
      { authority: C1, contract: AUTHORITY, hooks: [1, 9] },
      ["sdk", 7, `contract address not found: ${AUTHORITY}: invalid address`],
    ],
    [
      "a wrong authority",
      { authority: C1, contract: C2, hooks: [1] },
      [
        "harpoon",
        2,
        `invalid authority; expected ${AUTHORITY}, got ${C1}: expected gov account as only signer for proposal message`,
      ],
    ],
  ])("refuses %s and stores nothing", (_name, message, [codespace, code, text]) => {
    const before = world.dump("harpoon");
    expect(errorOf(() => manage(message))).toEqual({ codespace, code, text });
    expect(world.dump("harpoon")).toEqual(before);
  });

  it("refuses a message without a subscription", () => {
    const [handler] = harpoon.messages;
    const message = MsgManageHookSubscription.encode({
      authority: AUTHORITY,
      hookSubscription: undefined,
    }).finish();
    expect(errorOf(() => handler?.handle(world.context(), message)).text).toBe(
      `${INVALID}hook subscription is empty`,
    );
  });

  it("replaces the whole set: kept hooks keep their place, new ones come last", () => {
    const steps: readonly (readonly [
      string,
      readonly number[],
      Readonly<Record<number, readonly string[]>>,
    ])[] = [
      [C1, [], { 1: [], 4: [], 11: [] }],
      [C1, [1], { 1: [C1] }],
      [C2, [1], { 1: [C1, C2] }],
      [C3, [1, 4], { 1: [C1, C2, C3], 4: [C3] }],
      [C2, [], { 1: [C1, C3], 4: [C3] }],
      [C2, [1, 4, 11, 2], { 1: [C1, C3, C2], 4: [C3, C2], 11: [C2], 2: [C2] }],
      [C2, [1, 11, 2, 8], { 1: [C1, C3, C2], 4: [C3], 11: [C2], 2: [C2], 8: [C2] }],
    ];
    for (const [contract, hooks, expected] of steps) {
      manage({ contract, hooks });
      for (const [hook, contracts] of Object.entries(expected))
        expect(subscribed(Number(hook)), `after ${contract} [${hooks.join(",")}]: ${hook}`).toEqual(
          contracts,
        );
    }
  });

  it("stores a record for each hook type under a big-endian key, and deletes empty ones", () => {
    manage({ hooks: [4] });
    const prefix = "737562736372697074696f6e73";
    const address = Buffer.from(C1).toString("hex");
    expect(world.dump("harpoon")).toEqual([[`${prefix}00000004`, `08041242${address}`]]);
    manage({ hooks: [] });
    expect(world.dump("harpoon")).toEqual([]);
  });
});

describe("SubscribedContracts", () => {
  it.each([
    [0, "unspecified hooks are not allowed"],
    [12, "non-existing hook=12"],
  ])("refuses hook type %d", (hook, text) => {
    expect(errorOf(() => subscribed(hook))).toEqual({ text });
  });
});

describe("the hooks", () => {
  const ONES = new Uint8Array(20).fill(1);
  const DEL = "neutron1qyqszqgpqyqszqgpqyqszqgpqyqszqgpkvguhm";
  const VAL = "neutronvaloper1qyqszqgpqyqszqgpqyqszqgpqyqszqgpv3393l";
  const CONS = "neutronvalcons1qyqszqgpqyqszqgpqyqszqgpqyqszqgpczzea7";

  it.each<[number, (context: ReturnType<MemoryWorld["context"]>) => void, string]>([
    [
      1,
      (context) => harpoon.hooks.afterValidatorCreated(context, ONES),
      `{"after_validator_created":{"val_addr":"${VAL}"}}`,
    ],
    [
      2,
      (context) => harpoon.hooks.beforeValidatorModified(context, ONES),
      `{"before_validator_modified":{"val_addr":"${VAL}"}}`,
    ],
    [
      3,
      (context) => harpoon.hooks.afterValidatorRemoved(context, ONES, ONES),
      `{"after_validator_removed":{"cons_addr":"${CONS}","val_addr":"${VAL}"}}`,
    ],
    [
      4,
      (context) => harpoon.hooks.afterValidatorBonded(context, ONES, ONES),
      `{"after_validator_bonded":{"cons_addr":"${CONS}","val_addr":"${VAL}"}}`,
    ],
    [
      5,
      (context) => harpoon.hooks.afterValidatorBeginUnbonding(context, ONES, ONES),
      `{"after_validator_begin_unbonding":{"cons_addr":"${CONS}","val_addr":"${VAL}"}}`,
    ],
    [
      6,
      (context) => harpoon.hooks.beforeDelegationCreated(context, ONES, ONES),
      `{"before_delegation_created":{"del_addr":"${DEL}","val_addr":"${VAL}"}}`,
    ],
    [
      7,
      (context) => harpoon.hooks.beforeDelegationSharesModified(context, ONES, ONES),
      `{"before_delegation_shares_modified":{"del_addr":"${DEL}","val_addr":"${VAL}"}}`,
    ],
    [
      8,
      (context) => harpoon.hooks.beforeDelegationRemoved(context, ONES, ONES),
      `{"before_delegation_removed":{"del_addr":"${DEL}","val_addr":"${VAL}"}}`,
    ],
    [
      9,
      (context) => harpoon.hooks.afterDelegationModified(context, ONES, ONES),
      `{"after_delegation_modified":{"del_addr":"${DEL}","val_addr":"${VAL}"}}`,
    ],
    [
      10,
      (context) =>
        harpoon.hooks.beforeValidatorSlashedWithTokensToBurn(context, ONES, {
          fraction: "0.010000000000000000",
          tokensToBurn: 1000n,
        }),
      `{"before_validator_slashed":{"val_addr":"${VAL}","fraction":"0.010000000000000000","tokens_to_burn":"1000"}}`,
    ],
    [
      11,
      (context) => harpoon.hooks.afterUnbondingInitiated(context, 18_446_744_073_709_551_615n),
      `{"after_unbonding_initiated":{"id":18446744073709551615}}`,
    ],
  ])("send type %d to its subscribers only", (hook, fire, message) => {
    fire(world.context());
    expect(calls).toEqual([]);
    manage({ hooks: [hook] });
    manage({ contract: C2, hooks: [hook === 1 ? 2 : 1] });
    fire(world.context());
    expect(calls).toEqual([[C1, message]]);
  });

  it("call in order of subscription, and throw the error of the first contract that fails", () => {
    for (const contract of [C3, C1, C2]) manage({ contract, hooks: [1] });
    failing = [C1];
    const validator = parseAddress("neutronvaloper", VAL);
    const message = `{"after_validator_created":{"val_addr":"${VAL}"}}`;
    expect(errorOf(() => harpoon.hooks.afterValidatorCreated(world.context(), validator))).toEqual({
      codespace: "wasm",
      code: 5,
      text:
        "failed to call sudo for subscriptions for hookType=HOOK_TYPE_AFTER_VALIDATOR_CREATED: " +
        `could not execute sudo call successfully for hook_type=HOOK_TYPE_AFTER_VALIDATOR_CREATED, msg=${message}, ` +
        `contract_address=${C1}: boom: execute wasm contract failed`,
    });
    expect(calls.map(([contract]) => contract)).toEqual([C3, C1]);
  });
});

describe("genesis", () => {
  const record = (hook: JsonValue, contracts: readonly string[]): JsonValue => ({
    hook_type: hook,
    contract_addresses: [...contracts],
  });
  const init = (...records: readonly JsonValue[]): void =>
    harpoon.initGenesis(world.context(), { hook_subscriptions: [...records] });

  it("takes names and numbers, and prints what it read", () => {
    init(record("HOOK_TYPE_AFTER_VALIDATOR_BONDED", [C1]), record(8, [C1, C2]));
    expect(subscribed(8)).toEqual([C1, C2]);
    expect(harpoon.exportGenesis(world.context())).toEqual({
      hook_subscriptions: [
        record("HOOK_TYPE_AFTER_VALIDATOR_BONDED", [C1]),
        record("HOOK_TYPE_BEFORE_DELEGATION_REMOVED", [C1, C2]),
      ],
    });
  });

  it.each<[string, readonly JsonValue[], string]>([
    [
      "an empty address",
      [record(1, [""])],
      "[0]: invalid contract_address= in genesis state: empty address string is not allowed",
    ],
    ["the unspecified type", [record(0, [C1])], "[0]: unspecified hooks are not allowed"],
    ["an unknown type", [record(200, [C1])], "[0]: non-existing hook=200"],
    ["a type twice", [record(1, [C1]), record(1, [C1])], "[1]: duplicate hook type: 1"],
    ["a contract twice", [record(1, [C1, C1])], `[0]: duplicate contract address: ${C1} for hook type: 1`],
    [
      "an account that is no contract",
      [record(1, [AUTHORITY])],
      `[0]: contract address not found: ${AUTHORITY}: invalid address`,
    ],
  ])("refuses %s", (_name, records, text) => {
    expect(errorOf(() => init(...records)).text).toBe(`app_state.harpoon.hook_subscriptions${text}`);
  });
});
