import { createHash } from "node:crypto";
import { Document, isCollection, isMap, isPair, isScalar } from "yaml";
import { isRecord, stringifyJson, valueAt } from "../base/json.ts";
import { issuesOf, parseConfig, type ParsedConfig } from "./config.ts";
import { processSecretSource, type SecretSource, withoutSecrets } from "./config-fields.ts";
import type { ConfigKind } from "./daemon-config.ts";
import {
  isSecret,
  type KeyLeaf,
  keyLeaves,
  keySchema,
  type KeySchema,
  optionOf,
  sectionOf,
} from "./key-schema.ts";

interface EffectiveKey {
  readonly leaf: KeyLeaf;
  /** The value as written in a file, for example "30s" for a duration or the reference for a secret. */
  readonly value: unknown;
  /** The value's origin, which is `file:line`, the environment variable's name, or "default". */
  readonly origin: string;
}

export interface EffectiveConfig {
  readonly keys: readonly EffectiveKey[];
  /** The keys that have neither a value nor a default. */
  readonly unset: readonly KeyLeaf[];
}

/** Returns the values of all keys, with defaults for keys that are not given. */
export function effectiveConfig<Config>(
  kind: ConfigKind<Config>,
  parsed: ParsedConfig<Config>,
): EffectiveConfig {
  const keys: EffectiveKey[] = [];
  const unset: KeyLeaf[] = [];
  const schema = keySchema(kind.schema);
  const filled = filledValue(schema, parsed.input);
  for (const leaf of keyLeaves(schema, parsed.input)) {
    const value = valueAt(filled, leaf.path);
    if (value === undefined) unset.push(leaf);
    else keys.push({ leaf, value, origin: parsed.originOf(leaf.path) ?? "default" });
  }
  const unused = unusedDefaults(kind, keys);
  return {
    keys: keys.filter((key) => !unused.has(key)),
    unset: [...unset, ...[...unused].map(({ leaf }) => leaf)],
  };
}

/**
 * Returns the keys whose defaults do not apply because of other values that are set. For example, a single node's URLs have no
 * default if `validators` is set.
 */
function unusedDefaults(kind: ConfigKind<unknown>, keys: readonly EffectiveKey[]): ReadonlySet<EffectiveKey> {
  const given = { file: "", text: stringifyJson(nested(keys)) };
  const issues = issuesOf(() => withoutSecrets(() => parseConfig(given, kind.schema)));
  const refused = new Set(issues.map(({ path }) => path));
  return new Set(keys.filter(({ leaf, origin }) => origin === "default" && refused.has(leaf.path.join("."))));
}

function filledValue(schema: KeySchema, given: unknown): unknown {
  const value = given ?? (given === null && isNullable(schema) ? null : schema.default);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? value
      : value.map((item: unknown) => filledValue(optionOf(items, item), item));
  }
  const properties = isSecret(schema) ? undefined : sectionOf(schema)?.properties;
  if (!isRecord(value) || properties === undefined) return value;
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, inner]) => {
      const filled = filledValue(inner, value[key]);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );
}

function isNullable({ type, anyOf = [] }: KeySchema): boolean {
  return type === "null" || (Array.isArray(type) && type.includes("null")) || anyOf.some(isNullable);
}

function nested(keys: readonly EffectiveKey[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { leaf, value } of keys) {
    let section = root;
    for (const key of leaf.path.slice(0, -1)) {
      const inner = section[key];
      const next = isRecord(inner) ? inner : {};
      section[key] = next;
      section = next;
    }
    section[leaf.path.at(-1) ?? ""] = value;
  }
  return root;
}

export interface ShowOptions {
  readonly withOrigin: boolean;
  /** If true, prints "[redacted]" instead of a reference to a secret. The secret itself is never printed, in either case. */
  readonly isRedacted: boolean;
}

/** Returns all keys as YAML, with each value's origin in a comment. Comments at the end list the keys without a value. */
export function effectiveYaml({ keys, unset }: EffectiveConfig, options: ShowOptions): string {
  const shown = redacted(keys, options.isRedacted);
  const document = new Document(nested(shown));
  if (options.withOrigin) for (const key of shown) comment(document, key);
  const text = document.toString({ lineWidth: 0 });
  const missing = unset.map(({ path }) => `#   ${path.join(".")}\n`).join("");
  return missing === "" ? text : `${text}\n# Keys without a value:\n${missing}`;
}

