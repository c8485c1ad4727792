import { validatorsHash } from "../../cosmos/comet/block-hashes.ts";
import { createValidatorSet } from "../../cosmos/comet/validator-set.ts";
import { encodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { formatRfc3339Ns, NS_PER_SECOND } from "../../platform/base/time.ts";
import { gasBurner } from "../chain/contracts/gas-burner.ts";
import { openConnectionGenesis, type TrustedHeader } from "../chain/modules/ibc/open-connection.ts";
import { NOT_BONDED_POOL } from "../chain/modules/staking/types.ts";
import { classicContractAddress } from "../chain/modules/wasm/keeper.ts";
import type { ProfileName } from "../chain/deviations/deviations.ts";
import { formatAddress, moduleAddress, parseAddress } from "../chain/runtime/address.ts";
import type { GenesisDoc } from "../node/base/genesis-doc.ts";
import { testValidatorSeed, validatorKey } from "../node/consensus/validators.ts";
import {
  accountNamed,
  accountsOf,
  type ChainProfile,
  CHAINS,
  type LocalnetChains,
} from "../accounts/chains.ts";
import { TOKENS } from "./chain-files.ts";
import { withOracle } from "./oracle-genesis.ts";
import {
  addContracts,
  type GenesisContract,
  instantiation,
  type PlacedContract,
  seedDexDemo,
  seedHooksDemo,
  type WasmState,
} from "./scenario-genesis.ts";
import type { ValidatorPower } from "../chain/runtime/abci.ts";

export interface LocalnetGenesisOptions {
  /** Genesis time of both chains. The local chain's header that the remote chain's light client trusts has the same time. */
  readonly timeNs: bigint;
  /** Voting powers of the genesis validators. There must be at least one validator. */
  readonly validatorPowers: readonly bigint[];
  /** The chains to create. Default: the chains of the default localnet. */
  readonly chains?: LocalnetChains;
  /** Genesis transactions that create the validators, if the chain's settings request them. */
  readonly genesisTxs?: readonly JsonValue[];
  /** Profile of a new chain. Default: `specification`. An existing chain must already have this profile. */
  readonly profile?: ProfileName | undefined;
  /** If true, the local chain stores the sidecar's prices and pays its validators monthly. */
  readonly hasOracle?: boolean;
  readonly scenario?: LocalnetScenario | undefined;
  /** Contracts to add to the local chain. The code ids of the added contracts follow the code ids of the scenario's contracts. */
  readonly contracts?: readonly GenesisContract[];
  /** Called for each contract in `contracts` with its code id and address, while the genesis is created. */
  readonly onContract?: (contract: PlacedContract) => void;
}

/** Scenarios that add state to the local chain. `dex-demo` adds pools and limit orders, `hooks-demo` contracts with staking hooks. */
export const LOCALNET_SCENARIOS = ["dex-demo", "hooks-demo"] as const;

export type LocalnetScenario = (typeof LOCALNET_SCENARIOS)[number];

/** Initial coins of the consumer contract, enough for 100 query deposits. */
const CONTRACT_FUNDS = "100000000";

/** Update period of query 1, in blocks. */
const FIRST_QUERY_PERIOD = 2;

const DAYS = 86_400n * NS_PER_SECOND;

/** Settings of the two chains' light clients for each other. As on real networks, the trusting period is 2/3 of the unbonding period. */
const CLIENT_SETTINGS = {
  trustingPeriodNs: 14n * DAYS,
  unbondingPeriodNs: 21n * DAYS,
  maxClockDriftNs: 60n * NS_PER_SECOND,
};

/**
 * Predicted properties of the local chain. The predictions are needed to create the remote chain's light client before the local
 * chain starts.
 */
interface FutureLocalChain {
  readonly powers: readonly bigint[];
  readonly emptyAppHash: Uint8Array;
}

/** Returns the key seeds of a local chain's validators, which are public test keys. */
export function localnetSeeds(chain: ChainProfile, count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, index) => testValidatorSeed(chain.chainId, index));
}

