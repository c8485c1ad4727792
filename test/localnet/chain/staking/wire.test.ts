import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { fractionOf } from "../../../../src/localnet/chain/modules/slashing/keeper.ts";
import { moduleParams } from "../../../../src/localnet/chain/modules/staking/types.ts";
import { toInteger } from "../../../../src/localnet/chain/modules/staking/records.ts";
import { expect, it } from "vitest";
import {
  MsgCreateValidator,
  MsgEditValidator,
  MsgUpdateParams,
} from "../../../../src/cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { PubKey } from "../../../../src/cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { formatAddress, parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { startTestChain, testGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx, type PackedMessage } from "../../../support/test-tx.ts";

const alice = createTestKey("alice");
const validatorAddress = formatAddress("neutronvaloper", parseAddress("neutron", alice.address));
const description = { moniker: "m", identity: "", website: "", securityContact: "", details: "" };
const commission = { rate: "0", maxRate: "0", maxChangeRate: "0" };
const key = PubKey.encode({ key: new Uint8Array(32).fill(1) }).finish();

function create(changes: Partial<MsgCreateValidator>): PackedMessage {
  const value = MsgCreateValidator.encode({
    description,
    commission,
    minSelfDelegation: "1",
    delegatorAddress: "",
    validatorAddress,
    pubkey: { typeUrl: "/cosmos.crypto.ed25519.PubKey", value: key },
    value: { denom: "untrn", amount: "1000" },
    ...changes,
  }).finish();
  return { typeUrl: "/cosmos.staking.v1beta1.MsgCreateValidator", value };
}

function edit(changes: Partial<MsgEditValidator>): PackedMessage {
  const fields = { description, validatorAddress, commissionRate: "", minSelfDelegation: "" };
  return {
    typeUrl: "/cosmos.staking.v1beta1.MsgEditValidator",
    value: MsgEditValidator.encode({ ...fields, ...changes }).finish(),
  };
}

// A codec of a Go node checks these texts. Ours does not, and an exception that is no ModuleError stops the chain.
it.each<[string, PackedMessage]>([
  ["a minimum self-delegation", create({ minSelfDelegation: "x" })],
  ["a rate", create({ commission: { ...commission, rate: "1x" } })],
  ["a maximum rate", create({ commission: { ...commission, maxRate: "1.5" } })],
  ["a change rate", create({ commission: { ...commission, maxChangeRate: "9".repeat(101) } })],
  ["an amount", create({ value: { denom: "untrn", amount: "1e3" } })],
  ["a new rate", edit({ commissionRate: "x" })],
  ["a new minimum", edit({ minSelfDelegation: "x" })],
])("%s that is no number fails the transaction, and the chain goes on", (_what, message) => {
  const chain = startTestChain(testGenesis([{ key: alice, untrn: 100_000_000n }]));
  const { txResults } = chain.block(
    buildTx({ key: alice, messages: [message], sequence: 0n, gas: 500_000n }),
  );
  expect(txResults.map(({ code, codespace }) => [codespace, code])).toEqual([["sdk", 2]]);
  expect(txResults[0]?.log).toBe("tx parse error");
  expect(chain.block().txResults).toEqual([]);
});

it("numbers are read as Go reads them", () => {
  expect([toInteger("010"), toInteger(""), fractionOf(utf8("-0x10"))]).toEqual([8n, 0n, -16n]);
  expect(() => fractionOf(utf8(""))).toThrow('not a decimal: ""');
  const params = {
    ...moduleParams.defaults,
    unbondingTime: { seconds: 1n, nanos: 0 },
    maxValidators: 1,
    maxEntries: 1,
    bondDenom: "untrn",
  };
  expect(() => moduleParams.validate({ ...params, minCommissionRate: "-010" })).toThrow("negative: -8");
  const chain = startTestChain(testGenesis([{ key: alice, untrn: 100_000_000n }]));
  const small = create({ minSelfDelegation: "010", value: { denom: "untrn", amount: "011" } });
  const tx = buildTx({ key: alice, messages: [small], sequence: 0n, gas: 500_000n });
  expect(chain.block(tx).txResults[0]?.log).toBe("");
  const low = edit({ minSelfDelegation: "010" });
  const again = buildTx({ key: alice, messages: [low], sequence: 1n, gas: 500_000n });
  expect(chain.block(again).txResults[0]?.log).toContain("minimum self delegation cannot be decrease");
});

it("a key that does not decode fails the transaction, and so do empty parameters", () => {
  const chain = startTestChain(testGenesis([{ key: alice, untrn: 100_000_000n }]));
  const bad = create({
    pubkey: { typeUrl: "/cosmos.crypto.ed25519.PubKey", value: Uint8Array.of(0x0a, 0xff) },
  });
  const value = MsgUpdateParams.encode({ authority: alice.address, params: undefined }).finish();
  const params = { typeUrl: "/cosmos.staking.v1beta1.MsgUpdateParams", value };
  const codes = [bad, params].flatMap((message, index) =>
    chain
      .block(buildTx({ key: alice, messages: [message], sequence: BigInt(index), gas: 500_000n }))
      .txResults.map(({ code }) => code > 0),
  );
  expect(codes).toEqual([true, true]);
});
