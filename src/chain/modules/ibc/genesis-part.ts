import { fromBase64 } from "../../../base/bytes.ts";
import { errorText } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { messageFromJson } from "../../../proto/json.ts";

/** The part of a generated message type that reading needs. */
interface Codec<T> {
  decode(input: Uint8Array): T;
}

/** A JSON object of a genesis document that knows its path. Readers throw plain errors that begin with the path. */
export interface GenesisPart {
  readonly path: string;
  /** An object below; absent or null: an empty one. */
  readonly child: (name: string) => GenesisPart;
  /** The objects of a list; absent or null: none. */
  readonly list: (name: string) => readonly GenesisPart[];
  readonly text: (name: string) => string;
  /** A uint64 as text; absent: 0. */
  readonly uint64: (name: string) => bigint;
  readonly bytes: (name: string) => Uint8Array;
  /** A message in proto JSON; undefined when absent. */
  readonly message: <T>(name: string, typeName: string, codec: Codec<T>) => T | undefined;
  /** A list of messages in proto JSON; absent: none. */
  readonly messages: <T>(name: string, typeName: string, codec: Codec<T>) => readonly T[];
}

/** An absent part: everything in it is absent. */
export function noPart(path: string): GenesisPart {
  return genesisPart(path, {});
}

/** Wraps an object. Throws when the value is none. */
export function genesisPart(path: string, value: unknown): GenesisPart {
  if (!isRecord(value)) throw new Error(`${path}: an object was expected`);
  const at = (name: string): string => `${path}.${name}`;
  const list = (name: string): readonly unknown[] => {
    const items = value[name] ?? [];
    if (!Array.isArray(items)) throw new Error(`${at(name)}: a list was expected`);
    return items;
  };
  const text = (name: string): string => {
    const found = value[name];
    if (typeof found !== "string") throw new Error(`${at(name)}: a text was expected`);
    return found;
  };
  return {
    path,
    child: (name) => genesisPart(at(name), value[name] ?? {}),
    list: (name) => list(name).map((item, index) => genesisPart(`${at(name)}[${index}]`, item)),
    text,
    uint64: (name) => parseUint64(at(name), value[name] ?? "0"),
    bytes: (name) => within(at(name), () => fromBase64(text(name))),
    message: (name, typeName, codec) =>
      value[name] === undefined ? undefined : parseMessage(at(name), value[name], { typeName, codec }),
    messages: (name, typeName, codec) =>
      list(name).map((item, index) => parseMessage(`${at(name)}[${index}]`, item, { typeName, codec })),
  };
}

function parseUint64(path: string, value: unknown): bigint {
  const number = typeof value === "string" && /^\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  if (number === undefined || BigInt.asUintN(64, number) !== number) {
    throw new Error(`${path}: a uint64 as text was expected`);
  }
  return number;
}

function parseMessage<T>(
  path: string,
  json: unknown,
  type: { readonly typeName: string; readonly codec: Codec<T> },
): T {
  return within(path, () => type.codec.decode(messageFromJson(type.typeName, json)));
}

function within<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
}
