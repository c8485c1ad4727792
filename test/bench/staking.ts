import { HookType } from "../../src/cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { messageFromJson } from "../../src/cosmos/proto/json.ts";
import { createHooks, setSubscriptions } from "../../src/localnet/chain/modules/harpoon/module.ts";
import { classicContractAddress } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../src/localnet/chain/runtime/address.ts";
import { validatorKey } from "../../src/localnet/node/consensus/validators.ts";
import { toBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { addContract, createIcqChain } from "../support/icq-chain.ts";
import { startTestChain, testGenesis } from "../support/test-chain.ts";
import { createTestKey, type TestKey } from "../support/test-keys.ts";
import { buildTx } from "../support/test-tx.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { WIDE_MARKET } from "./wide-market.ts";

const ACCOUNTS = 100;
const DELEGATIONS = 1_000;
/** Hook types of a delegation: two of them for each. */
const HOOKS = [
  "HOOK_TYPE_BEFORE_DELEGATION_CREATED",
  "HOOK_TYPE_BEFORE_DELEGATION_SHARES_MODIFIED",
  "HOOK_TYPE_AFTER_DELEGATION_MODIFIED",
];
/** Calls of one batch. */
const CALLS = 2_000;
const BATCHES = 10;
/** Number of repetitions; the best one counts. Other programs can only make a figure worse. */
const ROUNDS = { full: 5, quick: 2 };
const VALIDATOR = formatAddress("neutronvaloper", new Uint8Array(20).fill(1));
const TYPE_URL = "/cosmos.staking.v1beta1.MsgDelegate";

/** Blocks of 1,000 delegations to one validator, alone and with a contract that gets their hooks. */
export function benchStaking({ quick }: BenchSettings): readonly BenchRow[] {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full;
  const keys = Array.from({ length: ACCOUNTS }, (_, index) => createTestKey(`account ${index}`));
  const measure = (contracts: readonly string[]): number =>
    Math.min(...Array.from({ length: rounds }, (_, round) => blockMs(keys, `round ${round}`, contracts)));
  // The first block compiles the code.
  blockMs(keys, "first", ["echo"]);
  const [alone, echo, power] = [measure([]), measure(["echo"]), measure(["voting-power"])];
  const note = `processor time, best of ${rounds} repetitions`;
  const block = `FinalizeBlock and Commit, ${DELEGATIONS} delegations`;
  return [
    { name: block, value: alone, unit: "ms", note },
    { name: `${block}, hooks to echo`, value: echo, unit: "ms", note },
    { name: `${block}, hooks to voting-power`, value: power, unit: "ms", note },
    {
      name: "sudo calls of hooks to echo, harpoon and the contract host",
      value: sudoCallsPerSecond(),
      unit: "calls/s",
      note: `processor time, best of ${BATCHES} batches of ${CALLS}`,
    },
  ];
}

/** Calls of one hook, with the event of the contract, above a store in memory. */
function sudoCallsPerSecond(): number {
  const chain = createIcqChain();
  const echo = addContract(chain, "echo");
  const names = { chainName: "neutron", bech32Prefix: "neutron", authority: echo };
  const hooks = createHooks({ ...names, contracts: chain.wasm.host });
  const hookType = HookType.HOOK_TYPE_AFTER_DELEGATION_MODIFIED;
  setSubscriptions(chain.world.context(), { hookType, contractAddresses: [echo] });
  const address = new Uint8Array(20).fill(1);
  const batchMs = Array.from({ length: BATCHES }, () => {
    const context = chain.world.context();
    const start = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) hooks.afterDelegationModified(context, address, address);
    chain.world.events.length = 0;
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return (CALLS * 1000) / Math.min(...batchMs);
}

function blockMs(keys: readonly TestKey[], memo: string, contracts: readonly string[]): number {
  const chain = startTestChain(genesis(keys, contracts));
  const txs = Array.from({ length: DELEGATIONS }, (_, index) => delegation(keys, index, memo));
  for (const tx of txs) chain.app.checkTx(tx, false);
  const start = process.cpuUsage();
  const { txResults } = chain.block(...txs);
  const { user, system } = process.cpuUsage(start);
  const failed = txResults.find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(failed.log);
  return (user + system) / 1000;
}

function delegation(keys: readonly TestKey[], index: number, memo: string): Uint8Array {
  const accountNumber = BigInt(index % ACCOUNTS);
  const key = keys[index % ACCOUNTS];
  if (key === undefined) throw new Error("an account is missing");
  const value = messageFromJson(TYPE_URL.slice(1), {
    delegator_address: key.address,
    validator_address: VALIDATOR,
    amount: { denom: "untrn", amount: "1000" },
  });
  const sequence = BigInt(Math.floor(index / ACCOUNTS));
  const fee = [{ denom: "untrn", amount: "15000" }];
  return buildTx({
    key,
    sequence,
    accountNumber,
    memo,
    fee,
    gas: 5_000_000n,
    messages: [{ typeUrl: TYPE_URL, value }],
  });
}

function genesis(keys: readonly TestKey[], contracts: readonly string[]): JsonObject {
  const accounts = keys.map((key) => ({ key, untrn: 1_000_000_000n }));
  const base = testGenesis(accounts);
  const tokens = "5000000";
  const pool = {
    address: formatAddress("neutron", moduleAddress("not_bonded_tokens_pool")),
    coins: [{ denom: "untrn", amount: tokens }],
  };
  const balances = accounts.map(({ key, untrn }) => ({
    address: key.address,
    coins: [{ denom: "untrn", amount: untrn.toString() }],
  }));
  return {
    ...base,
    bank: { balances: [...balances, pool] },
    feemarket: WIDE_MARKET,
    consensus: { params: { block: { max_bytes: "22020096", max_gas: "-1" } } },
    staking: stakingGenesis(tokens),
    ...subscribers(keys[0]?.address ?? "", contracts),
  };
}

function stakingGenesis(tokens: string): JsonObject {
  return {
    validators: [
      {
        operator_address: VALIDATOR,
        consensus_pubkey: {
          "@type": "/cosmos.crypto.ed25519.PubKey",
          key: toBase64(validatorKey(new Uint8Array(32).fill(1)).publicKey),
        },
        status: "BOND_STATUS_UNBONDED",
        tokens,
        delegator_shares: tokens,
        description: { moniker: "validator" },
        unbonding_time: "1970-01-01T00:00:00Z",
        commission: {
          commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
          update_time: "1970-01-01T00:00:00Z",
        },
        min_self_delegation: "1",
      },
    ],
    delegations: [
      {
        delegator_address: formatAddress("neutron", parseAddress("neutronvaloper", VALIDATOR)),
        validator_address: VALIDATOR,
        shares: tokens,
      },
    ],
  };
}

/** Instantiates contracts of one code and subscribes them. */
function subscribers(sender: string, contracts: readonly string[]): JsonObject {
  const [name] = contracts;
  if (name === undefined) return {};
  const instantiate_contract = { sender, admin: sender, code_id: "1", label: name, msg: {}, funds: [] };
  const addresses = contracts.map((_, index) =>
    formatAddress("neutron", classicContractAddress(1n, BigInt(index + 1))),
  );
  const hooks = name === "echo" ? HOOKS : [...HOOKS, "HOOK_TYPE_AFTER_VALIDATOR_CREATED"];
  return {
    wasm: {
      codes: [{ name, creator: sender }],
      gen_msgs: contracts.map(() => ({ instantiate_contract })),
    },
    harpoon: {
      hook_subscriptions: hooks.map((hook_type) => ({ hook_type, contract_addresses: addresses })),
    },
  };
}
