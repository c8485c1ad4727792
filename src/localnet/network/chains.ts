import { encodeBech32, fromHex } from "../../platform/base/bytes.ts";
import { formatDec18 } from "../../platform/base/decimal.ts";
import { LOCALNET_RELAYER_MNEMONIC } from "../../platform/base/localnet-defaults.ts";
import { defaultParams } from "../chain/modules/feemarket/params.ts";

/** Identifiers of a local chain. */
export interface ChainProfile {
  readonly part: ChainPart;
  readonly chainId: string;
  readonly denom: string;
  readonly bech32Prefix: string;
  /** Path segment, event type and type-URL prefix of the chain's own modules. */
  readonly chainName: string;
}

/** `local` receives query results; `remote` is the chain that they come from. */
export type ChainPart = "local" | "remote";

export const CHAINS: Readonly<Record<ChainPart, ChainProfile>> = {
  local: {
    part: "local",
    chainId: "local-1",
    denom: "untrn",
    bech32Prefix: "neutron",
    chainName: "neutron",
  },
  remote: {
    part: "remote",
    chainId: "remote-1",
    denom: "uatom",
    bech32Prefix: "cosmos",
    chainName: "neutron",
  },
};

/** A funded account of a local chain. Its mnemonic is public, so anybody can spend from it. */
export interface LocalnetAccount {
  readonly name: string;
  readonly address: string;
  /** PUBLIC TEST KEY: never send anything of value to it. */
  readonly mnemonic: string;
  /** HD derivation path of the key. */
  readonly hdPath: string;
  readonly chainId: string;
  /** Coins at genesis. */
  readonly coins: readonly DenomAmount[];
  /** Lowest gas price of the chain. It rises while blocks are full. */
  readonly gasPrice: DenomAmount;
}

interface DenomAmount {
  readonly denom: string;
  /** Decimal. */
  readonly amount: string;
}

const HD_PATH = "m/44'/118'/0'/0/0";

/** Coins of every test account in micro units: 10^9 whole coins. */
const TEST_BALANCE = "1000000000000000";

interface TestKey {
  readonly name: string;
  readonly mnemonic: string;
  /** 20-byte address of the mnemonic's key at {@link HD_PATH}. */
  readonly addressHex: string;
}

/** PUBLIC TEST KEYS, the same on every local chain. */
const TEST_KEYS: readonly TestKey[] = [
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

/** Returns the funded accounts of both chains, first those of the local chain. */
export function localnetAccounts(): readonly LocalnetAccount[] {
  return [CHAINS.local, CHAINS.remote].flatMap(accountsOf);
}

/** Returns the funded accounts of one chain. */
export function accountsOf(chain: ChainProfile): readonly LocalnetAccount[] {
  const { denom } = chain;
  const price = formatDec18(defaultParams(denom).minBaseGasPrice).replace(/\.?0+$/, "");
  return TEST_KEYS.map(({ name, mnemonic, addressHex }) => ({
    name,
    mnemonic,
    hdPath: HD_PATH,
    address: encodeBech32(chain.bech32Prefix, fromHex(addressHex)),
    chainId: chain.chainId,
    coins: [{ denom, amount: TEST_BALANCE }],
    gasPrice: { denom, amount: price },
  }));
}

/** Returns the account with this name on a chain. Throws when the name is unknown. */
export function accountNamed(chain: ChainProfile, name: string): LocalnetAccount {
  const account = accountsOf(chain).find((one) => one.name === name);
  if (account === undefined) throw new Error(`no test account is called ${name}`);
  return account;
}
