import { ErrLogic } from "./errors.ts";
import { encodeBech32, sha256, latin1, utf8 } from "../../../platform/base/bytes.ts";
import { bad, CodedError, errorText, good, type Result } from "../../../platform/base/errors.ts";
import { createObjectSlot, createRecentCache, type RecentCache } from "../../../platform/base/caches.ts";
import { trimGoSpace } from "../../../platform/base/text.ts";

const CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_LENGTH = 6;
const MAX_LENGTH = 1023;
const MAX_ADDRESS_BYTES = 255;

// Caches of recent conversions in both directions. A transaction converts each of its addresses about twenty times, so without
// these caches, most of its time would be spent on bech32. Each entry depends only on its key, so the caches cannot change a
// result.
const parsedByPrefix = new Map<string, RecentCache<string, Uint8Array>>();
const formattedByPrefix = new Map<string, RecentCache<string, string>>();
const moduleAddresses = createRecentCache<string, Uint8Array>(64);

/** Caches an address's last requested bech32 text, together with the text's prefix, on the address array. */
const sharedTexts = createObjectSlot<Uint8Array, { readonly prefix: string; readonly text: string }>(
  "text of the address",
);
const NO_TEXT = { prefix: "", text: "" };

export type AddressErrorFacts =
  | { readonly code: "not-an-address" }
  | { readonly code: "wrong-prefix"; readonly expected: string; readonly got: string };

/** Thrown for a string that is not an account address on this chain. The message is the same as from the SDK's `AccAddressFromBech32`. */
export class AddressError extends CodedError<AddressErrorFacts> {}

/**
 * Returns a module account's address, i.e. the first 20 bytes of the SHA-256 hash of the module's name. Callers must not modify the
 * cached array.
 */
export function moduleAddress(name: string): Uint8Array {
  return cached(moduleAddresses, name, () => shared(sha256(utf8(name)).slice(0, 20)));
}

function shared(address: Uint8Array): Uint8Array {
  sharedTexts.set(address, NO_TEXT);
  return address;
}

export function formatAddress(prefix: string, address: Uint8Array): string {
  const known = sharedTexts.get(address);
  if (known !== undefined && known.prefix === prefix && known !== NO_TEXT) return known.text;
  // Use Latin-1 text as the cache key, because mapping each byte to one character is the fastest conversion to a unique string.
  const text = cached(ofPrefix(formattedByPrefix, prefix), latin1(address), () =>
    encodeBech32(prefix, address),
  );
  if (known !== undefined) sharedTexts.set(address, { prefix, text });
  return text;
}

/** Parses a bech32 address into a cached array, which callers must not modify. Throws `AddressError` for an invalid address. */
export function parseAddress(prefix: string, text: string): Uint8Array {
  return cached(ofPrefix(parsedByPrefix, prefix), text, () => shared(readAddress(prefix, text)));
}

/** Runs `parse` and throws like the SDK's address codec, i.e. sdk/35 for a wrong prefix and `AddressError` for any other error. */
export function withSdkErrors<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof AddressError) || error.facts.code !== "wrong-prefix") throw error;
    const { expected, got } = error.facts;
    throw ErrLogic(`hrp does not match bech32 prefix: expected '${expected}' got '${got}'`);
  }
}

/** Parses a bech32 address like {@link parseAddress}, but returns the error message instead of throwing. */
export function tryParseAddress(prefix: string, text: string): Result<Uint8Array, string> {
  try {
    return good(parseAddress(prefix, text));
  } catch (error) {
    return bad(errorText(error));
  }
}

function ofPrefix<T>(caches: Map<string, RecentCache<string, T>>, prefix: string): RecentCache<string, T> {
  const known = caches.get(prefix);
  if (known !== undefined) return known;
  const cache = createRecentCache<string, T>(4_096);
  caches.set(prefix, cache);
  return cache;
}

function cached<T>(cache: RecentCache<string, T>, key: string, create: () => T): T {
  return cache.get(key, create) ?? create();
}

function readAddress(prefix: string, text: string): Uint8Array {
  if (trimGoSpace(text) === "") throw notAnAddress("empty address string is not allowed");
  const decoded = decodeBech32(text);
  if (decoded.prefix !== prefix) {
    const message = `invalid Bech32 prefix; expected ${prefix}, got ${decoded.prefix}`;
    throw new AddressError({ code: "wrong-prefix", expected: prefix, got: decoded.prefix }, message);
  }
  if (decoded.bytes.length === 0) throw notAnAddress("addresses cannot be empty");
  if (decoded.bytes.length > MAX_ADDRESS_BYTES)
    throw notAnAddress(`address max length is ${MAX_ADDRESS_BYTES}, got ${decoded.bytes.length}`);
  return decoded.bytes;
}

/** Decodes bech32 (BIP-173). The checks, their order and the error messages match btcutil's `bech32.Decode`. */
function decodeBech32(text: string): { readonly prefix: string; readonly bytes: Uint8Array } {
  checkForm(text);
  const lower = text.toLowerCase();
  const separator = lower.lastIndexOf("1");
  if (separator < 1 || separator + 1 + CHECKSUM_LENGTH > lower.length)
    throw failure(`invalid separator index ${separator}`);
  const prefix = lower.slice(0, separator);
  const digits = Array.from(lower.slice(separator + 1), toDigit);
  const expected = checksum(prefix, digits.slice(0, -CHECKSUM_LENGTH));
  const got = lower.slice(-CHECKSUM_LENGTH);
  if (expected !== got) throw failure(`invalid checksum (expected ${expected} got ${got})`);
  return { prefix, bytes: regroup(digits.slice(0, -CHECKSUM_LENGTH)) };
}

function checkForm(text: string): void {
  const { length } = utf8(text);
  if (length < 8 || length > MAX_LENGTH) throw failure(`invalid bech32 string length ${length}`);
  for (const character of text) {
    if (character < "!" || character > "~") throw failure(`invalid character in string: '${character}'`);
  }
  if (text !== text.toLowerCase() && text !== text.toUpperCase())
    throw failure("string not all lowercase or all uppercase");
}

function failure(text: string): AddressError {
  return notAnAddress(`decoding bech32 failed: ${text}`);
}

function notAnAddress(text: string): AddressError {
  return new AddressError({ code: "not-an-address" }, text);
}

function toDigit(character: string): number {
  const digit = CHARSET.indexOf(character);
  if (digit < 0) throw failure(`invalid character not part of charset: ${character.charCodeAt(0)}`);
  return digit;
}

function checksum(prefix: string, digits: readonly number[]): string {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  const values = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...digits];
  const remainder = polymod([...values, 0, 0, 0, 0, 0, 0]) ^ 1;
  return [25, 20, 15, 10, 5, 0].map((shift) => CHARSET.charAt((remainder >>> shift) & 31)).join("");
}

function polymod(values: readonly number[]): number {
  return values.reduce((sum, value) => {
    const top = sum >>> 25;
    const shifted = ((sum & 0x1ffffff) << 5) ^ value;
    return GENERATORS.reduce(
      (mixed, generator, bit) => (((top >>> bit) & 1) === 1 ? mixed ^ generator : mixed),
      shifted,
    );
  }, 1);
}

/** Converts bech32's 5-bit groups to bytes. Up to 4 leftover bits are allowed if they are all zero. */
function regroup(digits: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const digit of digits) {
    buffer = ((buffer << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((buffer >>> bits) & 0xff);
  }
  if (bits > 4 || (buffer & ((1 << bits) - 1)) !== 0) throw failure("invalid incomplete group");
  return new Uint8Array(bytes);
}
