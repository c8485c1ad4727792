import { expect, it } from "vitest";
import { fromHex, toBase64 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress, parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { startTestChain, testGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx } from "../../../support/test-tx.ts";

const alice = createTestKey("alice");
const operator = formatAddress("neutronvaloper", parseAddress("neutron", alice.address));
const contract = formatAddress("neutron", classicContractAddress(1n, 1n));
const key = validatorKey(fromHex("11".repeat(32))).publicKey;

const HOOKS = [
  "HOOK_TYPE_AFTER_VALIDATOR_CREATED",
  "HOOK_TYPE_AFTER_VALIDATOR_BONDED",
  "HOOK_TYPE_AFTER_DELEGATION_MODIFIED",
];

function packed(typeUrl: string, fields: JsonObject) {
  return { typeUrl, value: messageFromJson(typeUrl.slice(1), fields) };
}

it("a contract of the chain gets the hooks of a transaction and of its block", () => {
  const genesis = testGenesis([{ key: alice, untrn: 100_000_000n }], {
    wasm: {
      codes: [{ name: "echo", creator: alice.address }],
      gen_msgs: [
        {
          instantiate_contract: {
            sender: alice.address,
            admin: alice.address,
            code_id: "1",
            label: "echo",
            msg: {},
            funds: [],
          },
        },
      ],
    },
    harpoon: {
      hook_subscriptions: HOOKS.map((hook_type) => ({ hook_type, contract_addresses: [contract] })),
    },
  });
  const chain = startTestChain(genesis);
  const create = packed("/cosmos.staking.v1beta1.MsgCreateValidator", {
    description: { moniker: "alice" },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: operator,
    pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: toBase64(key) },
    value: { denom: "untrn", amount: "2000000" },
  });
  const { txResults, events, validatorUpdates } = chain.block(
    buildTx({ key: alice, messages: [create], sequence: 0n, gas: 1_000_000n }),
  );
  expect(txResults.map(({ code, log }) => [code, log])).toEqual([[0, ""]]);
  const sudos = [...(txResults[0]?.events ?? []), ...events].flatMap(({ type, attributes }) =>
    type === "wasm" ? attributes.filter((one) => one.key === "sudo").map(({ value }) => value) : [],
  );
  const names = sudos.map((text) => Object.keys(JSON.parse(text)).join());
  expect(names).toEqual(["after_validator_created", "after_delegation_modified", "after_validator_bonded"]);
  expect(validatorUpdates).toEqual([{ publicKey: key, power: 2n }]);
});
