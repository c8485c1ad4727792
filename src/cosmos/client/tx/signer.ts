import { Bip39, EnglishMnemonic, Slip10, Slip10Curve, stringToPath } from "@cosmjs/crypto";
import { DirectSecp256k1Wallet, type OfflineDirectSigner } from "@cosmjs/proto-signing";
import { fromBase64, fromHex } from "../../../platform/base/bytes.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { ClientError } from "../errors.ts";
import { type KeyringKey, readKeyringKey } from "../keyring/read-keyring-key.ts";

/** Source of the private key. */
export type SigningKey =
  /** BIP-39 words; `hdPath` defaults to m/44'/118'/0'/0/0 */
  | { readonly kind: "mnemonic"; readonly mnemonic: Secret; readonly hdPath?: string }
  /** 32 bytes in hex */
  | { readonly kind: "private-key"; readonly hex: Secret }
  /** a key of an SDK keyring */
  | ({ readonly kind: "keyring" } & KeyringKey);

/** Content of a `SignDoc` of SIGN_MODE_DIRECT. */
interface SignDocument {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
  readonly chainId: string;
  readonly accountNumber: bigint;
}

/** Signs with one secp256k1 key. */
export interface Signer {
  /** bech32 */
  readonly address: string;
  /** compressed, 33 bytes */
  readonly publicKey: Uint8Array;
  /** Address of the account that pays the fees by a fee grant; "": the signing account pays. */
  readonly feeGranter: string;
  /** Returns the signature: r and s, 64 bytes. */
  readonly sign: (document: SignDocument) => Promise<Uint8Array>;
}

const DEFAULT_HD_PATH = "m/44'/118'/0'/0/0";

/** Creates a signer. `prefix` is the bech32 prefix of its address. Throws `bad-key`, without any part of the key in it. */
export async function createSigner(key: SigningKey, prefix: string, feeGranter = ""): Promise<Signer> {
  const wallet = await openWallet(key, prefix).catch((error: unknown) => {
    // Any other text could contain a part of the key.
    throw error instanceof ClientError ? error : badKey(key.kind);
  });
  const [account] = await wallet.getAccounts();
  if (account === undefined) throw badKey(key.kind);
  return {
    address: account.address,
    publicKey: account.pubkey,
    feeGranter,
    sign: async (document) => {
      const { signature } = await wallet.signDirect(account.address, { ...document });
      return fromBase64(signature.signature);
    },
  };
}

async function openWallet(key: SigningKey, prefix: string): Promise<OfflineDirectSigner> {
  return DirectSecp256k1Wallet.fromKey(await privateKey(key), prefix);
}

async function privateKey(key: SigningKey): Promise<Uint8Array> {
  if (key.kind === "private-key") return fromHex(key.hex.reveal().trim());
  if (key.kind === "keyring") return readKeyringKey(key);
  // The key is derived here, once. CosmJS' HD wallet derives it again for every signature.
  const words = key.mnemonic.reveal().trim().split(/\s+/).join(" ");
  const seed = await Bip39.mnemonicToSeed(new EnglishMnemonic(words));
  return Slip10.derivePath(Slip10Curve.Secp256k1, seed, stringToPath(key.hdPath ?? DEFAULT_HD_PATH)).privkey;
}

function badKey(kind: string): ClientError {
  return new ClientError({ code: "bad-key", kind }, `the ${kind} of the signing account cannot be used`);
}
