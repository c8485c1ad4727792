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

/** Bytes of an address with this prefix, 1 to 255 of them. Throws a plain error on any other text. */
export function decodeAddress(prefix: string, text: string): Uint8Array {
  if (text.trim() === "") throw new Error("empty address string is not allowed");
  const decoded = decodeBech32(text);
  if (decoded.prefix !== prefix)
    throw new Error(`invalid Bech32 prefix; expected ${prefix}, got ${decoded.prefix}`);
  if (decoded.bytes.length === 0 || decoded.bytes.length > 255)
    throw new Error(`address length must be 1 to 255 bytes, got ${decoded.bytes.length}`);
  return decoded.bytes;
}

/** Whether the text is an address with this prefix. */
export function isAddress(prefix: string, text: string): boolean {
  try {
    decodeAddress(prefix, text);
    return true;
  } catch {
    return false;
  }
}

function hasSeparator(text: string): text is `${string}1${string}` {
  return text.includes("1");
}
