import { describe, expect, it } from "vitest";
import { toBase64 } from "../../../../src/platform/base/bytes.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import {
  type ContractCode,
  ContractError,
  NO_RESPONSE,
} from "../../../../src/localnet/chain/modules/wasm/contract.ts";
import { formatAddress, parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { startTestChain, type TestChain, testGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx } from "../../../support/test-tx.ts";

const alice = createTestKey("alice");
const operator = formatAddress("neutronvaloper", parseAddress("neutron", alice.address));
const contract = formatAddress("neutron", classicContractAddress(1n, 1n));
const GAS = 2_000_000n;

/** Contracts that do something bad with every hook. */
const CONTRACTS: Readonly<Record<string, ContractCode["sudo"]>> = {
  fails: () => {
    throw new ContractError("boom");
  },
  loops: ({ storage }) => {
    for (;;) storage.get(Uint8Array.of(1));
  },
  "writes without end": ({ storage }) => {
    for (let size = 1; ; size++) storage.set(Uint8Array.of(1), new Uint8Array(size));
  },
};

function chainWith(name: string, hook: string): TestChain {
  const sudo = CONTRACTS[name];
  const code: ContractCode = {
    name,
    instantiate: () => NO_RESPONSE,
    ...(sudo === undefined ? {} : { sudo }),
  };
  const instantiation = {
    sender: alice.address,
    admin: alice.address,
    code_id: "1",
    label: "x",
    msg: {},
    funds: [],
  };
  const genesis = testGenesis([{ key: alice, untrn: 100_000_000n }], {
    wasm: {
      codes: [{ name, creator: alice.address }],
      gen_msgs: [{ instantiate_contract: instantiation }],
    },
    harpoon: { hook_subscriptions: [{ hook_type: hook, contract_addresses: [contract] }] },
  });
  return startTestChain(genesis, { contracts: [code] });
}

function create(amount: string): Uint8Array {
  const typeUrl = "/cosmos.staking.v1beta1.MsgCreateValidator";
  const value = messageFromJson(typeUrl.slice(1), {
    description: { moniker: "alice" },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: operator,
    pubkey: {
      "@type": "/cosmos.crypto.ed25519.PubKey",
      key: toBase64(validatorKey(new Uint8Array(32).fill(1)).publicKey),
    },
    value: { denom: "untrn", amount },
  });
  return buildTx({ key: alice, messages: [{ typeUrl, value }], sequence: 0n, gas: GAS });
}

describe("a contract that", () => {
  it("fails, or has no sudo, fails the message with the codes of the contract host", () => {
    const [failed] = chainWith("fails", "HOOK_TYPE_AFTER_VALIDATOR_CREATED").block(create("100")).txResults;
    expect([failed?.codespace, failed?.code]).toEqual(["wasm", 5]);
    expect(failed?.log).toContain(
      `failed to call sudo for subscriptions for hookType=HOOK_TYPE_AFTER_VALIDATOR_CREATED: could not execute sudo call successfully for hook_type=HOOK_TYPE_AFTER_VALIDATOR_CREATED, msg={"after_validator_created":{"val_addr":"${operator}"}}, contract_address=${contract}: boom: execute wasm contract failed`,
    );
    const [none] = chainWith("none", "HOOK_TYPE_AFTER_VALIDATOR_CREATED").block(create("100")).txResults;
    expect(none?.codespace).toBe("wasm");
  });

  it.each(["loops", "writes without end"])("%s ends with the gas of the transaction", (name) => {
    const chain = chainWith(name, "HOOK_TYPE_AFTER_DELEGATION_MODIFIED");
    const [result] = chain.block(create("100")).txResults;
    expect([result?.codespace, result?.code]).toEqual(["sdk", 11]);
    expect(result?.gasUsed).toBeGreaterThanOrEqual(GAS);
    expect(chain.block().txResults).toEqual([]);
  });

  it("fails at the end of a block stops the chain", () => {
    const chain = chainWith("fails", "HOOK_TYPE_AFTER_VALIDATOR_BONDED");
    expect(() => chain.block(create("2000000"))).toThrow("boom: execute wasm contract failed");
  });
});
