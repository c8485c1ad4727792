import { encodeBech32, fromHex } from "../../platform/base/bytes.ts";
import { formatDec18 } from "../../platform/base/decimal.ts";
import { CodedError } from "../../platform/base/errors.ts";
import type { GasPrice } from "../chain/modules/feemarket/module.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { DEPLOYED_MARKET } from "../../cosmos/fee-market/market.ts";
import { type ConsensusParams, DEFAULT_CONSENSUS_PARAMS } from "../node/base/genesis-doc.ts";
import { LOCALNET_RELAYER_MNEMONIC } from "../../platform/base/localnet-defaults.ts";

export interface DenomAmount {
  readonly denom: string;
  /** Decimal string in the base unit. Amounts of coins are integers. Gas prices can have a fraction. */
  readonly amount: string;
}

const HD_PATH = "m/44'/118'/0'/0/0";

/** Initial balance of each test account, in micro units: 10^15 micro units are 10^9 whole coins. */
export const TEST_BALANCE = "1000000000000000";

/** A genesis account. The account's key is a PUBLIC TEST KEY. */
export interface ChainKey {
  readonly name: string;
  readonly mnemonic: string;
  /** The account's 20-byte address in hex, for the key at {@link HD_PATH} of the mnemonic. */
  readonly addressHex: string;
  /** The account's coins at genesis. Default: {@link TEST_BALANCE} in the chain's native denomination. */
  readonly coins?: readonly DenomAmount[];
}

/** PUBLIC TEST KEYS, identical on all local chains. */
export const TEST_KEYS: readonly ChainKey[] = [
  {
    name: "alice",
    mnemonic:
      "burden animal duck shed robot proof dirt much bind exile sight library party slab trophy side industry public error quantum peanut clarify air venue",
    addressHex: "2974ddaa226ea08c302a7770d1406af7bbff664f",
  },
  {
    name: "bob",
    mnemonic:
      "security case stairs medal remove egg race junior vocal cruel motion code tomato witness sword embrace clown stem mind gas frog glide slab curtain",
    addressHex: "366de92a6c892176a6bf24607f35a97f49014716",
  },
  {
    name: "relayer",
    mnemonic: LOCALNET_RELAYER_MNEMONIC,
    addressHex: "33cee1033956796679437e9ea16e69af4f21a9eb",
  },
  {
    name: "operator",
    mnemonic:
      "shoulder must picture crisp budget ozone letter company verify vault rebel detail prize bleak garbage element endorse strong permit risk detail strike hammer shuffle",
    addressHex: "929d9d4ccf7b871931ad75eba32f3568744e93d4",
  },
  {
    name: "faucet",
    mnemonic:
      "child entry hole today fever dance margin despair myth uphold permit vanish rookie empty story absurd invest cereal series choice ability deputy atom pioneer",
    addressHex: "66cb2f3a78ef310dd4c8b8d171f9d8d89543c5f6",
  },
  {
    name: "ibc-relayer",
    mnemonic:
      "obey wall lake harbor name salmon credit print crucial common cram south victory text input move cinnamon crater firm volume unhappy energy cute develop",
    addressHex: "34a22d1f867a73dac95cc09239ff46b3cd3544e1",
  },
  {
    name: "traffic",
    mnemonic:
      "venue diary bitter pen worth ankle beach benefit sphere brain decrease solar allow injury submit similar satisfy soft furnace dish bright nasty news thumb",
    addressHex: "baf213dfa47aec12f099aa50b39be6af4b82c335",
  },
];

/** A local chain's identifiers, accounts and genesis contents. */
export interface ChainProfile {
  readonly part: ChainPart;
  readonly chainId: string;
  readonly denom: string;
  readonly bech32Prefix: string;
  /** Name used in the URL paths, event types and type URLs of the chain's own modules. */
  readonly chainName: string;
  /** Genesis accounts, in account number order. */
  readonly keys: readonly ChainKey[];
  /**
   * Minimum gas prices. A transaction must pay at least one of them. The mempool enforces these prices while the fee market is
   * disabled.
   */
  readonly minGasPrices?: readonly GasPrice[];
  /** Maximum gas for a simulation. Default: the fee market's maximum gas per transaction. */
  readonly simulationGas?: bigint | undefined;
  /** CPU time after which the node aborts a query or simulation, in ms. Default: `DEFAULT_QUERY_TIME_MS`. */
  readonly queryTimeMs?: number | undefined;
  readonly settings: GenesisSettings;
}

