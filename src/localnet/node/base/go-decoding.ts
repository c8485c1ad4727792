import { fromBase64, fromHex, utf8 } from "../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../platform/base/go-json-syntax.ts";

/** Decodes hex digits of either case. Throws an `Error` with the message from Go's `encoding/hex`. */
export function goHexDecode(text: string): Uint8Array {
  for (const rune of text) {
    if (!/[0-9a-fA-F]/.test(rune)) throw new Error(`encoding/hex: invalid byte: ${printRune(rune)}`);
  }
  if (text.length % 2 !== 0) throw new Error("encoding/hex: odd length hex string");
  return fromHex(text);
}

/** Formats a character's first byte like Go's `%#U`, because Go's errors name the first invalid byte. */
function printRune(rune: string): string {
  const byte = utf8(rune)[0] ?? 0;
  return `U+${byte.toString(16).toUpperCase().padStart(4, "0")} '${String.fromCodePoint(byte)}'`;
}

/** Decodes standard base64, ignoring line breaks. Throws an `Error` with the message from Go's `encoding/base64`. */
export function goBase64Decode(text: string): Uint8Array {
  const compact = text.replaceAll(/[\r\n]/g, "");
  const bad = /[^A-Za-z0-9+/]/.exec(compact);
  const end = bad?.index ?? compact.length;
  if (bad !== null && (bad[0] !== "=" || !isPadding(compact, end))) throw corrupt(end);
  if (bad === null && compact.length % 4 !== 0) throw corrupt(compact.length - (compact.length % 4));
  return fromBase64(compact);
}

/** Returns true if the text that starts at index `at` is exactly the base64 padding required at this index. */
function isPadding(text: string, at: number): boolean {
  const padding = text.slice(at);
  return (at % 4 === 2 && padding === "==") || (at % 4 === 3 && padding === "=");
}

function corrupt(at: number): Error {
  return new Error(`illegal base64 data at input byte ${at}`);
}

/** Parses JSON text. Throws an `Error` with the message from Go's `encoding/json`. */
export function goJsonParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // If parsing fails, run a slower pass that produces Go's error message.
    throw new Error(goJsonSyntaxError(utf8(text)) ?? "invalid JSON");
  }
}

/** Returns a JSON value's type name as it appears in errors from Go's `encoding/json`. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "object" ? "object" : typeof value;
}