function testValidators(chain: ChainProfile, powers: readonly bigint[]): readonly ValidatorPower[] {
  return powers.map((power, index) => {
    const { publicKey } = validatorKey(testValidatorSeed(chain.chainId, index));
    return { publicKey, power };
  });
}

/**
 * Creates the remote chain's genesis, with the funded test accounts. If the local chain's validators and app hash are given, the
 * genesis also has a client `07-tendermint-0` for the local chain and an open `connection-0`.
 */
export function remoteGenesis(
  options: LocalnetGenesisOptions & { readonly local?: FutureLocalChain },
): GenesisDoc {
  const { timeNs, local, chains = CHAINS } = options;
  const chain = chains.remote;
  const state = accountState(chain);
  if (local === undefined) return genesis(chain, options, state);
  const ibc = openConnectionGenesis({
    remote: { header: firstLocalHeader(chains.local, timeNs, local) },
    settings: CLIENT_SETTINGS,
    ownChainId: chain.chainId,
    ownTimeNs: timeNs,
  });
  return genesis(chain, options, { ...state, ibc });
}

/**
 * Predicts the local chain's first header before block 1 exists, for the remote chain's client. The header has test validators and
 * both chains' genesis time. The header's app hash is the hash of an empty state, because the genesis state is written only in block 1.
 */
function firstLocalHeader(
  chain: ChainProfile,
  timeNs: bigint,
  { powers, emptyAppHash }: FutureLocalChain,
): TrustedHeader {
  const validators = testValidators(chain, powers);
  return {
    chainId: chain.chainId,
    height: 1n,
    timeNs,
    appHash: emptyAppHash,
    nextValidatorsHash: validatorsHash(createValidatorSet(validators).validators),
  };
}

/**
 * Creates the local chain's genesis, with the funded test accounts, a client `07-tendermint-0` that trusts the header `remote`,
 * an open `connection-0`, and a funded consumer contract. The contract registers query 1, which reads alice's balance on the
 * remote chain.
 */
export function localGenesis(
  options: LocalnetGenesisOptions,
  remote: { readonly header: TrustedHeader },
): GenesisDoc {
  const { chains = CHAINS } = options;
  const chain = chains.local;
  const ibc = openConnectionGenesis({
    remote,
    settings: CLIENT_SETTINGS,
    moreClients: chain.settings.moreClients.map((trustingPeriodNs) => ({
      ...CLIENT_SETTINGS,
      trustingPeriodNs,
    })),
    ownChainId: chain.chainId,
    ownTimeNs: options.timeNs,
  });
  const adminmodule = { admins: chain.settings.admins.map((admin) => addressOf(chain, admin)) };
  const state = { ...accountState(chain), adminmodule, ibc, wasm: consumerState(chains) };
  const doc = genesis(chain, options, withScenario(chain, state, options));
  return options.hasOracle ? withOracle(chain, doc) : doc;
}

/** Returns the address of the chain's account with this name, or the text itself if no account has this name. */
function addressOf(chain: ChainProfile, nameOrAddress: string): string {
  return chain.keys.some(({ name }) => name === nameOrAddress)
    ? accountNamed(chain, nameOrAddress).address
    : nameOrAddress;
}

function withScenario(
  chain: ChainProfile,
  { wasm, ...state }: ReturnType<typeof accountState> & { readonly wasm: WasmState },
  options: LocalnetGenesisOptions,
): JsonObject {
  switch (options.scenario) {
    case "dex-demo":
      return { ...withDexDemo(chain, state, options), wasm: toJson(chain, wasm, options) };
    case "hooks-demo": {
      const seeded = seedHooksDemo(chain, wasm);
      return { ...state, harpoon: seeded.harpoon, wasm: toJson(chain, seeded.wasm, options) };
    }
    case undefined:
      return { ...state, wasm: toJson(chain, wasm, options) };
  }
}