/** A chain's genesis settings, other than its accounts. */
interface GenesisSettings {
  readonly consensusParams: ConsensusParams;
  /** Denomination metadata, in the format of the `bank` module. */
  readonly denomMetadata: readonly JsonObject[];
  /** Names or addresses of the first validators' operators. All further validators get operator addresses without a key. */
  readonly operators: readonly (string | undefined)[];
  /** If true, genesis transactions create the validators after InitGenesis. Otherwise, the staking genesis contains the validators. */
  readonly genesisTransactions: boolean;
  /** Names or addresses of the accounts that may submit proposals to the local chain's `adminmodule`. */
  readonly admins: readonly string[];
  /** True if the local chain starts with the localnet's own contracts, such as icq-consumer. */
  readonly builtInContracts: boolean;
  /** True if the local chain starts with query 1, owned by icq-consumer. Requires `builtInContracts`. */
  readonly firstQuery: boolean;
  /** Trusting periods (ns), one for each additional light client of the remote chain. The additional clients have no connections. */
  readonly moreClients: readonly bigint[];
  /** Genesis state, keyed by module. The fields in `modules` override the state that results from the other settings. */
  readonly modules: JsonObject;
}

/** `local` is the chain that receives query results. `remote` is the chain whose state is queried. */
export type ChainPart = "local" | "remote";

export type LocalnetChains = Readonly<Record<ChainPart, ChainProfile>>;

/** A funded account on a local chain. The mnemonic is public, so anyone can spend the account's coins. */
export interface LocalnetAccount {
  readonly name: string;
  readonly address: string;
  /** PUBLIC TEST KEY: never send it anything of value. */
  readonly mnemonic: string;
  readonly hdPath: string;
  readonly chainId: string;
  /** The account's coins at genesis. */
  readonly coins: readonly DenomAmount[];
  /** The chain's minimum gas price, which applies while blocks are not full. Full blocks raise the actual gas price. */
  readonly gasPrice: DenomAmount;
}

/** Test accounts that operate the first validators. */
const OPERATORS = ["operator", "faucet", "ibc-relayer", "alice", "bob", "relayer"];

const SETTINGS: GenesisSettings = {
  consensusParams: DEFAULT_CONSENSUS_PARAMS,
  denomMetadata: [],
  operators: OPERATORS,
  genesisTransactions: false,
  admins: ["operator"],
  builtInContracts: true,
  firstQuery: true,
  moreClients: [],
  modules: {},
};

export const CHAINS: LocalnetChains = {
  local: {
    part: "local",
    chainId: "local-1",
    denom: "untrn",
    bech32Prefix: "neutron",
    chainName: "neutron",
    keys: TEST_KEYS,
    settings: SETTINGS,
  },
  remote: {
    part: "remote",
    chainId: "remote-1",
    denom: "uatom",
    bech32Prefix: "cosmos",
    chainName: "neutron",
    keys: TEST_KEYS,
    settings: SETTINGS,
  },
};

/** Names of the accounts that the relayers use to sign transactions. */
export interface LocalnetRoles {
  /** The ICQ relayer's signing account on the local chain. */
  readonly icqRelayer: string;
  readonly ibcRelayer: Readonly<Record<ChainPart, string>>;
}

export const DEFAULT_ROLES: LocalnetRoles = {
  icqRelayer: "relayer",
  ibcRelayer: { local: "ibc-relayer", remote: "ibc-relayer" },
};

/** Returns the funded accounts of both chains, local chain first. */
export function localnetAccounts(chains: LocalnetChains = CHAINS): readonly LocalnetAccount[] {
  return [chains.local, chains.remote].flatMap(accountsOf);
}

export function accountsOf(chain: ChainProfile): readonly LocalnetAccount[] {
  const { denom } = chain;
  const price = formatDec18(DEPLOYED_MARKET.minBaseGasPrice).replace(/\.?0+$/, "");
  return chain.keys.map(({ name, mnemonic, addressHex, coins }) => ({
    name,
    mnemonic,
    hdPath: HD_PATH,
    address: encodeBech32(chain.bech32Prefix, fromHex(addressHex)),
    chainId: chain.chainId,
    coins: coins ?? [{ denom, amount: TEST_BALANCE }],
    gasPrice: { denom, amount: price },
  }));
}

export class UnknownAccountError extends CodedError<{
  readonly code: "no-such-account";
  readonly name: string;
  readonly chainId: string;
}> {}

/** Returns the account with this name on the chain. Throws {@link UnknownAccountError}. */
export function accountNamed(chain: ChainProfile, name: string): LocalnetAccount {
  const account = accountsOf(chain).find((one) => one.name === name);
  if (account !== undefined) return account;
  const { chainId } = chain;
  throw new UnknownAccountError(
    { code: "no-such-account", name, chainId },
    `${chainId} has no account named ${name}`,
  );
}
