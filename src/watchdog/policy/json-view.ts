import { z } from "zod";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { time } from "../../platform/http/route-about.ts";

/** One member of a JSON object: the schema of its value, and how the value is read. A value that is undefined is left out. */
interface Member<T> {
  readonly schema: z.ZodType;
  readonly read: (from: T) => JsonValue | undefined;
}

type Members<T> = Readonly<Record<string, Member<T>>>;

/** How a `T` is shown as JSON, and the schema of that JSON. */
interface Shown<T> {
  readonly schema: z.ZodType;
  readonly json: (from: T) => JsonObject;
}

/** A `T` shown as an object with some members. */
export interface JsonView<T> extends Shown<T> {
  readonly schema: z.ZodObject;
  /** Returns the same members for an object that contains a `T`. */
  readonly within: <Whole>(part: (whole: Whole) => T) => Members<Whole>;
}

/** Creates the members of a view on a `T`. */
interface MemberKinds<T> {
  readonly value: <V extends JsonValue | undefined>(
    schema: z.ZodType<V>,
    read: (from: T) => NoInfer<V>,
  ) => Member<T>;
  /** Shows undefined as null. */
  readonly orNull: <V extends JsonValue>(
    schema: z.ZodType<V>,
    read: (from: T) => NoInfer<V> | undefined,
  ) => Member<T>;
  readonly part: <P>(view: Shown<P>, read: (from: T) => P) => Member<T>;
  /** Shows undefined as null. */
  readonly partOrNull: <P>(view: Shown<P>, read: (from: T) => P | undefined) => Member<T>;
  readonly list: <P>(view: Shown<P>, read: (from: T) => readonly P[]) => Member<T>;
  readonly values: <V extends JsonValue>(
    schema: z.ZodType<V>,
    read: (from: T) => readonly NoInfer<V>[],
  ) => Member<T>;
}

/** Creates a view. The members have the order of the JSON. */
export function jsonView<T>(define: (kinds: MemberKinds<T>) => Members<T>): JsonView<T> {
  const all = Object.entries(
    define({
      value: (schema, read) => ({ schema, read }),
      orNull: (schema, read) => ({ schema: schema.nullable(), read: (from) => read(from) ?? null }),
      part: (view, read) => ({ schema: view.schema, read: (from) => view.json(read(from)) }),
      partOrNull: (view, read) => ({
        schema: view.schema.nullable(),
        read: (from) => {
          const part = read(from);
          return part === undefined ? null : view.json(part);
        },
      }),
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
    within: (part) =>
      Object.fromEntries(
        all.map(([name, { schema, read }]) => [name, { schema, read: (whole) => read(part(whole)) }]),
      ),
  };
}

export const words = z.string();
/** ISO 8601, UTC. */
export const timeOrNull = time.nullable();
export const monthName = z.string().regex(/^\d{4}-\d\d$/);
/** 98.0582 */
export const percent = z.string().regex(/^\d+\.\d+$/);
