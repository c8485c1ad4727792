import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/platform/base/json.ts";
import { moduleParams as consensusParams } from "../../../../src/localnet/chain/modules/consensus/module.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import {
  account,
  castBank,
  consensusKey,
  type Name,
  operator,
  stakeMessages,
  stakeParams,
} from "../../../support/stake-cast.ts";
import { AUTHORITY, createStakeWorld, type StakeWorld } from "../../../support/stake-world.ts";

// Every field of every message wrong in turn. Codes and texts are those of the SDK (x/staking and x/slashing of 0.50), and where
// there is a recording, of modules/staking-txs.json.

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const BAD = "decoding bech32 failed: invalid bech32 string length 1";

let world: StakeWorld;
let height: bigint;
let timeNs: bigint;

beforeEach(() => {
  [height, timeNs] = [0n, DAY];
  world = createStakeWorld({ bank: castBank(1_000_000_000) }, 0n);
  block(stakeMessages.create("a", 10_000_000), stakeMessages.create("b", 5_000_000));
});

function block(...messages: readonly JsonObject[]): void {
  height += 1n;
  timeNs += SECOND;
  world.block({ height, timeNs }, [], () => messages.forEach((one) => world.run(one)));
}

function accuse(name: Name): void {
  height += 1n;
  timeNs += SECOND;
  const evidence = { address: consensusKey(name).address, height: height - 1n, timeNs, power: 5n };
  world.block({ height, timeNs }, [], undefined, [evidence]);
}

type Refusal = readonly [codespace: string, code: number, text: string];

function refusalOf(message: JsonObject): Refusal | undefined {
  try {
    world.atomically(() => world.run(message));
  } catch (error) {
    if (error instanceof ModuleError) return [error.codespace, error.code, error.message];
    throw error;
  }
  return undefined;
}

type Row = readonly [what: string, fields: Readonly<Record<string, JsonValue>>, refusal: Refusal];

const request = (text: string): Refusal => ["sdk", 18, `${text}: invalid request`];
const address = (text: string): Refusal => ["sdk", 7, `${text}: invalid address`];
const wrongDenom = (denom: string): Refusal =>
  request(`invalid coin denomination: got ${denom}, expected untrn`);
const coin = (amount: string, denom = "untrn") => ({ denom, amount });
const rates = (rate: string, max: string, change: string) => ({
  rate,
  max_rate: max,
  max_change_rate: change,
});

/** Rows that every message with an amount shares. */
function amountRows(words: string, field = "amount"): readonly Row[] {
  return [
    ["no amount", { [field]: null }, request(words)],
    ["an amount of zero", { [field]: coin("0") }, request(words)],
    ["a negative amount", { [field]: coin("-1") }, request(words)],
    ["an invalid denomination", { [field]: coin("1", "1x") }, request(words)],
    ["another denomination", { [field]: coin("1", "uibcatom") }, wrongDenom("uibcatom")],
  ];
}

const LONG: readonly (readonly [string, string, number])[] = [
  ["moniker", "moniker", 70],
  ["identity", "identity", 3000],
  ["website", "website", 140],
  ["security_contact", "security contact", 140],
  ["details", "details", 280],
];
const longRows = LONG.map(
  ([field, name, max]): Row => [
    `a ${name} that is too long`,
    { description: { moniker: "m", [field]: "x".repeat(max + 1) } },
    request(`invalid ${name} length; got: ${max + 1}, max: ${max}`),
  ],
);