/**
 * Appends the code of the traffic contract and the contracts in the options last, so that the addresses of the scenario's contracts
 * do not change.
 */
function toJson(
  chain: ChainProfile,
  { codes, gen_msgs }: WasmState,
  { contracts = [], onContract }: Pick<LocalnetGenesisOptions, "contracts" | "onContract">,
): JsonObject {
  const burner = chain.settings.builtInContracts
    ? [{ name: gasBurner.name, creator: accountNamed(chain, "operator").address }]
    : [];
  const own = { codes: [...codes.map((code) => ({ ...code })), ...burner], gen_msgs };
  const all = addContracts(chain, own, contracts);
  for (const placed of all.placed) onContract?.(placed);
  return { codes: [...all.codes], gen_msgs: [...all.gen_msgs] };
}

/**
 * Adds the state of the scenario `dex-demo`, and replaces all balances with the scenario's balances, which include additional
 * denominations.
 */
function withDexDemo(
  chain: ChainProfile,
  state: ReturnType<typeof accountState>,
  { timeNs, profile }: LocalnetGenesisOptions,
): JsonObject {
  const { genesis: dex, balances } = seedDexDemo(chain, timeNs, profile);
  const coinsOf = ({ coins }: (typeof balances)[number]): JsonValue =>
    coins.map(({ denom, amount }) => ({ denom, amount: amount.toString() }));
  const bank = balances.map((balance) => ({ address: balance.address, coins: coinsOf(balance) }));
  return { ...state, dex, bank: { ...state.bank, balances: bank } };
}

function genesis(chain: ChainProfile, options: LocalnetGenesisOptions, appState: JsonObject): GenesisDoc {
  return {
    chainId: chain.chainId,
    genesisTimeNs: options.timeNs,
    initialHeight: 1n,
    consensusParams: chain.settings.consensusParams,
    validators: testValidators(chain, options.validatorPowers),
    appState: withStake(chain, options, appState),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
  };
}

function accountState(chain: ChainProfile): { readonly auth: JsonObject; readonly bank: JsonObject } {
  const accounts = accountsOf(chain);
  return {
    auth: {
      accounts: accounts.map(({ address }, index) => ({
        "@type": "/cosmos.auth.v1beta1.BaseAccount",
        address,
        pub_key: null,
        account_number: index.toString(),
        sequence: "0",
      })),
    },
    bank: {
      params: { send_enabled: [], default_send_enabled: true },
      balances: accounts.map(({ address, coins }) => ({
        address,
        coins: coins.map(({ denom, amount }) => ({ denom, amount })),
      })),
      supply: [],
      denom_metadata: [...chain.settings.denomMetadata],
      send_enabled: [],
    },
  };
}

/** Returns the wasm module's genesis state: the codes, the consumer contract, and the message that registers query 1. */
function consumerState({ local: chain, remote }: LocalnetChains): WasmState {
  if (!chain.settings.builtInContracts) return { codes: [], gen_msgs: [] };
  // The consumer contract's address is known, because `gen_msgs` creates the contract as the first instance of the first code.
  const consumer = encodeBech32(chain.bech32Prefix, classicContractAddress(1n, 1n));
  const operator = accountNamed(chain, "operator").address;
  return {
    codes: [
      { name: "icq-consumer", creator: operator },
      { name: "echo", creator: operator },
      { name: "rate-limiter", creator: operator },
    ],
    gen_msgs: [
      instantiation(operator, {
        codeId: 1,
        label: "icq-consumer",
        funds: [{ denom: chain.denom, amount: CONTRACT_FUNDS }],
      }),
      ...(chain.settings.firstQuery
        ? [
            {
              execute_contract: {
                sender: operator,
                contract: consumer,
                msg: registerFirstQuery(remote),
                funds: [],
              },
            },
          ]
        : []),
    ],
  };
}

