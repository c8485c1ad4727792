import { bech32 } from "@scure/base";

/** Longest text taken: 255 address bytes, a prefix of 83 characters, separator and checksum. */
const MAX_LENGTH = 1023;

/** Address bytes as bech32 text. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(bytes), MAX_LENGTH);
}

/** Reads bech32 text; all upper case is allowed, mixed case is not. Throws a plain error that says what is wrong. */
export function decodeBech32(text: string): { readonly prefix: string; readonly bytes: Uint8Array } {
  if (!hasSeparator(text)) throw new Error("no bech32 separator");
  const { prefix, words } = bech32.decode(text, MAX_LENGTH);
  return { prefix, bytes: bech32.fromWords(words) };
}

function hasSeparator(text: string): text is `${string}1${string}` {
  return text.includes("1");
}
