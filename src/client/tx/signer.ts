import { Bip39, EnglishMnemonic, Slip10, Slip10Curve, stringToPath } from "@cosmjs/crypto";
import { DirectSecp256k1Wallet, type OfflineDirectSigner } from "@cosmjs/proto-signing";
import { fromBase64, fromHex } from "../../base/bytes.ts";
import type { Secret } from "../../base/secret.ts";
import { ClientError } from "../errors.ts";

/** Where the private key comes from. */
export type SigningKey =
  /** BIP-39 words; the path defaults to m/44'/118'/0'/0/0 */
  | { readonly kind: "mnemonic"; readonly mnemonic: Secret; readonly hdPath?: string }
  /** 32 bytes in hex */
  | { readonly kind: "private-key"; readonly hex: Secret };

/** What SIGN_MODE_DIRECT signs. */
interface SignDocument {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
  readonly chainId: string;
  readonly accountNumber: bigint;
}

/** One secp256k1 account that signs. */
export interface Signer {
  /** bech32 */
  readonly address: string;
  /** compressed, 33 bytes */
  readonly publicKey: Uint8Array;
  /** The signature over a document: r and s, 64 bytes. */
  readonly sign: (document: SignDocument) => Promise<Uint8Array>;
}

const DEFAULT_HD_PATH = "m/44'/118'/0'/0/0";

/** Opens a key with CosmJS; `prefix` is that of the chain's addresses. Throws `bad-key`, which shows nothing of the key. */
export async function createSigner(key: SigningKey, prefix: string): Promise<Signer> {
  const wallet = await openWallet(key, prefix).catch(() => {
    throw badKey(key.kind);
  });
  const [account] = await wallet.getAccounts();
  if (account === undefined) throw badKey(key.kind);
  return {
    address: account.address,
    publicKey: account.pubkey,
    sign: async (document) => {
      const { signature } = await wallet.signDirect(account.address, { ...document });
      return fromBase64(signature.signature);
    },
  };
}

async function openWallet(key: SigningKey, prefix: string): Promise<OfflineDirectSigner> {
  return DirectSecp256k1Wallet.fromKey(await privateKey(key), prefix);
}

/** Derived once: CosmJS' own HD wallet derives the key anew for every signature. */
async function privateKey(key: SigningKey): Promise<Uint8Array> {
  if (key.kind === "private-key") return fromHex(key.hex.reveal().trim());
  const words = key.mnemonic.reveal().trim().split(/\s+/).join(" ");
  const seed = await Bip39.mnemonicToSeed(new EnglishMnemonic(words));
  return Slip10.derivePath(Slip10Curve.Secp256k1, seed, stringToPath(key.hdPath ?? DEFAULT_HD_PATH)).privkey;
}

function badKey(kind: string): ClientError {
  return new ClientError({ code: "bad-key", kind }, `the ${kind} of the signing account cannot be used`);
}
