import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import { EnglishMnemonic, Slip10, Slip10Curve, stringToPath } from "@cosmjs/crypto";

/** HD path of the SDK's first account. */
export const DEFAULT_HD_PATH = "m/44'/118'/0'/0/0";

/**
 * Derives a secp256k1 private key from BIP-39 words (BIP-32), without a passphrase. Throws if the words are not a mnemonic or the
 * path is invalid. The error message may contain a part of the words or the path.
 */
export async function deriveKey(words: string, hdPath: string): Promise<Uint8Array> {
  const mnemonic = new EnglishMnemonic(words.trim().split(/\s+/).join(" "));
  const seed = await seedOf(mnemonic);
  return Slip10.derivePath(Slip10Curve.Secp256k1, seed, stringToPath(hdPath)).privkey;
}

/**
 * Derives the BIP-39 seed without a passphrase. In a new process, Node's PBKDF2 takes 3 ms, but CosmJS's JavaScript version takes
 * 90 ms.
 */
function seedOf(mnemonic: EnglishMnemonic): Promise<Uint8Array> {
  return promisify(pbkdf2)(mnemonic.toString().normalize("NFKD"), "mnemonic", 2048, 64, "sha512");
}