function comment(document: Document, { leaf, origin }: EffectiveKey): void {
  const section = document.getIn(leaf.path.slice(0, -1), true);
  const map = leaf.path.length === 1 ? document.contents : section;
  if (!isMap(map)) return;
  const pair = map.items.find(
    (one) => isPair(one) && isScalar(one.key) && one.key.value === leaf.path.at(-1),
  );
  const value = pair?.value;
  // The comment precedes the key, because a comment after a list would be on its own line.
  if (isCollection(value) && isScalar(pair?.key)) pair.key.commentBefore = ` ${origin}`;
  else if (isScalar(value)) value.comment = ` ${origin}`;
}

/** Returns all keys as JSON: an object of values, or `{values, origins}` if the options request the origins. */
export function effectiveJson({ keys }: EffectiveConfig, options: ShowOptions): string {
  const shown = redacted(keys, options.isRedacted);
  const values = nested(shown);
  if (!options.withOrigin) return stringifyJson(values, 2);
  const origins = Object.fromEntries(shown.map(({ leaf, origin }) => [leaf.path.join("."), origin]));
  return stringifyJson({ values, origins }, 2);
}

function redacted(keys: readonly EffectiveKey[], isRedacted: boolean): readonly EffectiveKey[] {
  if (!isRedacted) return keys;
  return keys.map((key) => ({
    ...key,
    value: withSecrets(key.leaf.schema, key.value, () => "[redacted]", cutUrl),
  }));
}

/** Replaces the parts of a URL that may contain an API key: its query and, if `hasKey` is true, its path. */
function cutUrl(url: string, hasKey: boolean): string {
  if (!URL.canParse(url)) return "[redacted]";
  const { origin, pathname, search } = new URL(url);
  if (hasKey && pathname !== "/") return `${origin}/[redacted]`;
  return search === "" ? url : `${origin}${pathname}?[redacted]`;
}

/** Redacts secret references in a value, and URLs that may contain an API key. */
function withSecrets(
  schema: KeySchema,
  value: unknown,
  replace: (reference: unknown) => unknown,
  cut = (url: string, _hasKey: boolean): string => url,
): unknown {
  if (isSecret(schema)) return replace(value);
  const { items, additionalProperties } = schema;
  const withIn = (own: KeySchema, inner: unknown): unknown => withSecrets(own, inner, replace, cut);
  if (Array.isArray(value) && items !== undefined)
    return value.map((item: unknown) => withIn(optionOf(items, item), item));
  const properties = sectionOf(schema)?.properties ?? {};
  // A string is the short form of a section with a URL.
  if (typeof value === "string") {
    const hasKey = schema.hasKey ?? properties["url"]?.hasKey;
    return hasKey === undefined ? value : cut(value, hasKey);
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const own = properties[key] ?? additionalProperties;
      return [key, typeof own === "object" ? withIn(own, inner) : inner];
    }),
  );
}

/**
 * Returns a fingerprint for each key, which changes whenever the key's value changes. The fingerprint contains a secret's hash, so
 * a secret file with new content also changes the fingerprint.
 */
export function keyFingerprints<Config>(
  kind: ConfigKind<Config>,
  parsed: ParsedConfig<Config>,
  secrets: SecretSource = kind.secrets ?? processSecretSource,
): ReadonlyMap<string, string> {
  const { keys } = effectiveConfig(kind, parsed);
  return new Map(
    keys.map(({ leaf, value }) => [
      leaf.path.join("."),
      stringifyJson(withSecrets(leaf.schema, value, (reference) => secretHash(reference, secrets))),
    ]),
  );
}

function secretHash(reference: unknown, secrets: SecretSource): unknown {
  if (!isRecord(reference)) return reference;
  const { file, env } = reference;
  try {
    const text = typeof file === "string" ? secrets.file(file) : secrets.environment(String(env));
    return {
      ...reference,
      hash: createHash("sha256")
        .update(text?.trim() ?? "")
        .digest("hex"),
    };
  } catch {
    return reference;
  }
}
