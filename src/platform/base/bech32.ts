import { bech32 } from "@scure/base";

/** Maximum length: 255 address bytes, a prefix of 83 characters, separator and checksum fit. */
const MAX_LENGTH = 1023;

/** Encodes address bytes as bech32. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(bytes), MAX_LENGTH);
}

/** Decodes bech32. Accepts lower or upper case, but not both in one text. Throws an `Error` with the reason. */
export function decodeBech32(text: string): { readonly prefix: string; readonly bytes: Uint8Array } {
  if (!hasSeparator(text)) throw new Error("no bech32 separator");
  const { prefix, words } = bech32.decode(text, MAX_LENGTH);
  return { prefix, bytes: bech32.fromWords(words) };
}

function hasSeparator(text: string): text is `${string}1${string}` {
  return text.includes("1");
}
