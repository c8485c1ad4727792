import { z } from "zod";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { digits, time } from "./route-about.ts";

/** One member of a JSON object, defined by its value's schema and a function that reads the value, or returns undefined to omit it. */
interface Member<T> {
  readonly schema: z.ZodType;
  readonly read: (from: T) => JsonValue | undefined;
}

type Members<T> = Readonly<Record<string, Member<T>>>;

/** An encoder from `T` to JSON, and the schema of the JSON. */
interface Shown<T> {
  readonly schema: z.ZodType;
  readonly json: (from: T) => JsonValue;
}

/** A view that encodes a `T` as a JSON object. */
export interface JsonView<T> extends Shown<T> {
  readonly schema: z.ZodObject;
  readonly json: (from: T) => JsonObject;
  /** Returns members for a larger object, which are read from the `T` that it contains. */
  readonly within: <Whole>(readPart: (whole: Whole) => T) => Members<Whole>;
}

/** Functions that define the members of a `T`'s JSON. Functions with the suffix `OrNull` encode undefined as null. */
interface MemberKinds<T> {
  readonly value: <V extends JsonValue | undefined>(
    schema: z.ZodType<V>,
    read: (from: T) => NoInfer<V>,
  ) => Member<T>;
  readonly orNull: <V extends JsonValue>(
    schema: z.ZodType<V>,
    read: (from: T) => NoInfer<V> | undefined,
  ) => Member<T>;
  /** A member for an integer, encoded as {@link digits}. */
  readonly integer: (read: (from: T) => bigint) => Member<T>;
  readonly integerOrNull: (read: (from: T) => bigint | undefined) => Member<T>;
  /** A member for a time in ms since the Unix epoch, encoded in ISO 8601. */
  readonly time: (read: (from: T) => number) => Member<T>;
  readonly timeOrNull: (read: (from: T) => number | undefined) => Member<T>;
  readonly part: <P>(view: Shown<P>, read: (from: T) => P) => Member<T>;
  readonly partOrNull: <P>(view: Shown<P>, read: (from: T) => P | undefined) => Member<T>;
  readonly list: <P>(view: Shown<P>, read: (from: T) => readonly P[]) => Member<T>;
  readonly values: <V extends JsonValue>(
    schema: z.ZodType<V>,
    read: (from: T) => readonly NoInfer<V>[],
  ) => Member<T>;
}

const INTEGER: Shown<bigint> = { schema: digits, json: String };
const TIME: Shown<number> = { schema: time, json: isoTime };

function part<T, P>({ schema, json }: Shown<P>, read: (from: T) => P): Member<T> {
  return { schema, read: (from) => json(read(from)) };
}

function partOrNull<T, P>({ schema, json }: Shown<P>, read: (from: T) => P | undefined): Member<T> {
  return {
    schema: schema.nullable(),
    read: (from) => {
      const found = read(from);
      return found === undefined ? null : json(found);
    },
  };
}

/** Creates a view whose JSON objects list the members in the order of their definition. */
export function jsonView<T>(define: (kinds: MemberKinds<T>) => Members<T>): JsonView<T> {
  const all = Object.entries(
    define({
      value: (schema, read) => ({ schema, read }),
      orNull: (schema, read) => ({ schema: schema.nullable(), read: (from) => read(from) ?? null }),
      integer: (read) => part(INTEGER, read),
      integerOrNull: (read) => partOrNull(INTEGER, read),
      time: (read) => part(TIME, read),
      timeOrNull: (read) => partOrNull(TIME, read),
      part,
      partOrNull,
      list: (view, read) => ({ schema: z.array(view.schema), read: (from) => read(from).map(view.json) }),
      values: (schema, read) => ({ schema: z.array(schema), read }),
    }),
  );
  return {
    schema: z.strictObject(Object.fromEntries(all.map(([name, { schema }]) => [name, schema]))),
    json: (from) => {
      const json: Record<string, JsonValue> = {};
      for (const [name, { read }] of all) {
        const value = read(from);
        if (value !== undefined) json[name] = value;
      }
      return json;
    },
    within: (readPart) =>
      Object.fromEntries(
        all.map(([name, { schema, read }]) => [name, { schema, read: (whole) => read(readPart(whole)) }]),
      ),
  };
}

export const words = z.string();
