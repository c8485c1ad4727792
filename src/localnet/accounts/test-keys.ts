import { LOCALNET_RELAYER_MNEMONIC } from "../../platform/base/localnet-defaults.ts";

export interface DenomAmount {
  readonly denom: string;
  /** Decimal. */
  readonly amount: string;
}

/** HD derivation path of all keys. */
export const HD_PATH = "m/44'/118'/0'/0/0";

/** Coins of each test account, in micro units: 10^9 whole coins. */
export const TEST_BALANCE = "1000000000000000";

/** An account in the genesis. PUBLIC TEST KEY. */
export interface ChainKey {
  readonly name: string;
  readonly mnemonic: string;
  /** 20-byte address of the mnemonic's key at {@link HD_PATH}. */
  readonly addressHex: string;
  /** Default: {@link TEST_BALANCE} in the chain's denomination. */
  readonly coins?: readonly DenomAmount[];
}

/** PUBLIC TEST KEYS, the same on every local chain. */
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