const CREATE: readonly Row[] = [
  [
    "no operator",
    { validator_address: "" },
    address("invalid validator address: empty address string is not allowed"),
  ],
  [
    "an operator that does not decode",
    { validator_address: "x" },
    address(`invalid validator address: ${BAD}`),
  ],
  [
    "an operator with the prefix of accounts",
    { validator_address: account("c") },
    address(
      "invalid validator address: hrp does not match bech32 prefix: expected 'neutronvaloper' got 'neutron': internal logic error",
    ),
  ],
  [
    "an operator that has a validator",
    { validator_address: operator("a") },
    [
      "staking",
      4,
      "validator already exist for this operator address; must use new validator operator address",
    ],
  ],
  ["no key", { pubkey: null }, ["staking", 39, "empty validator public key"]],
  [
    "the key of another validator",
    { pubkey: stakeMessages.create("a", 1)["pubkey"] ?? null },
    ["staking", 5, "validator already exist for this pubkey; must use new validator pubkey"],
  ],
  [
    "a key of another type",
    {
      pubkey: {
        "@type": "/cosmos.crypto.secp256k1.PubKey",
        key: "AvMdHVpitzHNSdD1Zw3kY+L5PEIPyd9l6sD5i4aIfXp9",
      },
    },
    ["staking", 6, "got: secp256k1, expected: [ed25519]: validator pubkey type is not supported"],
  ],
  [
    "a key that is too short",
    { pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: "AQI=" } },
    ["sdk", 29, "Expecting cryptotypes.PubKey of type ed25519, 32 bytes: invalid type"],
  ],
  ...amountRows("invalid delegation amount", "value"),
  [
    "more than the balance",
    { value: coin("1000000001") },
    ["sdk", 5, "failed to delegate; 1000000000untrn is smaller than 1000000001untrn: insufficient funds"],
  ],
  ["no description", { description: {} }, request("empty description")],
  ...longRows,
  [
    "a negative maximum rate",
    { commission: rates("0", "-0.1", "0") },
    ["staking", 9, "commission must be positive"],
  ],
  [
    "a maximum rate above 1",
    { commission: rates("0", "1.1", "0") },
    ["staking", 10, "commission cannot be more than 100%"],
  ],
  [
    "a negative rate",
    { commission: rates("-0.1", "0.2", "0") },
    ["staking", 9, "commission must be positive"],
  ],
  [
    "a rate above the maximum",
    { commission: rates("0.3", "0.2", "0") },
    ["staking", 11, "commission cannot be more than the max rate"],
  ],
  [
    "a negative change rate",
    { commission: rates("0.1", "0.2", "-0.1") },
    ["staking", 13, "commission change rate must be positive"],
  ],
  [
    "a change rate above the maximum",
    { commission: rates("0.1", "0.2", "0.3") },
    ["staking", 14, "commission change rate cannot be more than the max rate"],
  ],
  [
    "a minimum self-delegation of zero",
    { min_self_delegation: "0" },
    request("minimum self delegation must be a positive integer"),
  ],
  [
    "a negative minimum self-delegation",
    { min_self_delegation: "-1" },
    request("minimum self delegation must be a positive integer"),
  ],
  [
    "less than the minimum self-delegation",
    { min_self_delegation: "2000001" },
    ["staking", 16, "validator's self delegation must be greater than their minimum self delegation"],
  ],
];

const EDIT: readonly Row[] = [
  [
    "an operator that does not decode",
    { validator_address: "x" },
    address(`invalid validator address: ${BAD}`),
  ],
  [
    "an operator without a validator",
    { validator_address: operator("d") },
    ["staking", 3, "validator does not exist"],
  ],
  ["no description", { description: {} }, request("empty description")],
  ...longRows,
  [
    "a rate above 1",
    { commission_rate: "1.1" },
    request("commission rate must be between 0 and 1 (inclusive)"),
  ],
  [
    "a negative rate",
    { commission_rate: "-0.1" },
    request("commission rate must be between 0 and 1 (inclusive)"),
  ],
  [
    "a rate within a day",
    { commission_rate: "0.1" },
    ["staking", 12, "commission cannot be changed more than once in 24h"],
  ],
  [
    "a minimum self-delegation of zero",
    { min_self_delegation: "0" },
    request("minimum self delegation must be a positive integer"),
  ],
  [
    "the same minimum self-delegation",
    { min_self_delegation: "1" },
    ["staking", 17, "minimum self delegation cannot be decrease"],
  ],
  [
    "a minimum self-delegation above the tokens",
    { min_self_delegation: "10000001" },
    ["staking", 16, "validator's self delegation must be greater than their minimum self delegation"],
  ],
];

