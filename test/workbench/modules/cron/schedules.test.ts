import { beforeEach, describe, expect, it } from "vitest";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { decodeBech32, toBase64 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import {
  ALICE,
  AUTHORITY,
  ECHO,
  HOOK,
  startTokenChain,
  type TokenChain,
} from "../../../support/token-chain.ts";

let tokens: TokenChain;

beforeEach(() => {
  tokens = startTokenChain({ adminmodule: { admins: [ALICE, ECHO] } });
});

/** Sends a message of the authority in a proposal. */
function propose(type: string, fields: JsonObject): ReturnType<TokenChain["run"]> {
  const message = { "@type": `/neutron.cron.${type}`, authority: AUTHORITY, ...fields };
  return tokens.run("alice", "cosmos.adminmodule.adminmodule.MsgSubmitProposal", {
    proposer: ALICE,
    messages: [message],
  });
}

/** Makes the contract `echo` send a message of the chain's bindings. */
function send(custom: JsonObject): ReturnType<TokenChain["run"]> {
  const messages = [{ id: 1, msg: { custom }, reply_on: "never", gas_limit: null }];
  const msg = { ok: { messages, attributes: [], events: [] } };
  return tokens.run("alice", "cosmwasm.wasm.v1.MsgExecuteContract", {
    sender: ALICE,
    contract: ECHO,
    msg,
    funds: [],
  });
}

/** Time of a block. */
const timeOf = (height: number): string => new Date(1_790_000_000_000 + height * 1_000).toISOString();

const call = (plan: string) => ({
  contract: HOOK,
  msg: JSON.stringify({ block_before_send: { fail: plan } }),
});
const schedule = (name: string, plan: string, more: JsonObject = {}) => ({
  name,
  period: "3",
  msgs: [call(plan)],
  execution_stage: "EXECUTION_STAGE_END_BLOCKER",
  ...more,
});

/** The plan of the hook contract, which the schedules of the tests write. */
function planned(): unknown {
  const query_data = Buffer.from(JSON.stringify({ last: "plan" })).toString("base64");
  const response = tokens.query("cosmwasm.wasm.v1.Query/SmartContractState", { address: HOOK, query_data });
  const data = isRecord(response) ? response["data"] : undefined;
  return isRecord(data) && isRecord(data["block_before_send"])
    ? data["block_before_send"]["fail"]
    : undefined;
}

const names = (): unknown => {
  const response = tokens.query("neutron.cron.Query/Schedules", {});
  const list = isRecord(response) && Array.isArray(response["schedules"]) ? response["schedules"] : [];
  return list.map((each: unknown) => (isRecord(each) ? each["name"] : each));
};

describe("a schedule", () => {
  it("runs for the first time after its period, and then once a period", () => {
    expect(propose("MsgAddSchedule", schedule("a", "one")).code).toBe(0);
    tokens.chain.block();
    tokens.chain.block();
    expect(planned()).toBeUndefined();
    tokens.chain.block();
    expect(planned()).toBe("one");
    expect(tokens.query("neutron.cron.Query/Schedules", {})).toMatchObject({
      schedules: [{ name: "a", last_execute_height: "5" }],
    });
  });

  it("drops what its messages wrote when one of them fails", () => {
    const bad = { contract: HOOK.replace(/.$/, "x"), msg: "{}" };
    propose("MsgAddSchedule", schedule("a", "one", { msgs: [call("one"), bad] }));
    for (let block = 0; block < 4; block += 1) tokens.chain.block();
    expect(planned()).toBeUndefined();
  });

  it("runs in its stage, in the order of names, up to the limit of the params", () => {
    const begin = { execution_stage: "EXECUTION_STAGE_BEGIN_BLOCKER" };
    propose("MsgUpdateParams", { params: { security_address: ALICE, limit: "1" } });
    propose("MsgAddSchedule", schedule("b", "end", { period: "1" }));
    propose("MsgAddSchedule", schedule("a", "begin", { ...begin, period: "1" }));
    propose("MsgAddSchedule", schedule("c", "never", { period: "1" }));
    tokens.chain.block();
    expect(planned()).toBe("end");
    expect(names()).toEqual(["a", "b", "c"]);
  });

  /** The call with which `echo` sends a message of the chain. */
  const chainCall = (type: string, fields: JsonObject) => {
    const any = { type_url: `/${type}`, value: toBase64(messageFromJson(type, fields)) };
    const messages = [{ id: 1, msg: { any }, reply_on: "never", gas_limit: null }];
    return { contract: ECHO, msg: JSON.stringify({ ok: { messages, attributes: [], events: [] } }) };
  };

  it("at the beginning of a block runs after the validator set is recorded", () => {
    const coin = { denom: "untrn", amount: "1000" };
    const validator = formatAddress("neutronvaloper", decodeBech32(ALICE).bytes);
    tokens.run("alice", "cosmos.staking.v1beta1.MsgCreateValidator", {
      description: { moniker: "v" },
      commission: { rate: "0", max_rate: "0", max_change_rate: "0" },
      min_self_delegation: "1",
      validator_address: validator,
      pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: toBase64(new Uint8Array(32).fill(7)) },
      value: { denom: "untrn", amount: "1000000" },
    });
    const delegate = { delegator_address: ECHO, validator_address: validator };
    const msgs = [chainCall("cosmos.staking.v1beta1.MsgDelegate", { ...delegate, amount: coin })];
    tokens.run("alice", "cosmos.bank.v1beta1.MsgSend", {
      from_address: ALICE,
      to_address: ECHO,
      amount: [coin],
    });
    const more = { period: "1", execution_stage: "EXECUTION_STAGE_BEGIN_BLOCKER" };
    propose("MsgAddSchedule", schedule("a", "", { ...more, msgs }));
    tokens.chain.block();
    expect(tokens.balance(ECHO, "untrn")).toBe("0");
    const schedules = tokens.query("neutron.cron.Query/Schedules", {});
    expect(schedules).toMatchObject({ schedules: [{ last_execute_height: "5" }] });
    const recorded = tokens.query("cosmos.staking.v1beta1.Query/HistoricalInfo", { height: "5" });
    expect(recorded).toMatchObject({ hist: { valset: [{ tokens: "1000000" }] } });
  });

  describe("that trades", () => {
    const dexCall = (type: string, fields: JsonObject) =>
      chainCall(`neutron.dex.${type}`, { creator: ECHO, ...fields });
    const order = (more: JsonObject) =>
      dexCall("MsgPlaceLimitOrder", {
        receiver: ECHO,
        token_in: "untrn",
        token_out: "TokenB",
        amount_in: "1000",
        limit_sell_price: "1",
        ...more,
      });
    beforeEach(() => {
      const amount = [{ denom: "untrn", amount: "5000" }];
      tokens.run("alice", "cosmos.bank.v1beta1.MsgSend", { from_address: ALICE, to_address: ECHO, amount });
    });

    it("at the end of a block runs before the dex removes the block's just-in-time orders", () => {
      const msgs = [order({ order_type: "JUST_IN_TIME" })];
      propose("MsgAddSchedule", schedule("a", "", { msgs, period: "1" }));
      tokens.chain.block();
      expect(tokens.balance(ECHO, "untrn")).toBe("4000");
      expect(tokens.exported()["dex"]).toMatchObject({ tick_liquidity_list: [] });
    });

    it("at the beginning of a block runs before the dex removes expired orders", () => {
      const { contract, msg } = order({ order_type: "GOOD_TIL_TIME", expiration_time: timeOf(5) });
      const fields = { sender: ALICE, contract, msg: JSON.parse(msg), funds: [] };
      expect(tokens.run("alice", "cosmwasm.wasm.v1.MsgExecuteContract", fields).code).toBe(0);
      const more = { period: "2", execution_stage: "EXECUTION_STAGE_BEGIN_BLOCKER" };
      const msgs = [dexCall("MsgCancelLimitOrder", { tranche_key: "t||0" })];
      propose("MsgAddSchedule", schedule("a", "", { ...more, msgs }));
      tokens.chain.block();
      expect(tokens.balance(ECHO, "untrn")).toBe("4000");
      const { events } = tokens.chain.block();
      expect(tokens.balance(ECHO, "untrn")).toBe("5000");
      expect(events[0]?.type).toBe("execute");
    });
  });

  it.each([
    [{ name: "" }, "failed to validate MsgAddSchedule: name is invalid: invalid request"],
    [{ period: "0" }, "failed to validate MsgAddSchedule: period is invalid: invalid request"],
    [{ msgs: [] }, "failed to validate MsgAddSchedule: msgs should not be empty: invalid request"],
    [{ name: "old" }, "failed to add schedule: schedule already exists with name=old"],
  ])("is rejected with %j", (changed, text) => {
    propose("MsgAddSchedule", schedule("old", "x"));
    const result = propose("MsgAddSchedule", { ...schedule("a", "x"), ...changed });
    expect(result.log).toContain(text);
  });

  it("is a message of the authority only", () => {
    const result = tokens.run("alice", "neutron.cron.MsgRemoveSchedule", { authority: ALICE, name: "a" });
    expect(result.log).toContain(`invalid authority; expected ${AUTHORITY}, got ${ALICE}: invalid request`);
  });
});

describe("messages of a contract", () => {
  const add = { name: "s", period: 5, msgs: [{ contract: HOOK, msg: "{}" }], execution_stage: "" };

  it("add and remove schedules when it is an admin", () => {
    expect(send({ add_schedule: add }).code).toBe(0);
    expect(names()).toEqual(["s"]);
    expect(send({ remove_schedule: { name: "s" } }).code).toBe(0);
    expect(names()).toEqual([]);
  });

  it("fail when it is not", () => {
    tokens = startTokenChain();
    expect(send({ add_schedule: add }).log).toContain(
      "submessages: only admin can add schedule: unauthorized",
    );
    expect(send({ remove_schedule: { name: "s" } }).log).toContain(
      "submessages: only admin or security dao can remove schedule: unauthorized",
    );
  });
});

it("an export starts a chain with the same schedules", () => {
  propose("MsgAddSchedule", schedule("a", "one"));
  const { cron: exported = {} } = tokens.exported();
  expect(exported).toMatchObject({ scheduleList: [{ name: "a", period: "3" }] });
  expect(startTokenChain({ cron: exported }).exported()["cron"]).toMatchObject({
    scheduleList: [{ name: "a", period: "3" }],
  });
});
