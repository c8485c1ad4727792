import { describe, expect, it } from "vitest";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import type { JsonObject, JsonValue } from "../../../src/platform/base/json.ts";
import { cellText, fieldAt } from "../../../src/platform/cli/table.ts";
import { createAuthModule } from "../../../src/localnet/chain/modules/auth/module.ts";
import { createBankModule } from "../../../src/localnet/chain/modules/bank/module.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../../src/localnet/chain/runtime/address.ts";
import type { Vesting } from "../../../src/localnet/chain/runtime/vesting.ts";
import { createMemoryWorld } from "../../support/memory-context.ts";
import { startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const alice = createTestKey("alice");
const carol = createTestKey("carol");
/** The first block's time, Unix seconds. */
const START = 1_790_000_001n;
const YEAR = 31_536_000n;
const QUARTER = YEAR / 4n;

const TO = carol.address;
const FROM = alice.address;

const coins = (amount: string, denom = "untrn") => [{ denom, amount }];
const start = (more: JsonObject = {}): TestChain =>
  startTestChain({ ...testGenesis([{ key: alice, untrn: 100_000_000n }]), ...more });

function packed(type: string, fields: JsonObject) {
  const name = `cosmos.vesting.v1beta1.Msg${type}`;
  return {
    typeUrl: `/${name}`,
    value: messageFromJson(name, { from_address: FROM, to_address: TO, ...fields }),
  };
}

/** Runs a block at a time with one message of alice or carol. */
function deliver(chain: TestChain, message: ReturnType<typeof packed>, at?: bigint, more = {}) {
  const tx = buildTx({ key: alice, sequence: 0n, gas: 400_000n, messages: [message], ...more });
  const request = chain.nextRequest(tx);
  const timeNs = at === undefined ? request.timeNs : at * 1_000_000_000n;
  const [result] = chain.app.finalizeBlock({ ...request, timeNs }).txResults;
  chain.app.commit();
  const log = result?.log.replace(/^.*message index: 0: /, "");
  return { code: result?.code, codespace: result?.codespace, log };
}

function passTo(chain: TestChain, at: bigint): void {
  chain.app.finalizeBlock({ ...chain.nextRequest(), timeNs: at * 1_000_000_000n });
  chain.app.commit();
}

function ask(chain: TestChain, method: string, fields: JsonObject): JsonValue {
  const type = method.replace("/", "");
  const data = messageFromJson(`${type}Request`, fields);
  const response = chain.app.query({ path: `/${method}`, data, height: 0n, prove: false });
  expect(response.log).toBe("");
  return messageToJson(`${type}Response`, response.value);
}

const spendable = (chain: TestChain): JsonValue =>
  ask(chain, "cosmos.bank.v1beta1.Query/SpendableBalanceByDenom", { address: TO, denom: "untrn" });
const account = (chain: TestChain): JsonValue =>
  ask(chain, "cosmos.auth.v1beta1.Query/Account", { address: TO });
const balance = (amount: string) => ({ balance: { denom: "untrn", amount } });

const CREATED = { code: 0, codespace: "", log: "" };

describe("a continuous account", () => {
  it("vests evenly from the block of its message to its end", () => {
    const chain = start();
    const message = packed("CreateVestingAccount", {
      amount: coins("40000001"),
      end_time: String(START + YEAR),
    });
    expect(deliver(chain, message, START)).toEqual(CREATED);
    expect(account(chain)).toEqual({
      account: {
        "@type": "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
        base_vesting_account: {
          base_account: { address: TO, pub_key: null, account_number: expect.any(String), sequence: "0" },
          original_vesting: coins("40000001"),
          delegated_free: [],
          delegated_vesting: [],
          end_time: String(START + YEAR),
        },
        start_time: String(START),
      },
    });
    expect(spendable(chain)).toEqual(balance("0"));
    // Halves are rounded to the even number.
    const vested = ["10000000", "20000000", "30000001", "40000001"];
    vested.forEach((amount, index) => {
      passTo(chain, START + QUARTER * BigInt(index + 1));
      expect(spendable(chain)).toEqual(balance(amount));
    });
  });

  it("spends what has vested and what it received, and pays no fee from locked coins", () => {
    const chain = start();
    const end = String(START + YEAR);
    deliver(chain, packed("CreateVestingAccount", { amount: coins("40000000"), end_time: end }), START);
    const send = (amount: bigint, at: bigint, sequence: bigint) =>
      deliver(chain, sendMessage(TO, FROM, amount), at, {
        key: carol,
        sequence,
        accountNumber: numberOf(chain),
      });
    expect(send(1n, START, 0n).log).toContain("spendable balance 0untrn is smaller than 5000untrn");
    const later = START + QUARTER;
    expect(send(9_995_001n, later, 0n).log).toBe(
      "spendable balance 9995000untrn is smaller than 9995001untrn: insufficient funds",
    );
    expect(spendable(chain)).toEqual(balance("9995000"));
    expect(send(9_990_000n, later, 1n)).toEqual(CREATED);
    expect(spendable(chain)).toEqual(balance("0"));
    expect(ask(chain, "cosmos.bank.v1beta1.Query/SpendableBalances", { address: TO })).toMatchObject({
      balances: coins("0"),
    });
    deliver(chain, sendMessage(FROM, TO, 7n), later, { sequence: 1n });
    expect(spendable(chain)).toEqual(balance("7"));
  });
});

function numberOf(chain: TestChain): bigint {
  const info = ask(chain, "cosmos.auth.v1beta1.Query/AccountInfo", { address: TO });
  return BigInt(cellText(fieldAt(info, "info.account_number")));
}

it("a delayed account has everything at its end, and nothing before", () => {
  const chain = start();
  const fields = { amount: coins("40"), end_time: String(START + YEAR), delayed: true };
  expect(deliver(chain, packed("CreateVestingAccount", fields), START)).toEqual(CREATED);
  passTo(chain, START + YEAR - 1n);
  expect(spendable(chain)).toEqual(balance("0"));
  passTo(chain, START + YEAR);
  expect(spendable(chain)).toEqual(balance("40"));
});

it("a periodic account has each period's coins at the period's end", () => {
  const chain = start();
  const vesting_periods = [
    { length: "100", amount: coins("3") },
    { length: "50", amount: coins("4") },
  ];
  const fields = { start_time: String(START + 10n), vesting_periods };
  expect(deliver(chain, packed("CreatePeriodicVestingAccount", fields), START)).toEqual(CREATED);
  expect(account(chain)).toMatchObject({
    account: {
      "@type": "/cosmos.vesting.v1beta1.PeriodicVestingAccount",
      base_vesting_account: { original_vesting: coins("7"), end_time: String(START + 160n) },
      start_time: String(START + 10n),
      vesting_periods,
    },
  });
  const steps: readonly (readonly [seconds: bigint, amount: string])[] = [
    [109n, "0"],
    [110n, "3"],
    [159n, "3"],
    [160n, "7"],
  ];
  for (const [seconds, amount] of steps) {
    passTo(chain, START + seconds);
    expect(spendable(chain)).toEqual(balance(amount));
  }
});

it("a permanently locked account never has anything", () => {
  const chain = start();
  expect(deliver(chain, packed("CreatePermanentLockedAccount", { amount: coins("40") }), START)).toEqual(
    CREATED,
  );
  passTo(chain, START + 100n * YEAR);
  expect(spendable(chain)).toEqual(balance("0"));
});

const period = (length: string, amount: string) => ({ length, amount: coins(amount) });
const BLOCKED = formatAddress("neutron", moduleAddress("interchainqueries"));

it.each<readonly [string, string, JsonObject, number, string]>([
  ["CreateVestingAccount", "no end", { amount: coins("1") }, 18, "invalid end time: invalid request"],
  ["CreateVestingAccount", "no coins", { amount: [], end_time: "1" }, 10, ": invalid coins"],
  [
    "CreateVestingAccount",
    "no recipient",
    { to_address: "", end_time: "1", amount: coins("1") },
    7,
    "invalid 'to' address: empty address string is not allowed: invalid address",
  ],
  [
    "CreateVestingAccount",
    "a module account",
    { to_address: BLOCKED, end_time: "1", amount: coins("1") },
    4,
    `${BLOCKED} is not allowed to receive funds: unauthorized`,
  ],
  [
    "CreateVestingAccount",
    "an account that exists",
    { to_address: FROM, end_time: "1", amount: coins("1") },
    18,
    `account ${FROM} already exists: invalid request`,
  ],
  [
    "CreateVestingAccount",
    "too many coins",
    { amount: coins("100000001"), end_time: "1" },
    5,
    "spendable balance 99995000untrn is smaller than 100000001untrn: insufficient funds",
  ],
  ["CreatePermanentLockedAccount", "negative coins", { amount: coins("-1") }, 10, "-1untrn: invalid coins"],
  [
    "CreatePeriodicVestingAccount",
    "no start",
    { vesting_periods: [period("1", "1")] },
    18,
    "invalid start time of 0, length must be greater than 0: invalid request",
  ],
  [
    "CreatePeriodicVestingAccount",
    "an empty period",
    { start_time: "1", vesting_periods: [period("1", "1"), period("0", "1")] },
    18,
    "invalid period length of 0 in period 1, length must be greater than 0: invalid request",
  ],
  [
    "CreatePeriodicVestingAccount",
    "no periods",
    { start_time: "1" },
    18,
    "vesting start-time cannot be before end-time: invalid request",
  ],
  [
    "CreatePeriodicVestingAccount",
    "an end beyond 64 bits",
    { start_time: "1", vesting_periods: [period("9223372036854775807", "1")] },
    18,
    "vesting start-time cannot be before end-time: invalid request",
  ],
])("%s is refused with %s", (...row) => {
  const [type, , fields, code, log] = row;
  expect(deliver(start(), packed(type, fields))).toEqual({ code, codespace: "sdk", log });
});

it("an end in the past is accepted, and everything has vested a second later", () => {
  const chain = start();
  expect(
    deliver(chain, packed("CreateVestingAccount", { amount: coins("9"), end_time: "1" }), START),
  ).toEqual(CREATED);
  expect(spendable(chain)).toEqual(balance("0"));
  passTo(chain, START + 1n);
  expect(spendable(chain)).toEqual(balance("9"));
});

function vestingAccount(type: string, base: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    "@type": `/cosmos.vesting.v1beta1.${type}`,
    base_vesting_account: {
      base_account: { address: TO, pub_key: null, account_number: "7", sequence: "0" },
      original_vesting: coins("40"),
      delegated_free: [],
      delegated_vesting: [],
      end_time: String(START + YEAR),
      ...base,
    },
    ...more,
  };
}