function registerFirstQuery(remote: ChainProfile): JsonObject {
  return {
    register_balance_query: {
      connection_id: "connection-0",
      update_period: FIRST_QUERY_PERIOD,
      addr: accountNamed(remote, "alice").address,
      denom: remote.denom,
    },
  };
}

/**
 * Adds the validators to the staking state, each with a delegation from its operator. The accounts in `settings.operators` operate
 * the first validators, and accounts without keys operate all other validators. The tokens are new coins in the pool for unbonded
 * tokens, because the validators bond only when the chain starts.
 */
function withStake(chain: ChainProfile, options: LocalnetGenesisOptions, state: JsonObject): JsonObject {
  const params = {
    unbonding_time: "1814400s",
    max_validators: 100,
    max_entries: 7,
    historical_entries: 10_000,
    bond_denom: chain.denom,
    min_commission_rate: "0",
  };
  if (options.genesisTxs !== undefined)
    return { ...state, staking: { params }, genutil: { gen_txs: [...options.genesisTxs] } };
  const operators = options.validatorPowers.map((_, index) => operatorOf(chain, index));
  const tokens = options.validatorPowers.map((power) => power * TOKENS);
  const total = tokens.reduce((sum, amount) => sum + amount, 0n);
  const pool = {
    address: formatAddress(chain.bech32Prefix, moduleAddress(NOT_BONDED_POOL)),
    coins: [{ denom: chain.denom, amount: total.toString() }],
  };
  const bank = isRecord(state["bank"]) ? state["bank"] : {};
  const balances: readonly JsonValue[] = Array.isArray(bank["balances"]) ? bank["balances"] : [];
  return {
    ...state,
    bank: { ...bank, balances: [...balances, pool] },
    staking: {
      params,
      validators: tokens.map((amount, index) => validatorOf(chain, options, { index, amount })),
      delegations: tokens.map((amount, index) => ({
        delegator_address: formatAddress(chain.bech32Prefix, operators[index] ?? new Uint8Array(20)),
        validator_address: operatorText(chain, index),
        shares: `${amount}.000000000000000000`,
      })),
    },
  };
}

function validatorOf(
  chain: ChainProfile,
  { timeNs }: LocalnetGenesisOptions,
  { index, amount }: { readonly index: number; readonly amount: bigint },
): JsonObject {
  const { publicKey } = validatorKey(testValidatorSeed(chain.chainId, index));
  return {
    operator_address: operatorText(chain, index),
    consensus_pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: toBase64(publicKey) },
    status: "BOND_STATUS_UNBONDED",
    tokens: amount.toString(),
    delegator_shares: `${amount}.000000000000000000`,
    description: { moniker: `validator-${index}` },
    unbonding_time: "1970-01-01T00:00:00Z",
    commission: {
      commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
      update_time: formatRfc3339Ns(timeNs),
    },
    min_self_delegation: "1",
  };
}

/** Returns the bech32 addresses of a chain's first validator, i.e. the validator that votes with the sidecar's prices. */
export function firstValidatorOf(chain: ChainProfile): Readonly<Record<"consensus" | "operator", string>> {
  const { address } = validatorKey(testValidatorSeed(chain.chainId, 0));
  return {
    consensus: encodeBech32(`${chain.bech32Prefix}valcons`, address),
    operator: operatorText(chain, 0),
  };
}

function operatorText(chain: ChainProfile, index: number): string {
  return encodeBech32(`${chain.bech32Prefix}valoper`, operatorOf(chain, index));
}

function operatorOf(chain: ChainProfile, index: number): Uint8Array {
  const operator = chain.settings.operators[index];
  return operator === undefined
    ? validatorKey(testValidatorSeed(chain.chainId, index)).address
    : parseAddress(chain.bech32Prefix, addressOf(chain, operator));
}
