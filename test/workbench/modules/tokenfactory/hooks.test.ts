import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  ALICE,
  BOB,
  CAROL,
  ECHO,
  HOOK,
  startTokenChain,
  type TokenChain,
} from "../../../support/token-chain.ts";

const DENOM = `factory/${ALICE}/gold`;
const WHITELIST = { whitelisted_hooks: [{ code_id: "1", denom_creator: ALICE }] };

let tokens: TokenChain;

beforeEach(() => {
  tokens = startTokenChain({ tokenfactory: { params: WHITELIST } });
  run("MsgCreateDenom", { subdenom: "gold" });
  run("MsgMint", { amount: { denom: DENOM, amount: "1000" }, mintToAddress: "" });
  expect(run("MsgSetBeforeSendHook", { denom: DENOM, contract_addr: HOOK }).code).toBe(0);
});

const run = (message: string, fields: JsonObject) =>
  tokens.run("alice", `osmosis.tokenfactory.v1beta1.${message}`, { sender: ALICE, ...fields });

function pay(amount: number, gas?: bigint): ReturnType<TokenChain["run"]> {
  const fields = { from_address: ALICE, to_address: BOB, amount: [{ denom: DENOM, amount: String(amount) }] };
  return tokens.run("alice", "cosmos.bank.v1beta1.MsgSend", fields, gas);
}

/** What the hook does from now on. */
function plan(plans: JsonObject): void {
  const fields = { sender: CAROL, contract: HOOK, msg: plans, funds: [] };
  expect(tokens.run("carol", "cosmwasm.wasm.v1.MsgExecuteContract", fields).code).toBe(0);
}

function last(name: string): unknown {
  const query_data = Buffer.from(JSON.stringify({ last: name })).toString("base64");
  return tokens.query("cosmwasm.wasm.v1.Query/SmartContractState", { address: HOOK, query_data });
}

describe("a payment of a denomination with a hook", () => {
  it("calls the contract twice before the coins move: to block, then to track", () => {
    const result = pay(5);
    expect(result.code).toBe(0);
    const types = result.events.filter(({ attributes }) => attributes.some(({ key }) => key === "msg_index"));
    expect(types.map(({ type }) => type)).toEqual([
      "message",
      "sudo",
      "sudo",
      "coin_spent",
      "coin_received",
      "transfer",
      "message",
    ]);
    const call = { from: ALICE, to: BOB, amount: { denom: DENOM, amount: "5" } };
    expect(last("block_before_send")).toEqual({ data: { block_before_send: call } });
    expect(last("track_before_send")).toEqual({ data: { track_before_send: call } });
  });

  it("fails when the contract blocks it", () => {
    plan({ block_before_send: { fail: "too much" } });
    const result = pay(5);
    expect([result.codespace, result.code]).toEqual(["wasm", 5]);
    expect(result.log).toBe(
      `failed to execute message; message index: 0: failed to call before send hook for denom ${DENOM}: too much: execute wasm contract failed`,
    );
    expect(tokens.balance(BOB, DENOM)).toBe("0");
  });

  it("does not fail when the contract fails to track it, and what the contract wrote before stays", () => {
    plan({ track_before_send: { fail: "no" } });
    expect(pay(5).code).toBe(0);
    expect(tokens.balance(BOB, DENOM)).toBe("5");
    expect(last("track_before_send")).not.toEqual({ data: null });
  });

  it("gives tracking 500,000 gas, of which the payment pays only a call that succeeds", () => {
    const { gasUsed: free } = pay(5);
    plan({ track_before_send: { gas: 100_000 } });
    const { gasUsed: tracked } = pay(5);
    expect(tracked - free).toBeGreaterThanOrEqual(100_000n);
    // The call itself costs 60,000 and its reads.
    plan({ track_before_send: { gas: 420_000 } });
    expect(pay(5).gasUsed - free).toBeGreaterThanOrEqual(420_000n);
    plan({ track_before_send: { gas: 450_000 } });
    const { code, gasUsed: failed } = pay(5);
    expect(code).toBe(0);
    expect(failed).toBeLessThan(free);
  });

  it("ends with the gas of the transaction when the contract uses all of it", () => {
    plan({ block_before_send: { gas: 5_000_000 } });
    const result = pay(5, 1_000_000n);
    // The error of the hook is 12 of tokenfactory, but the settlement of the fee has no gas either.
    expect([result.codespace, result.code]).toEqual(["sdk", 11]);
  });

  it("does not call a contract whose code left the whitelist", () => {
    plan({ block_before_send: { fail: "no" } });
    expect(pay(5).code).not.toBe(0);
    tokens = startTokenChain(tokens.exported({ tokenfactory: { params: {} } }));
    expect(pay(5).code).toBe(0);
  });
});

describe("MsgSetBeforeSendHook", () => {
  it("removes the hook with an empty address", () => {
    plan({ block_before_send: { fail: "no" } });
    expect(run("MsgSetBeforeSendHook", { denom: DENOM, contract_addr: "" }).code).toBe(0);
    expect(pay(5).code).toBe(0);
  });

  it.each([
    [
      "a code that the params do not name",
      ECHO,
      `no whitelist for contract with codeID (2) and denomCreator (${ALICE}) : beforeSendHook is not whitelisted`,
    ],
    ["an account", BOB, `contract with address (${BOB}) does not exist`],
  ])("rejects %s", (_name, contract, text) => {
    const result = run("MsgSetBeforeSendHook", { denom: DENOM, contract_addr: contract });
    expect([result.codespace, result.code]).toEqual(["tokenfactory", 14]);
    expect(result.log).toContain(text);
  });
});
