import { fromUtf8, utf8 } from "./bytes.ts";
import { goJsonSyntaxError } from "./go-json-syntax.ts";
import type { JsonValue } from "./json.ts";

/** A JSON value as written: numbers are stored as text, and objects preserve the order and the repetition of names. */
export type GoJson =
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly GoJson[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: GoJson])[] };

/** Thrown for text that Go's `encoding/json` rejects, with Go's message. */
export class GoJsonError extends Error {}

interface OpenArray {
  readonly kind: "array";
  readonly items: GoJson[];
}

interface OpenObject {
  readonly kind: "object";
  readonly members: (readonly [string, GoJson])[];
  name: string | undefined;
}

const TOKEN = /[ \t\n\r,:]*(?:("[^"\\]*(?:\\.[^"\\]*)*")|(-?\d[\d.eE+-]*)|(true|false|null)|([[{\]}]))/sy;

/** Parses one JSON value in linear time, without recursion. Throws {@link GoJsonError} for invalid JSON. */
export function parseGoJson(text: string): GoJson {
  const error = goJsonSyntaxError(utf8(text));
  if (error !== undefined) throw new GoJsonError(error);
  const open: (OpenArray | OpenObject)[] = [];
  let done: GoJson | undefined;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null && done === undefined; match = TOKEN.exec(text)) {
    const value = takeToken(match, open);
    if (value !== undefined) done = attach(value, open.at(-1));
    if (done !== undefined) break;
  }
  if (done === undefined) throw new GoJsonError("unexpected end of JSON input");
  return done;
}

/**
 * Returns the value that a token completes, if any. An opening bracket adds a value to `open`, and a closing bracket completes the
 * last value in `open`.
 */
function takeToken(match: RegExpExecArray, open: (OpenArray | OpenObject)[]): GoJson | undefined {
  const [, string, number, word, bracket] = match;
  if (string !== undefined) return takeString(unquote(string), open.at(-1));
  if (number !== undefined) return { kind: "number", text: number };
  if (word !== undefined)
    return word === "null" ? { kind: "null" } : { kind: "bool", value: word === "true" };
  if (bracket === "[") open.push({ kind: "array", items: [] });
  else if (bracket === "{") open.push({ kind: "object", members: [], name: undefined });
  else return open.pop();
  return undefined;
}

/** Handles a string token, which is a member name if the innermost open value is an object without a pending name. */
function takeString(value: string, parent: OpenArray | OpenObject | undefined): GoJson | undefined {
  if (parent?.kind !== "object" || parent.name !== undefined) return { kind: "string", value };
  parent.name = value;
  return undefined;
}

/** Adds a complete value to its parent. A value without a parent is the parser's result, and is returned. */
function attach(value: GoJson, parent: OpenArray | OpenObject | undefined): GoJson | undefined {
  if (parent === undefined) return value;
  if (parent.kind === "array") parent.items.push(value);
  else {
    parent.members.push([parent.name ?? "", value]);
    parent.name = undefined;
  }
  return undefined;
}

/** Decodes a string token and, like Go, replaces unpaired surrogates with U+FFFD. */
function unquote(token: string): string {
  const value: unknown = JSON.parse(token);
  return fromUtf8(utf8(typeof value === "string" ? value : ""));
}

/**
 * Formats a decoded JSON value as Go's `%v` formats an `any`, with `<nil>`, `true`, `1.5e+06`, strings without quotes, `[1 b]`, and
 * `map[k:1]` with sorted names. Works without recursion and, for a repeated name, prints the last value.
 */
export function printGoValue(value: GoJson): string {
  const work: (GoJson | string)[] = [value];
  let text = "";
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (typeof next === "string") text += next;
    else if (next.kind === "array") work.push(...arrayParts(next.items).toReversed());
    else if (next.kind === "object") work.push(...objectParts(next.members).toReversed());
    else text += printScalar(next);
  }
  return text;
}

function printScalar(value: Exclude<GoJson, { kind: "array" | "object" }>): string {
  if (value.kind === "null") return "<nil>";
  if (value.kind === "number") return formatGoFloat(Number(value.text));
  return String(value.value);
}

function arrayParts(items: readonly GoJson[]): (GoJson | string)[] {
  return ["[", ...items.flatMap((item, index) => (index === 0 ? [item] : [" ", item])), "]"];
}

function objectParts(members: readonly (readonly [string, GoJson])[]): (GoJson | string)[] {
  const sorted = [...new Map(members)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    "map[",
    ...sorted.flatMap(([name, value], index) => [`${index === 0 ? "" : " "}${name}:`, value]),
    "]",
  ];
}

/** Formats a float64 like Go's `%v`: shortest digits, with an exponent of at least two digits below 1e-4 and from 1e+06. */
export function formatGoFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const digits = String(Math.abs(power)).padStart(2, "0");
  return `${mantissa}e${power < 0 ? "-" : "+"}${digits}`;
}

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Prints a string as JSON like Go's `encoding/json`. Escapes `<`, `>`, `&` and the two Unicode line separators. */
export function printGoString(text: string): string {
  return printGoJson(text);
}

/** Prints a JSON value without spaces, with the escapes of {@link printGoString}. */
export function printGoJson(value: JsonValue): string {
  return JSON.stringify(value).replace(ESCAPED, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Prints a JSON object without spaces, from members whose values are JSON texts, so that 64-bit numbers keep all digits. */
export function printGoObject(members: readonly (readonly [name: string, json: string])[]): string {
  return `{${members.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}