const DELEGATOR_AND_VALIDATOR: readonly Row[] = [
  [
    "no delegator",
    { delegator_address: "" },
    address("invalid delegator address: empty address string is not allowed"),
  ],
  [
    "a delegator that does not decode",
    { delegator_address: "x" },
    address(`invalid delegator address: ${BAD}`),
  ],
  [
    "no validator",
    { validator_address: "" },
    address("invalid validator address: empty address string is not allowed"),
  ],
  [
    "a validator that does not decode",
    { validator_address: "x" },
    address(`invalid validator address: ${BAD}`),
  ],
  ["an unknown validator", { validator_address: operator("d") }, ["staking", 3, "validator does not exist"]],
];

const NO_DELEGATION: Refusal = ["staking", 19, "no delegation for (address, validator) tuple"];

const DELEGATE: readonly Row[] = [
  ...DELEGATOR_AND_VALIDATOR,
  ...amountRows("invalid delegation amount"),
  [
    "more than the balance",
    { amount: coin("990000001") },
    ["sdk", 5, "failed to delegate; 990000000untrn is smaller than 990000001untrn: insufficient funds"],
  ],
];

const UNDELEGATE: readonly Row[] = [
  ...DELEGATOR_AND_VALIDATOR,
  ...amountRows("invalid shares amount"),
  ["a delegator without a delegation", { delegator_address: account("c") }, NO_DELEGATION],
  ["more than the delegation", { amount: coin("10000001") }, request("invalid shares amount")],
];

const REDELEGATE: readonly Row[] = [
  [
    "a delegator that does not decode",
    { delegator_address: "x" },
    address(`invalid delegator address: ${BAD}`),
  ],
  [
    "a source that does not decode",
    { validator_src_address: "x" },
    address(`invalid source validator address: ${BAD}`),
  ],
  [
    "a destination that does not decode",
    { validator_dst_address: "x" },
    address(`invalid destination validator address: ${BAD}`),
  ],
  ...amountRows("invalid shares amount"),
  ["an unknown source", { validator_src_address: operator("d") }, ["staking", 3, "validator does not exist"]],
  [
    "an unknown destination",
    { validator_dst_address: operator("d") },
    ["staking", 31, "redelegation destination validator not found"],
  ],
  [
    "the same validator",
    { validator_dst_address: operator("a") },
    ["staking", 29, "cannot redelegate to the same validator"],
  ],
  ["a source without a delegation", { delegator_address: account("c") }, NO_DELEGATION],
  ["more than the delegation", { amount: coin("10000001") }, request("invalid shares amount")],
];

const CANCEL: readonly Row[] = [
  ...DELEGATOR_AND_VALIDATOR,
  ...amountRows("invalid amount"),
  ["no height", { creation_height: "0" }, request("invalid height")],
  ["a negative height", { creation_height: "-1" }, request("invalid height")],
  [
    "another height",
    { creation_height: "1" },
    ["sdk", 38, "unbonding delegation entry is not found at block height 1: not found"],
  ],
  [
    "more than the entry",
    { amount: coin("101") },
    request("amount is greater than the unbonding delegation entry balance"),
  ],
  [
    "a delegator without an undelegation",
    { delegator_address: account("c") },
    [
      "undefined",
      1,
      `rpc error: code = NotFound desc = unbonding delegation with delegator ${account("c")} not found for validator ${operator("a")}`,
    ],
  ],
];

const UNJAIL: readonly Row[] = [
  [
    "no operator",
    { validator_addr: "" },
    address("validator input address: empty address string is not allowed"),
  ],
  ["an operator that does not decode", { validator_addr: "x" }, address(`validator input address: ${BAD}`)],
  [
    "an operator without a validator",
    { validator_addr: operator("d") },
    ["staking", 3, "validator does not exist"],
  ],
  ["a validator that is free", {}, ["slashing", 5, "validator not jailed; cannot be unjailed"]],
];

