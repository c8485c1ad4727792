import { fromUtf8, utf8 } from "../bytes.ts";
import { goJsonSyntaxError } from "./syntax.ts";

/** A JSON value as written. Numbers keep their text; objects keep the order and repetition of their names. */
export type GoJson =
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly GoJson[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: GoJson])[] };

/** Thrown for a text that Go's `encoding/json` rejects, with Go's message. */
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

/** Parses one JSON value. Throws {@link GoJsonError}. Linear and not recursive. */
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

/** Returns the value that a token completes, if any. Brackets open and close arrays and objects. */
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

/** A string is the name of a member when the innermost object has no pending name. */
function takeString(value: string, parent: OpenArray | OpenObject | undefined): GoJson | undefined {
  if (parent?.kind !== "object" || parent.name !== undefined) return { kind: "string", value };
  parent.name = value;
  return undefined;
}

/** Adds a complete value to its parent. Without a parent, returns it as the result. */
function attach(value: GoJson, parent: OpenArray | OpenObject | undefined): GoJson | undefined {
  if (parent === undefined) return value;
  if (parent.kind === "array") parent.items.push(value);
  else {
    parent.members.push([parent.name ?? "", value]);
    parent.name = undefined;
  }
  return undefined;
}

/** Decodes a string token. Unpaired surrogates become U+FFFD, as in Go. */
function unquote(token: string): string {
  const value: unknown = JSON.parse(token);
  return fromUtf8(utf8(typeof value === "string" ? value : ""));
}
