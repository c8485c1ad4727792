import { beforeEach, describe, expect, it } from "vitest";
import { toBase64 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { evidenceAge } from "../../../../src/localnet/chain/modules/consensus/module.ts";
import { GenesisError } from "../../../../src/localnet/chain/runtime/genesis.ts";
import { validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import { AUTHORITY, createStakeWorld, type StakeWorld } from "../../../support/stake-world.ts";

const KEYS = [1, 2].map((byte) => validatorKey(new Uint8Array(32).fill(byte)));
const OPERATORS = [1, 2].map((byte) => new Uint8Array(20).fill(byte));
const operator = (index: number): string =>
  formatAddress("neutronvaloper", OPERATORS[index] ?? new Uint8Array());
const account = (index: number): string => formatAddress("neutron", OPERATORS[index] ?? new Uint8Array());
const SECOND = 1_000_000_000n;

let world: StakeWorld;
let height: bigint;
let timeNs: bigint;

beforeEach(() => {
  height = 0n;
  timeNs = SECOND;
  world = createStakeWorld(
    {
      bank: {
        balances: [0, 1].map((index) => ({
          address: account(index),
          coins: [{ denom: "untrn", amount: "100000000" }],
        })),
      },
      slashing: {
        params: {
          signed_blocks_window: "4",
          min_signed_per_window: "0.5",
          downtime_jail_duration: "60s",
          slash_fraction_double_sign: "0.05",
          slash_fraction_downtime: "0.01",
        },
      },
    },
    0n,
  );
  block([], () => [0, 1].forEach((index) => create(index)));
});

function create(index: number): void {
  world.run({
    "@type": "/cosmos.staking.v1beta1.MsgCreateValidator",
    description: { moniker: "v" },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: operator(index),
    pubkey: {
      "@type": "/cosmos.crypto.ed25519.PubKey",
      key: toBase64(KEYS[index]?.publicKey ?? new Uint8Array()),
    },
    value: { denom: "untrn", amount: "10000000" },
  });
}

function addressOf(index: number): Uint8Array {
  return KEYS[index]?.address ?? new Uint8Array();
}

/** Runs a block; `signed` says who signed the block before it. */
function block(
  signed: readonly boolean[] = [],
  work?: () => void,
  accused: readonly number[] = [],
): ReturnType<StakeWorld["block"]> {
  height += 1n;
  timeNs += SECOND;
  const votes = signed.map((one, index) => ({ address: addressOf(index), power: 10n, signed: one }));
  const misbehavior = accused.map((index) => ({
    address: addressOf(index),
    height: height - 1n,
    timeNs,
    power: 10n,
  }));
  return world.block({ height, timeNs }, votes, work, misbehavior);
}

function exportOf(name: string): JsonValue {
  const module = world.modules.find((one) => one.name === name);
  return module?.exportGenesis(world.context()) ?? null;
}

function list(value: JsonValue, name: string): readonly JsonValue[] {
  const found = isRecord(value) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

function unjail(index: number): void {
  world.run({ "@type": "/cosmos.slashing.v1beta1.MsgUnjail", validator_addr: operator(index) });
}

function missUntilJailed(): ReturnType<StakeWorld["block"]> {
  for (let missed = 0; missed < 4; missed++) block([true, false]);
  return block([true, false]);
}

describe("downtime", () => {
  it("slashes and jails in the block after the first whole window, and the set loses the validator", () => {
    for (let missed = 0; missed < 4; missed++) expect(block([true, false]).updates).toEqual([]);
    const { events, updates } = block([true, false]);
    expect(events.find(({ type }) => type === "slash")?.attributes.map(({ value }) => value)).toEqual([
      formatAddress("neutronvalcons", addressOf(1)),
      "10",
      "missing_signature",
      formatAddress("neutronvalcons", addressOf(1)),
      "100000",
      "BeginBlock",
    ]);
    expect(updates).toEqual([{ key: toBase64(KEYS[1]?.publicKey ?? new Uint8Array()), power: 0n }]);
  });

  it("does not punish one block less, nor a validator that is jailed", () => {
    for (let missed = 0; missed < 2; missed++) block([true, false]);
    for (let signed = 0; signed < 20; signed++) expect(block([true, true]).updates).toEqual([]);
    missUntilJailed();
    for (let missed = 0; missed < 8; missed++) expect(block([true, false]).events).toEqual([]);
  });

  it("ends with an unjail after the jail time, not before", () => {
    missUntilJailed();
    expect(() => unjail(1)).toThrow("validator still jailed; cannot be unjailed");
    timeNs += 60n * SECOND;
    const { updates } = block([true], () => unjail(1));
    expect(updates).toEqual([{ key: toBase64(KEYS[1]?.publicKey ?? new Uint8Array()), power: 9n }]);
  });
});

describe("a double sign", () => {
  it("jails without end and counts once", () => {
    const { updates } = block([true, true], undefined, [1]);
    expect(updates.map(({ power }) => power)).toEqual([0n]);
    timeNs += 10_000_000n * SECOND;
    expect(() => unjail(1)).toThrow("validator still jailed; cannot be unjailed");
    expect(block([true], undefined, [1]).events).toEqual([]);
  });
});

/** Accuses a validator of a double sign `blocks` and `ageNs` ago. Returns whether it was punished. */
function isPunished(blocks: bigint, ageNs: bigint): boolean {
  const accused = { address: addressOf(1), height: height - blocks, timeNs: timeNs - ageNs, power: 10n };
  const { events } = world.block({ height, timeNs }, [], undefined, [accused]);
  return events.some(({ type }) => type === "slash");
}

describe("evidence of a double sign", () => {
  it("counts until it is too old in blocks and in time", () => {
    const most = evidenceAge(world.context());
    height = most.blocks + 10n;
    timeNs = most.timeNs + 10n * SECOND;
    expect(isPunished(most.blocks + 1n, most.timeNs + 1n)).toBe(false);
    expect(isPunished(most.blocks + 1n, most.timeNs)).toBe(true);
  });

  it("counts when only its time has passed", () => {
    const most = evidenceAge(world.context());
    height = most.blocks + 10n;
    timeNs = most.timeNs + 10n * SECOND;
    expect(isPunished(most.blocks, most.timeNs + 1n)).toBe(true);
  });

  it("slashes what was undelegated in the block before the accused one, which the validator secured", () => {
    const undelegate = (): Uint8Array =>
      world.run({
        "@type": "/cosmos.staking.v1beta1.MsgUndelegate",
        delegator_address: account(1),
        validator_address: operator(1),
        amount: { denom: "untrn", amount: "1000000" },
      });
    block([true, true], undelegate);
    block([true, true], undelegate);
    block([true, true]);
    // The third block is accused, whose validators were set in the second one.
    block([true, true], undefined, [1]);
    const [unbonding] = list(exportOf("staking"), "unbonding_delegations");
    const entries = list(unbonding ?? null, "entries");
    expect(entries.map((entry) => (isRecord(entry) ? entry["balance"] : ""))).toEqual(["1000000", "950000"]);
  });
});

describe("genesis", () => {
  it("is the same after an export and an import", () => {
    block([true, true], () => {
      const amount = { denom: "untrn", amount: "1234567" };
      world.run({
        "@type": "/cosmos.staking.v1beta1.MsgUndelegate",
        delegator_address: account(0),
        validator_address: operator(0),
        amount,
      });
      world.run({
        "@type": "/cosmos.staking.v1beta1.MsgBeginRedelegate",
        delegator_address: account(0),
        validator_src_address: operator(0),
        validator_dst_address: operator(1),
        amount,
      });
    });
    block([true, false]);
    const names = ["auth", "bank", "harpoon", "staking", "slashing"];
    const state: JsonObject = Object.fromEntries(names.map((name) => [name, exportOf(name)]));
    const before = world;
    world = createStakeWorld(state, timeNs);
    expect(Object.fromEntries(names.map((name) => [name, exportOf(name)]))).toEqual(state);
    expect(world.dump("slashing")).toEqual(before.dump("slashing"));
    // The SDK exports neither the index of unbonding ids nor their kinds, and no headers of past blocks.
    const stored = (from: StakeWorld) => from.dump("staking").filter(([key]) => !/^(38|39|50|61)/.test(key));
    expect(stored(world)).toEqual(stored(before));
  });

  it("is refused when it contradicts itself", () => {
    block();
    const names = ["auth", "bank", "staking", "slashing"];
    const state: JsonObject = Object.fromEntries(names.map((name) => [name, exportOf(name)]));
    const start = (staking: JsonObject) => () => createStakeWorld({ ...state, staking }, 0n);
    const staking = isRecord(state["staking"]) ? state["staking"] : {};
    const [first = null] = list(staking, "validators");
    expect(start({ ...staking, validators: [first] })).toThrow(GenesisError);
    expect(start({ ...staking, delegations: [] })).toThrow("delegator_shares");
    expect(start({ ...staking, validators: [...list(staking, "validators"), first] })).toThrow(
      "duplicate validator",
    );
    expect(() => createStakeWorld({ ...state, bank: {} }, 0n)).toThrow("bonded_tokens_pool has 0untrn");
    const power = { address: operator(0).replace("1", "1x"), power: "1" };
    expect(start({ ...staking, last_validator_powers: [power] })).toThrow("last_validator_powers[0]");
  });

  it.each(["unbonding_delegations", "redelegations"])("is refused with %s twice", (name) => {
    const amount = { denom: "untrn", amount: "5" };
    const ofOne = { delegator_address: account(0), amount };
    block([], () => {
      world.run({
        "@type": "/cosmos.staking.v1beta1.MsgUndelegate",
        ...ofOne,
        validator_address: operator(0),
      });
      world.run({
        "@type": "/cosmos.staking.v1beta1.MsgBeginRedelegate",
        ...ofOne,
        validator_src_address: operator(0),
        validator_dst_address: operator(1),
      });
    });
    const state: JsonObject = Object.fromEntries(
      ["auth", "bank", "staking", "slashing"].map((one) => [one, exportOf(one)]),
    );
    const staking = isRecord(state["staking"]) ? state["staking"] : {};
    const [entry = null] = list(staking, name);
    expect(() => createStakeWorld({ ...state, staking: { ...staking, [name]: [entry, entry] } }, 0n)).toThrow(
      `app_state.staking.${name}[1]: duplicate entry for the same accounts`,
    );
  });

  it("is refused when the infos of slashing contradict each other", () => {
    block([true, false]);
    const slashing = exportOf("slashing");
    const state = isRecord(slashing) ? slashing : {};
    const start = (changes: JsonObject) => () => createStakeWorld({ slashing: { ...state, ...changes } }, 0n);
    const [first = null, second = null] = list(state, "signing_infos");
    const [one, other] = [isRecord(first) ? first : {}, isRecord(second) ? second : {}];
    const swapped = { ...one, validator_signing_info: other["validator_signing_info"] ?? null };
    expect(start({ signing_infos: [swapped] })).toThrow(
      "app_state.slashing.signing_infos[0]: expected the info of",
    );
    const missed = { address: one["address"] ?? null, missed_blocks: [{ index: "4", missed: true }] };
    expect(start({ missed_blocks: [missed] })).toThrow("block 4 is not in the window of 4");
  });
});

describe("coins", () => {
  it("stay in the pools over random actions, and shares add up", () => {
    // A linear congruence: the same sequence in every run.
    let seed = 12_345;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor(seed / 65_536) % below;
    };
    let accepted = 0;
    for (let step = 0; step < 400; step++) {
      const [from, to, other] = [random(2), random(2), random(2)];
      const amount = { denom: "untrn", amount: String(1 + random(3_000_000)) };
      const messages: readonly JsonObject[] = [
        { "@type": "/cosmos.staking.v1beta1.MsgDelegate", validator_address: operator(to) },
        { "@type": "/cosmos.staking.v1beta1.MsgUndelegate", validator_address: operator(to) },
        {
          "@type": "/cosmos.staking.v1beta1.MsgBeginRedelegate",
          validator_src_address: operator(to),
          validator_dst_address: operator(other),
        },
      ];
      const message = { ...messages[random(3)], delegator_address: account(from), amount };
      block([true, random(3) > 0], () => {
        try {
          world.atomically(() => world.run(message));
          accepted += 1;
        } catch (error) {
          expect(error).toHaveProperty("codespace");
        }
      });
      if (random(40) === 0) timeNs += 2_000_000n * SECOND;
      requireSound();
    }
    expect(accepted).toBeGreaterThan(100);
  });
});

/** Imports an export: the import checks pools and shares. */
function requireSound(): void {
  const names = ["auth", "bank", "staking", "slashing"];
  expect(() =>
    createStakeWorld(Object.fromEntries(names.map((name) => [name, exportOf(name)])), timeNs),
  ).not.toThrow();
}

describe("parameters", () => {
  it.each([
    ["signed_blocks_window", "0", "signed blocks window must be positive: 0"],
    ["slash_fraction_downtime", "1.1", "downtime slash fraction too large"],
    ["downtime_jail_duration", "0s", "downtime jail duration must be positive: 0"],
  ])("%s %s is refused", (field, value, text) => {
    const params = list({ all: [exportOf("slashing")] }, "all").map((one) =>
      isRecord(one) ? one["params"] : null,
    )[0];
    const message = { ...(isRecord(params) ? params : {}), [field]: value };
    expect(() =>
      world.run({
        "@type": "/cosmos.slashing.v1beta1.MsgUpdateParams",
        authority: AUTHORITY,
        params: JSON.parse(JSON.stringify(message)),
      }),
    ).toThrow(text);
  });

  it("are the authority's", () => {
    const message = { "@type": "/cosmos.slashing.v1beta1.MsgUpdateParams", authority: account(0) };
    expect(() => world.run(message)).toThrow(`invalid authority; expected ${AUTHORITY}, got ${account(0)}`);
  });
});
