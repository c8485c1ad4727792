import { beforeEach, describe, expect, it } from "vitest";
import { formatAddress, moduleAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import { ALICE, BOB, CAROL, startTokenChain, type TokenChain } from "../../../support/token-chain.ts";

const PACKAGE = "osmosis.tokenfactory.v1beta1";
const DENOM = `factory/${ALICE}/gold`;

let tokens: TokenChain;

beforeEach(() => {
  tokens = startTokenChain();
});

const run = (name: "alice" | "bob", message: string, fields: JsonObject) =>
  tokens.run(name, `${PACKAGE}.${message}`, { sender: name === "alice" ? ALICE : BOB, ...fields });
const coin = (amount: number, denom = DENOM) => ({ denom, amount: String(amount) });

/** Creates the denomination and mints 100 for Alice. */
function createGold(): void {
  expect(run("alice", "MsgCreateDenom", { subdenom: "gold" }).code).toBe(0);
  expect(run("alice", "MsgMint", { amount: coin(100), mintToAddress: "" }).code).toBe(0);
}

/** Attributes of the events of one type. */
function attributesOf(result: ReturnType<TokenChain["run"]>, type: string): readonly string[] {
  return result.events
    .filter((each) => each.type === type)
    .flatMap(({ attributes }) => attributes.map(({ key, value }) => `${key}=${value}`));
}

describe("MsgCreateDenom", () => {
  it("makes the creator the admin and stores bank metadata", () => {
    const result = run("alice", "MsgCreateDenom", { subdenom: "gold" });
    expect(attributesOf(result, "create_denom")).toEqual([
      `creator=${ALICE}`,
      `new_token_denom=${DENOM}`,
      "msg_index=0",
    ]);
    expect(
      tokens.query(`${PACKAGE}.Query/DenomAuthorityMetadata`, { creator: ALICE, subdenom: "gold" }),
    ).toEqual({
      authority_metadata: { Admin: ALICE },
    });
    expect(tokens.query(`${PACKAGE}.Query/DenomsFromCreator`, { creator: ALICE })).toEqual({
      denoms: [DENOM],
    });
    expect(tokens.query("cosmos.bank.v1beta1.Query/DenomMetadata", { denom: DENOM })).toMatchObject({
      metadata: { base: DENOM, denom_units: [{ denom: DENOM, exponent: 0 }] },
    });
  });

  it.each([
    ["gold", 2, "attempting to create a denom that already exists (has bank metadata)"],
    ["a".repeat(45), 4, "subdenom too long, max length is 44 bytes: invalid denom"],
    ["gold!", 4, `invalid denom: factory/${ALICE}/gold!: invalid denom`],
    ["untrn", 1, "can't create subdenoms that are the same as a native denom"],
  ])("rejects the name %s when it must", (subdenom, code, text) => {
    createGold();
    const result = run("alice", "MsgCreateDenom", { subdenom });
    expect(result.code).toBe(code);
    expect(result.log).toContain(text);
  });

  it("takes fee and gas of the params", () => {
    tokens = startTokenChain({
      tokenfactory: {
        params: {
          denom_creation_fee: [coin(5000, "untrn")],
          denom_creation_gas_consume: "1000000",
          fee_collector_address: CAROL,
        },
      },
    });
    const before = BigInt(tokens.balance(CAROL, "untrn"));
    const result = run("alice", "MsgCreateDenom", { subdenom: "gold" });
    expect(result.code).toBe(0);
    expect(result.gasUsed).toBeGreaterThan(1_000_000n);
    expect(BigInt(tokens.balance(CAROL, "untrn")) - before).toBe(5000n);
  });
});

describe("coins of a denomination", () => {
  beforeEach(createGold);

  it("are minted for anybody, burned and moved by the admin", () => {
    const minted = run("alice", "MsgMint", { amount: coin(7), mintToAddress: BOB });
    expect(attributesOf(minted, "tf_mint")).toEqual([
      `mint_to_address=${BOB}`,
      `amount=7${DENOM}`,
      "msg_index=0",
    ]);
    const burned = run("alice", "MsgBurn", { amount: coin(2), burnFromAddress: BOB });
    expect(attributesOf(burned, "tf_burn")).toContain(`burn_from_address=${BOB}`);
    run("alice", "MsgForceTransfer", {
      amount: coin(1),
      transferFromAddress: BOB,
      transferToAddress: CAROL,
    });
    expect([ALICE, BOB, CAROL].map((address) => tokens.balance(address, DENOM))).toEqual(["100", "4", "1"]);
    expect(tokens.query("cosmos.bank.v1beta1.Query/SupplyOf", { denom: DENOM })).toEqual({
      amount: coin(105),
    });
  });

  it.each([
    ["MsgMint", { amount: coin(1), mintToAddress: BOB }],
    ["MsgBurn", { amount: coin(1), burnFromAddress: ALICE }],
    ["MsgForceTransfer", { amount: coin(1), transferFromAddress: ALICE, transferToAddress: BOB }],
    ["MsgSetBeforeSendHook", { denom: DENOM, contract_addr: "" }],
    ["MsgChangeAdmin", { denom: DENOM, new_admin: BOB }],
  ])("%s is for the admin only", (message, fields) => {
    const result = run("bob", message, fields);
    expect([result.codespace, result.code]).toEqual(["tokenfactory", 3]);
    expect(tokens.balance(ALICE, DENOM)).toBe("100");
  });

  it("neither come from nor go to module accounts", () => {
    const pool = formatAddress("neutron", moduleAddress("dex"));
    const result = run("alice", "MsgMint", { amount: coin(1), mintToAddress: pool });
    expect([result.codespace, result.code]).toEqual(["undefined", 1]);
    expect(result.log).toContain("rpc error: code = Internal desc = minting to module accounts is forbidden");
  });

  it("have another admin after MsgChangeAdmin", () => {
    expect(run("alice", "MsgChangeAdmin", { denom: DENOM, new_admin: BOB }).code).toBe(0);
    expect(run("alice", "MsgMint", { amount: coin(1), mintToAddress: "" }).code).toBe(3);
    expect(run("bob", "MsgMint", { amount: coin(1), mintToAddress: "" }).code).toBe(0);
    expect(tokens.balance(BOB, DENOM)).toBe("1");
  });

  it("of an unknown denomination are not minted", () => {
    const result = run("alice", "MsgMint", { amount: coin(1, `factory/${ALICE}/iron`), mintToAddress: "" });
    expect([result.codespace, result.code]).toEqual(["tokenfactory", 10]);
  });
});

describe("MsgSetDenomMetadata", () => {
  const metadata = {
    description: 'a "d"',
    denom_units: [
      { denom: DENOM, exponent: 0, aliases: [] },
      { denom: "GOLD", exponent: 6, aliases: ["x"] },
    ],
    base: DENOM,
    display: "GOLD",
    name: "Gold",
    symbol: "GLD",
  };
  beforeEach(createGold);

  it("stores the metadata and prints it as protobuf text", () => {
    const result = run("alice", "MsgSetDenomMetadata", { metadata });
    expect(attributesOf(result, "set_denom_metadata")).toEqual([
      `denom=${DENOM}`,
      `denom_metadata=description:"a \\"d\\"" denom_units:<denom:"${DENOM}" > denom_units:<denom:"GOLD" exponent:6 aliases:"x" > base:"${DENOM}" display:"GOLD" name:"Gold" symbol:"GLD" `,
      "msg_index=0",
    ]);
    expect(tokens.query("cosmos.bank.v1beta1.Query/DenomMetadata", { denom: DENOM })).toMatchObject({
      metadata: { name: "Gold" },
    });
  });

  it.each([
    [{ name: " " }, "name field cannot be blank"],
    [{ display: "SILVER" }, "metadata must contain a denomination unit with display denom 'SILVER'"],
    [{ denom_units: [{ denom: "GOLD" }] }, `must be the one with base denom '${DENOM}'`],
    [
      { denom_units: [{ denom: DENOM }, { denom: "GOLD", exponent: 0 }] },
      "denom units should be sorted asc by exponent",
    ],
  ])("rejects %j", (changed, text) => {
    const result = run("alice", "MsgSetDenomMetadata", { metadata: { ...metadata, ...changed } });
    expect(result.code).toBe(1);
    expect(result.log).toContain(`failed to validate MsgSetDenomMetadata: ${text}`.slice(0, 39));
    expect(result.log).toContain(text);
  });
});

describe("the genesis", () => {
  it("contains params, denominations and admins, and starts an equal chain", () => {
    createGold();
    run("alice", "MsgChangeAdmin", { denom: DENOM, new_admin: BOB });
    const { tokenfactory: exported = {} } = tokens.exported();
    expect(exported).toMatchObject({
      factory_denoms: [{ denom: DENOM, authority_metadata: { Admin: BOB }, hook_contract_address: "" }],
    });
    expect(startTokenChain({ tokenfactory: exported }).exported()["tokenfactory"]).toEqual(exported);
  });

  it.each([
    [{ denom: "untrn" }, "not enough parts of denom untrn"],
    [{ denom: "factory/bob/gold" }, "Invalid creator address"],
    [{ denom: DENOM, hook_contract_address: "x" }, "decoding bech32 failed"],
  ])("is invalid with %j", (denom, text) => {
    expect(() => startTokenChain({ tokenfactory: { factory_denoms: [denom] } })).toThrow(text);
  });
});