describe("a genesis", () => {
  const withAccount = (one: JsonObject): JsonObject => ({
    auth: { accounts: [one] },
    bank: { balances: [{ address: TO, coins: coins("30") }] },
    vesting: {},
  });

  it.each([
    vestingAccount("ContinuousVestingAccount", {}, { start_time: String(START) }),
    vestingAccount("DelayedVestingAccount", { delegated_free: coins("5"), delegated_vesting: coins("6") }),
    vestingAccount(
      "PeriodicVestingAccount",
      {},
      { start_time: String(START), vesting_periods: [period(String(YEAR), "40")] },
    ),
    vestingAccount("PermanentLockedAccount", { end_time: "0" }),
  ])("has accounts of every type, as exported", (one) => {
    const chain = startTestChain(withAccount(one));
    expect(account(chain)).toEqual({ account: one });
    expect(chain.app.exportState()).toMatchObject({
      auth: { accounts: expect.arrayContaining([one]) },
      vesting: {},
    });
  });

  it.each<readonly [string, JsonObject]>([
    [
      "vesting start-time cannot be before end-time",
      vestingAccount("ContinuousVestingAccount", { end_time: "5" }, { start_time: "5" }),
    ],
    ["permanently vested accounts cannot have an end-time", vestingAccount("PermanentLockedAccount", {})],
    ["end time cannot be negative", vestingAccount("DelayedVestingAccount", { end_time: "-1" })],
    ["invalid coins: ", vestingAccount("DelayedVestingAccount", { original_vesting: [] })],
    [
      "delegated vesting amount cannot be greater than original vesting amount",
      vestingAccount("DelayedVestingAccount", { delegated_vesting: coins("41") }),
    ],
    [
      "vesting end time does not match length of all vesting periods",
      vestingAccount("PeriodicVestingAccount", {}, { start_time: "1", vesting_periods: [period("5", "40")] }),
    ],
    [
      "original vesting coins (40untrn) does not match the sum of all coins in vesting periods (39untrn)",
      vestingAccount(
        "PeriodicVestingAccount",
        { end_time: "6" },
        { start_time: "1", vesting_periods: [period("5", "39")] },
      ),
    ],
    [
      "period #0 has a negative length: -5",
      vestingAccount(
        "PeriodicVestingAccount",
        {},
        { start_time: "1", vesting_periods: [period("-5", "40")] },
      ),
    ],
  ])("is refused: %s", (text, one) => {
    expect(() => startTestChain(withAccount(one))).toThrow(`app_state.auth.accounts[0]: ${text}`);
  });

  it("with fewer coins than are locked lets nothing be spent", () => {
    const chain = startTestChain(withAccount(vestingAccount("DelayedVestingAccount", {})));
    expect(ask(chain, "cosmos.bank.v1beta1.Query/SpendableBalances", { address: TO })).toMatchObject({
      balances: coins("0"),
    });
    const { auth, bank, context } = keepers();
    auth.keeper.createVesting(context, ADDRESS, { ...DELAYED, original: [{ denom: "untrn", amount: 40n }] });
    expect(() => bank.keeper.send(context, ADDRESS, POOL, [{ denom: "untrn", amount: 1n }])).toThrow(
      "locked amount exceeds account balance funds: 40untrn > 0untrn: insufficient funds",
    );
  });

  it("has no fields of the module", () => {
    expect(() => start({ vesting: { accounts: [] } })).toThrow("app_state.vesting.accounts: no such field");
  });
});

