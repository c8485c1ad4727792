import { toBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { formatAddress } from "../../src/localnet/chain/runtime/address.ts";
import { validatorKey } from "../../src/localnet/node/consensus/validators.ts";

/** Four accounts. Each can delegate, and can be the operator of a validator. */
export const NAMES = ["a", "b", "c", "d"] as const;
export type Name = (typeof NAMES)[number];

const BYTE: Readonly<Record<Name, number>> = { a: 1, b: 2, c: 3, d: 4 };

export const account = (name: Name): string => formatAddress("neutron", new Uint8Array(20).fill(BYTE[name]));
export const operator = (name: Name): string =>
  formatAddress("neutronvaloper", new Uint8Array(20).fill(BYTE[name]));
/** The consensus key of the account's validator. */
export const consensusKey = (name: Name) => validatorKey(new Uint8Array(32).fill(BYTE[name]));
const coin = (amount: number | bigint) => ({ denom: "untrn", amount: String(amount) });

/** Genesis state of the bank: the same coins for each account. */
export function castBank(amount: number): { readonly balances: readonly JsonObject[] } {
  return { balances: NAMES.map((name) => ({ address: account(name), coins: [coin(amount)] })) };
}

/** Messages of the staking module, in the gateway's JSON. */
export const stakeMessages = {
  create: (name: Name, amount: number): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgCreateValidator",
    description: { moniker: name },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: operator(name),
    pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: toBase64(consensusKey(name).publicKey) },
    value: coin(amount),
  }),
  edit: (name: Name, fields: JsonObject = {}): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgEditValidator",
    description: { moniker: "new" },
    validator_address: operator(name),
    ...fields,
  }),
  delegate: (from: Name, to: Name, amount: number): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgDelegate",
    ...pair(from, to, amount),
  }),
  undelegate: (from: Name, to: Name, amount: number): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgUndelegate",
    ...pair(from, to, amount),
  }),
  redelegate: (from: Name, [source, destination]: readonly [Name, Name], amount: number): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgBeginRedelegate",
    delegator_address: account(from),
    validator_src_address: operator(source),
    validator_dst_address: operator(destination),
    amount: coin(amount),
  }),
  cancel: (from: Name, to: Name, amount: number, height: bigint): JsonObject => ({
    "@type": "/cosmos.staking.v1beta1.MsgCancelUnbondingDelegation",
    ...pair(from, to, amount),
    creation_height: height.toString(),
  }),
  unjail: (name: Name): JsonObject => ({
    "@type": "/cosmos.slashing.v1beta1.MsgUnjail",
    validator_addr: operator(name),
  }),
};

function pair(from: Name, to: Name, amount: number): JsonObject {
  return { delegator_address: account(from), validator_address: operator(to), amount: coin(amount) };
}

/** Parameters of the staking module with another number of validators. */
export function stakeParams(authority: string, maxValidators: number): JsonObject {
  return {
    "@type": "/cosmos.staking.v1beta1.MsgUpdateParams",
    authority,
    params: {
      unbonding_time: "1814400s",
      max_validators: maxValidators,
      max_entries: 7,
      historical_entries: 0,
      bond_denom: "untrn",
      min_commission_rate: "0",
    },
  };
}
