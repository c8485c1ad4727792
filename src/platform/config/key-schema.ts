import { z } from "zod";
import { isRecord } from "../base/json.ts";

/**
 * A configuration key in JSON Schema (draft 2020-12). It is derived from the zod schema that parses the key, so the parser,
 * `config/schema`, the examples and the tables in `docs` agree.
 */
export interface KeySchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  /** Example values; the first one appears in the example file. */
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly required?: readonly string[];
  readonly items?: KeySchema;
  /** Schema for a section's values whose keys the user chooses, such as header names. */
  readonly additionalProperties?: KeySchema | boolean;
  /** True if an endpoint URL's path, not only its query, may contain an API key; unset for other keys. */
  readonly hasKey?: boolean;
  readonly anyOf?: readonly KeySchema[];
  readonly oneOf?: readonly KeySchema[];
  /** True if the example file comments out the key, because it excludes another key or changes the relayer's behaviour. */
  readonly commentedOut?: boolean;
  /** How a reload applies a change to the key. A section's setting also applies to keys in the section without their own. */
  readonly reload?: KeyReload;
}

/**
 * How a reload applies a changed key. A `live` key changes while the services run, and a `process` key only after the process
 * restarts. For all other keys, the services restart in the same process.
 */
type KeyReload = "live" | "process";

export function keySchema(schema: z.ZodType): KeySchema {
  const json: unknown = JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        io: "input",
        unrepresentable: "any",
        override: ({ zodSchema, jsonSchema }) => {
          // A section with `z.preprocess` also accepts its short form, which is a string.
          const def: unknown = Reflect.get(zodSchema, "def");
          if (isRecord(def) && def["type"] === "pipe" && def["in"] instanceof z.ZodTransform)
            orText(jsonSchema);
          // Remove zod keywords that JSON Schema lacks or defines differently.
          if (jsonSchema.format === "starts_with") delete jsonSchema.format;
          delete jsonSchema.readOnly;
          // zod drops standard keywords if a key's value is converted, so the fields define `example` and `initial` instead.
          const { example, initial } = jsonSchema;
          if (example !== undefined) jsonSchema.examples = [example];
          if (initial !== undefined) jsonSchema.default = initial;
          if (zodSchema instanceof z.ZodDefault && isEmptyList(zodSchema.def.defaultValue))
            jsonSchema.default = [];
          delete jsonSchema["example"];
          delete jsonSchema["initial"];
          if (isSecret(jsonSchema)) Object.assign(jsonSchema, SECRET_KEYS);
        },
      }),
    ),
  );
  if (!isKeySchema(json)) throw new Error("the root of a configuration schema must be an object schema");
  return json;
}

/** Returns true for a key that references a secret in a file or an environment variable. */
export function isSecret({ properties }: Readonly<Record<string, unknown>> | KeySchema): boolean {
  return isRecord(properties) && Object.keys(properties).toSorted().join() === "env,file";
}

/** Returns true for an endpoint: a server's URL, or a section that contains the URL. */
export function isEndpoint(schema: KeySchema): boolean {
  return sectionOf(schema)?.properties?.["url"]?.hasKey !== undefined;
}

/** A key with a value of its own: neither a section nor a key inside a list. */
export interface KeyLeaf {
  readonly path: readonly string[];
  readonly schema: KeySchema;
  readonly reload: KeyReload | "services";
}

/** Returns a schema's keys in schema order. A list, a secret, an endpoint, or a section in short form in `given` is a single key. */
export function keyLeaves(schema: KeySchema, given: unknown = {}): readonly KeyLeaf[] {
  return leavesOf({ path: [], schema, reload: "services" }, given);
}

function leavesOf({ path, schema, reload }: KeyLeaf, given: unknown): readonly KeyLeaf[] {
  const own = schema.reload ?? reload;
  const properties = isSecret(schema) ? undefined : sectionOf(schema)?.properties;
  if (properties === undefined || typeof given === "string" || isEndpoint(schema))
    return [{ path, schema, reload: own }];
  const values: Readonly<Record<string, unknown>> = isRecord(given) ? given : {};
  return Object.entries(properties).flatMap(([key, inner]) =>
    leavesOf({ path: [...path, key], schema: inner, reload: own }, values[key]),
  );
}

/** Returns a key's section schema, even if the key also accepts a short form. */
export function sectionOf(schema: KeySchema): KeySchema | undefined {
  return [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined);
}

/** Selects from alternative section schemas the schema that has all of the value's keys and the same constants. */
export function optionOf(items: KeySchema, value: unknown): KeySchema {
  const options = items.oneOf ?? items.anyOf ?? [items];
  const entries = Object.entries(isRecord(value) ? value : {});
  const fits = ({ properties = {} }: KeySchema): boolean =>
    entries.every(([key, inner]) => {
      const own = properties[key];
      return own !== undefined && (own.const === undefined || own.const === inner);
    });
  return options.find(fits) ?? items;
}

const SECRET_KEYS = {
  properties: {
    file: { type: "string", minLength: 1, description: "the file that contains the secret" },
    env: { type: "string", minLength: 1, description: "the environment variable that contains the secret" },
  },
  minProperties: 1,
  maxProperties: 1,
};

/** Keywords that describe the key itself rather than one of its alternative formats. */
const ABOUT_KEY = new Set(["description", "example", "initial", "commentedOut", "reload"]);

/** Changes a schema in place so that it accepts a string in addition to its current format or formats. */
function orText(jsonSchema: Record<string, unknown>): void {
  const form = Object.fromEntries(Object.entries(jsonSchema).filter(([key]) => !ABOUT_KEY.has(key)));
  const options: unknown = form["anyOf"];
  for (const key of Object.keys(form)) delete jsonSchema[key];
  jsonSchema["anyOf"] = [...(Array.isArray(options) ? options : [form]), { type: "string" }];
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isKeySchema(value: unknown): value is KeySchema {
  return isRecord(value);
}