const POOL = moduleAddress("pool");
const ADDRESS = parseAddress("neutron", TO);
const DELAYED: Vesting = {
  original: [{ denom: "untrn", amount: 100n }],
  delegatedFree: [],
  delegatedVesting: [],
  endTime: 1000n,
  schedule: { kind: "delayed" },
};

function keepers() {
  const auth = createAuthModule({ bech32Prefix: "neutron", moduleAccounts: { pool: [], mint: ["minter"] } });
  const bank = createBankModule({ blockedModules: [] }, auth.keeper);
  return { auth, bank, context: createMemoryWorld().context({ timeNs: 500_000_000_000n }) };
}

describe("delegations", () => {
  it("take locked coins first; undelegations bring free coins first", () => {
    const { auth, bank, context } = keepers();
    const untrn = (amount: bigint) => [{ denom: "untrn", amount }];
    auth.keeper.createVesting(context, ADDRESS, DELAYED);
    bank.keeper.mint(context, "mint", untrn(150n));
    bank.keeper.send(context, moduleAddress("mint"), ADDRESS, untrn(150n));
    const state = () => {
      const vesting = auth.keeper.get(context, ADDRESS)?.vesting;
      return {
        vesting: vesting?.delegatedVesting[0]?.amount ?? 0n,
        free: vesting?.delegatedFree[0]?.amount ?? 0n,
        locked: auth.keeper.lockedCoins(context, ADDRESS)[0]?.amount ?? 0n,
      };
    };
    expect(state()).toEqual({ vesting: 0n, free: 0n, locked: 100n });
    bank.keeper.delegate(context, ADDRESS, "pool", untrn(60n));
    expect(state()).toEqual({ vesting: 60n, free: 0n, locked: 40n });
    bank.keeper.delegate(context, ADDRESS, "pool", untrn(70n));
    expect(state()).toEqual({ vesting: 100n, free: 30n, locked: 0n });
    bank.keeper.undelegate(context, "pool", ADDRESS, untrn(50n));
    expect(state()).toEqual({ vesting: 80n, free: 0n, locked: 20n });
    // More than was delegated: a validator's rate was rounded.
    bank.keeper.send(context, ADDRESS, POOL, untrn(1n));
    bank.keeper.undelegate(context, "pool", ADDRESS, untrn(81n));
    expect(state()).toEqual({ vesting: 0n, free: 0n, locked: 100n });
  });
});