const params = stakeParams(AUTHORITY, 100)["params"];
const withParam = (name: string, value: JsonValue) => ({
  params: { ...JSON.parse(JSON.stringify(params)), [name]: value },
});
const undefinedError = (text: string): Refusal => ["undefined", 1, text];

const PARAMS: readonly Row[] = [
  [
    "another authority",
    { authority: account("a") },
    [
      "gov",
      13,
      `invalid authority; expected ${AUTHORITY}, got ${account("a")}: expected gov account as only signer for proposal message`,
    ],
  ],
  [
    "no unbonding time",
    withParam("unbonding_time", "0s"),
    undefinedError("unbonding time must be positive: 0"),
  ],
  ["no validators", withParam("max_validators", 0), undefinedError("max validators must be positive: 0")],
  ["no entries", withParam("max_entries", 0), undefinedError("max entries must be positive: 0")],
  ["no denomination", withParam("bond_denom", " "), undefinedError("bond denom cannot be blank")],
  ["an invalid denomination", withParam("bond_denom", "1x"), undefinedError("invalid denom: 1x")],
  [
    "a negative minimum rate",
    withParam("min_commission_rate", "-0.1"),
    undefinedError("minimum commission rate cannot be negative: -100000000000000000"),
  ],
  [
    "a minimum rate above 1",
    withParam("min_commission_rate", "1.1"),
    undefinedError("minimum commission rate cannot be greater than 100%: 1100000000000000000"),
  ],
];

const MESSAGES: readonly (readonly [string, () => JsonObject, readonly Row[]])[] = [
  ["MsgCreateValidator", () => stakeMessages.create("c", 2_000_000), CREATE],
  ["MsgEditValidator", () => stakeMessages.edit("a"), EDIT],
  ["MsgDelegate", () => stakeMessages.delegate("a", "b", 100), DELEGATE],
  ["MsgUndelegate", () => stakeMessages.undelegate("a", "a", 100), UNDELEGATE],
  ["MsgBeginRedelegate", () => stakeMessages.redelegate("a", ["a", "b"], 100), REDELEGATE],
  [
    "MsgCancelUnbondingDelegation",
    () => {
      block(stakeMessages.undelegate("a", "a", 100));
      return stakeMessages.cancel("a", "a", 100, height);
    },
    CANCEL,
  ],
  ["MsgUnjail", () => stakeMessages.unjail("a"), UNJAIL],
  ["MsgUpdateParams of staking", () => stakeParams(AUTHORITY, 100), PARAMS],
];

describe.each(MESSAGES)("%s", (_name, valid, rows) => {
  it.each(rows)("refuses %s", (_what, fields, refusal) => {
    expect(refusalOf({ ...valid(), ...fields })).toEqual(refusal);
  });
});

it.each(MESSAGES.filter(([name]) => name !== "MsgUnjail"))("%s is accepted otherwise", (_name, valid) => {
  expect(refusalOf(valid())).toBeUndefined();
});

it("a secp256k1 key is refused also where the consensus parameters allow its type", () => {
  const validator = { pubKeyTypes: ["ed25519", "secp256k1"] };
  consensusParams.set(world.context(), { ...consensusParams.get(world.context()), validator });
  const pubkey = CREATE.find(([what]) => what === "a key of another type")?.[1];
  expect(refusalOf({ ...stakeMessages.create("c", 2_000_000), ...pubkey })).toEqual([
    "sdk",
    29,
    "Expecting cryptotypes.PubKey of type ed25519, 32 bytes: invalid type",
  ]);
});

it("an unbonding id is in the index until its undelegation or redelegation is complete", () => {
  // Prefix 0x38, then the id: the store key of what is unbonding.
  const indexed = (): readonly string[] =>
    world
      .dump("staking")
      .flatMap(([key, value]) =>
        key.startsWith("38") ? [`${BigInt(`0x${key.slice(2)}`)} ${value.slice(0, 2)}`] : [],
      );
  block(stakeMessages.undelegate("a", "a", 100), stakeMessages.redelegate("a", ["a", "b"], 100));
  block(stakeMessages.undelegate("a", "a", 100));
  expect(indexed()).toEqual(["1 32", "2 34", "3 32"]);
  timeNs += 20n * DAY;
  block();
  expect(indexed()).toHaveLength(3);
  timeNs += DAY;
  block();
  expect(indexed()).toEqual([]);
});

describe("messages that the state refuses", () => {
  it("a commission beyond the bounds of the validator", () => {
    timeNs += DAY;
    block();
    expect(refusalOf(stakeMessages.edit("a", { commission_rate: "0.201" }))).toEqual([
      "staking",
      11,
      "commission cannot be more than the max rate",
    ]);
    expect(refusalOf(stakeMessages.edit("a", { commission_rate: "0.111" }))).toEqual([
      "staking",
      15,
      "commission cannot be changed more than max change rate",
    ]);
    expect(refusalOf(stakeMessages.edit("a", { commission_rate: "0.11" }))).toBeUndefined();
  });

  it("a rate below the minimum of the parameters", () => {
    block({ ...stakeParams(AUTHORITY, 100), ...withParam("min_commission_rate", "0.05") });
    const low = { ...stakeMessages.create("c", 2_000_000), commission: rates("0.01", "0.2", "0.01") };
    expect(refusalOf(low)).toEqual([
      "staking",
      40,
      "cannot set validator commission to less than minimum rate of 0.050000000000000000: commission cannot be less than min rate",
    ]);
    expect(refusalOf(stakeMessages.edit("a", { commission_rate: "0.01" }))).toEqual(
      request("commission rate cannot be less than the min commission rate 0.050000000000000000"),
    );
  });

  it("an eighth entry of an undelegation and of a redelegation, and a transitive redelegation", () => {
    for (let entry = 0; entry < 7; entry++)
      block(stakeMessages.undelegate("a", "a", 10), stakeMessages.redelegate("a", ["a", "b"], 10));
    expect(refusalOf(stakeMessages.undelegate("a", "a", 10))?.slice(0, 2)).toEqual(["staking", 27]);
    expect(refusalOf(stakeMessages.redelegate("a", ["a", "b"], 10))?.slice(0, 2)).toEqual(["staking", 33]);
    expect(refusalOf(stakeMessages.redelegate("a", ["b", "a"], 10))?.slice(0, 2)).toEqual(["staking", 32]);
  });

  it("whatever a validator of a double sign wants", () => {
    block(stakeMessages.undelegate("b", "b", 100));
    const undelegated = height;
    accuse("b");
    expect(refusalOf(stakeMessages.unjail("b"))).toEqual([
      "slashing",
      4,
      "validator still jailed; cannot be unjailed",
    ]);
    expect(refusalOf(stakeMessages.cancel("b", "b", 10, undelegated))).toEqual([
      "staking",
      7,
      "validator for this address is currently jailed",
    ]);
  });

  it("an unjail without a self-delegation, or with too small a one", () => {
    block(stakeMessages.delegate("c", "b", 1_000_000), {
      ...stakeMessages.edit("b"),
      min_self_delegation: "4000000",
    });
    block(stakeMessages.undelegate("b", "b", 2_000_000));
    expect(refusalOf(stakeMessages.unjail("b"))).toEqual([
      "slashing",
      7,
      "3000000 less than 4000000: validator's self delegation less than minimum; cannot be unjailed",
    ]);
    block(stakeMessages.undelegate("b", "b", 3_000_000));
    expect(refusalOf(stakeMessages.unjail("b"))).toEqual([
      "slashing",
      6,
      "validator has no self-delegation; cannot be unjailed",
    ]);
  });
});
