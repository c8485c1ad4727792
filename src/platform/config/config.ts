import { existsSync, statSync } from "node:fs";
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import type { z } from "zod";
import { getOrCreate } from "../base/caches.ts";
import { didYouMean } from "../base/did-you-mean.ts";
import { CodedError, errorText } from "../base/errors.ts";
import { isRecord, valueAt } from "../base/json.ts";
import { MAX_SETTINGS_BYTES, readTextFile } from "../base/read-text.ts";
import { counted } from "../base/text.ts";
import { issueText, receivedText } from "./config-fields.ts";

/** A configuration's YAML text, and its name in error messages. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
}

/** One error in a configuration file, with `line` and `column` counted from 1. */
export interface ConfigIssue {
  /** File name, or the name of an environment variable. */
  readonly file: string;
  /** Line number; 0 for an environment variable. */
  readonly line: number;
  readonly column: number;
  /** Keys from the root, joined by dots; empty if the error concerns the file itself. */
  readonly path: string;
  /** The problem, for example "is a number (expected text)", without the value, which may be a secret. */
  readonly text: string;
}

/** Thrown for an invalid configuration, with one line per problem in the error message. */
export class ConfigError extends CodedError<{
  readonly code: "bad-config";
  readonly errors: readonly ConfigIssue[];
}> {
  constructor(errors: readonly ConfigIssue[], options?: { readonly cause?: unknown }) {
    super({ code: "bad-config", errors }, errors.map(formatConfigIssue).join("\n"), options);
  }
}

/** Returns the errors in the configuration that `read` parses; the list is empty if the configuration is valid. */
export function issuesOf(read: () => unknown): readonly ConfigIssue[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.facts.errors;
    throw error;
  }
}

/** Creates an error that concerns a whole file or an environment variable, and therefore has no line number. */
export function issueWithoutLine(file: string, path: string, text: string): ConfigIssue {
  return { file, line: 0, column: 0, path, text };
}

/** Formats an error as `file:line:column: path: text`, or `VARIABLE: path: text`. */
export function formatConfigIssue(error: ConfigIssue): string {
  const place = error.line === 0 ? error.file : `${error.file}:${error.line}:${error.column}`;
  return error.path === "" ? `${place}: ${error.text}` : `${place}: ${error.path}: ${error.text}`;
}

/**
 * Checks YAML text against a schema and returns a deeply frozen object. Empty text is treated as an empty section.
 * @throws {ConfigError} with all errors, in file order.
 */
export function parseConfig<Schema extends z.ZodType>(source: ConfigText, schema: Schema): z.output<Schema> {
  return readConfig(source, schema).config;
}

/** A key's value from an environment variable, which takes precedence over the file. */
export interface ConfigVariable {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** A valid configuration and the origin of its values. */
export interface ParsedConfig<Config> {
  readonly config: Config;
  /** The values in the file and the variables, without defaults and with secrets as references. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Returns a key's origin, `file:line` or the variable's name, or undefined if the default applies. */
  readonly originOf: (path: readonly string[]) => string | undefined;
}

/** Like {@link parseConfig}, but values from the variables take precedence over values from the text. */
export function readConfig<Schema extends z.ZodType>(
  source: ConfigText,
  schema: Schema,
  variables: readonly ConfigVariable[] = [],
): ParsedConfig<z.output<Schema>> {
  const parsed = parseYaml(source);
  const plain = toPlain(parsed);
  const misplaced = variables.flatMap((variable) => misplacedIssues(plain, variable));
  if (misplaced.length > 0) throw new ConfigError(misplaced);
  const input = variables.reduce((values, { path, value }) => withValue(values, path, value), plain);
  const result = schema.safeParse(input, { error: describeIssue });
  if (!result.success) throw new ConfigError(schemaIssues(parsed, input, result.error.issues, variables));
  return {
    config: deepFreeze(result.data),
    input: isRecord(input) ? input : {},
    originOf: (path) => {
      const variable = variables.find((one) => isPrefix(one.path, path));
      if (variable !== undefined) return variable.name;
      if (!parsed.document.hasIn(path)) return undefined;
      return `${source.file}:${position(parsed, offsetOf(parsed.document, path, true)).line}`;
    },
  };
}

/** Reports variables that set a key inside a value that is not a section, such as the short form of `store`. */
function misplacedIssues(plain: unknown, { name, path }: ConfigVariable): readonly ConfigIssue[] {
  let value = plain;
  for (const [depth, key] of path.slice(0, -1).entries()) {
    if (!isRecord(value)) return [];
    value = value[key];
    if (value === undefined || value === null || isRecord(value)) continue;
    const section = path.slice(0, depth + 1).join(".");
    const text = issueText(
      `cannot be set, because ${section} ${receivedText(value)} in the file`,
      "a section there",
    );
    return [issueWithoutLine(name, path.join("."), text)];
  }
  return [];
}

/**
 * Returns a copy with a different value at the path. Sections are copied instead of modified, because YAML aliases can share
 * sections.
 */
export function withValue(plain: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const section: Readonly<Record<string, unknown>> = isRecord(plain) ? plain : {};
  return { ...section, [key]: withValue(section[key], rest, value) };
}

function isPrefix(prefix: readonly string[], path: readonly PropertyKey[]): boolean {
  return prefix.every((key, depth) => path[depth] === key);
}

function parseYaml(source: ConfigText): Source {
  const lines = new LineCounter();
  const document = parseDocument(source.text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Turn off the library's check, which compares each key with all earlier ones and takes minutes for 90,000 keys.
    uniqueKeys: false,
  });
  const parsed = { file: source.file, document, lines };
  const errors = [...syntaxIssues(parsed), ...keyIssues(parsed)];
  if (errors.length > 0) throw new ConfigError(errors);
  return parsed;
}

/** A parsed document, which is used to locate errors. */
interface Source {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/**
 * Reads a configuration file of at most 1 MiB. The file may be a pipe, whose size is unknown.
 * @throws {ConfigError} if it cannot be read.
 */
export function readConfigText(file: string): ConfigText {
  try {
    return { file, text: readTextFile(file, MAX_SETTINGS_BYTES) };
  } catch (cause) {
    const isMissing = isRecord(cause) && cause["code"] === "ENOENT";
    const text = isMissing
      ? "file not found"
      : `cannot be read: ${errorText(cause)} (expected a readable YAML file)`;
    throw new ConfigError([issueWithoutLine(file, "", text)], { cause });
  }
}

function toPlain(source: Source): unknown {
  try {
    // Nested aliases in a few lines can expand to gigabytes, so `toJS` throws above this limit, and for an unknown alias.
    return source.document.toJS({ maxAliasCount: 50 }) ?? {};
  } catch (cause) {
    const text = `cannot be converted: ${errorText(cause)} (expected plain values)`;
    throw new ConfigError([{ file: source.file, line: 1, column: 1, path: "", text }], { cause });
  }
}

function syntaxIssues(source: Source): readonly ConfigIssue[] {
  return source.document.errors.map((error) => ({
    ...position(source, error.pos[0]),
    path: "",
    text: `is not YAML: ${error.message} (expected YAML)`,
  }));
}

/**
 * Reports keys that the schema would never see: the second of two identical keys, and `__proto__`, which JavaScript treats
 * specially.
 */
function keyIssues(source: Source): readonly ConfigIssue[] {
  const errors: ConfigIssue[] = [];
  visit(source.document, {
    Map: (_key, map) => {
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const at = position(source, startOf(key) ?? 0);
        if (key.value === "__proto__") {
          const text = issueText("unknown key", "one of the documented keys");
          errors.push({ ...at, path: "__proto__", text });
        } else if (pairsOf(map).get(String(key.value))?.key !== key)
          errors.push({ ...at, path: "", text: "is not YAML: Map keys must be unique (expected YAML)" });
      }
    },
  });
  return errors;
}

const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** Returns the first pair for each key as a map, because searching `items` for each of many keys would take minutes. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  return getOrCreate(pairs, map, ({ items }) => {
    const byKey = new Map<string, Pair>();
    for (const pair of items.toReversed()) if (isScalar(pair.key)) byKey.set(String(pair.key.value), pair);
    return byKey;
  });
}

function schemaIssues(
  source: Source,
  input: unknown,
  issues: readonly z.core.$ZodIssue[],
  variables: readonly ConfigVariable[],
): readonly ConfigIssue[] {
  const placeOf = (
    path: readonly PropertyKey[],
    wantKey: boolean,
  ): Pick<ConfigIssue, "file" | "line" | "column"> => {
    const variable = variables.find((one) => isPrefix(one.path, path));
    if (variable !== undefined) return { file: variable.name, line: 0, column: 0 };
    return position(source, offsetOf(source.document, path, wantKey));
  };
  return issues
    .flatMap((issue) => {
      const keys =
        issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return keys.map((path) => ({
        ...placeOf(path, issue.code === "unrecognized_keys"),
        path: givenPath(input, path).map(String).join("."),
        text: issue.message,
      }));
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** Returns a value's path in the input. If a section is given in its short form, a string, the path is the section's own. */
function givenPath(input: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  const section = path.slice(0, -1);
  return typeof valueAt(input, section) === "string" ? section : path;
}

function position(source: Source, offset: number): Pick<ConfigIssue, "file" | "line" | "column"> {
  const { line, col } = source.lines.linePos(offset);
  return { file: source.file, line: Math.max(1, line), column: Math.max(1, col) };
}

/**
 * Returns the offset in the text of the value at `path`, or of the value's key if `wantKey` is set. For a missing value, returns
 * the offset of the closest existing section.
 */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], wantKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, segment] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isSeq(node)) {
      node = node.items[Number(segment)];
      offset = startOf(node) ?? offset;
      continue;
    }
    if (!isMap(node)) return offset;
    const pair: Pair | undefined = pairsOf(node).get(String(segment));
    if (pair === undefined) return offset;
    node = pair.value;
    const valueStart = isMap(node) || isEmptyScalar(node) ? undefined : startOf(node);
    offset = (isLast && wantKey ? undefined : valueStart) ?? startOf(pair.key) ?? offset;
  }
  return offset;
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

/** Describes a schema issue that has no message of its own, without printing the value, which may be a secret. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issueText(receivedText(issue.input), typeName(String(issue["expected"])));
    case "unrecognized_keys":
      return issueText(`unknown key${similarKey(issue)}`, "one of the documented keys");
    case "too_small":
      return issueText("is too small", `${limitText(issue, "minimum")} or more`);
    case "too_big":
      return issueText("is too large", `${limitText(issue, "maximum")} or less`);
    case "invalid_value":
      return issueText("is not an allowed value", listText(issue["values"]));
    case "invalid_format":
      return issueText("has the wrong format", `text that matches ${issue["pattern"] ?? issue["format"]}`);
    case "custom":
    case "invalid_element":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
    default:
      return issueText("is not valid", "a documented value");
  }
}

/** Suggests a similar key, but only if a single key is unknown, because all unknown keys of a section share one message. */
function similarKey({ inst, keys }: z.core.$ZodRawIssue): string {
  const shape = isRecord(inst) ? inst["shape"] : undefined;
  const [wrong, ...others]: readonly unknown[] = Array.isArray(keys) ? keys : [];
  return isRecord(shape) && others.length === 0 ? didYouMean(String(wrong), Object.keys(shape)) : "";
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section",
  record: "a section",
};

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected;
}

function limitText(issue: z.core.$ZodRawIssue, key: "minimum" | "maximum"): string {
  const limit = issue[key];
  return issue["origin"] === "string" ? counted(Number(limit), "character") : String(limit);
}

function listText(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(", ") : "another value";
}

/** Throws if a configuration file is a pipe or a device, which cannot be read again. Without a file (undefined), does nothing. */
export function requireFile(file: string | undefined): void {
  if (file === undefined || !existsSync(file) || statSync(file).isFile()) return;
  const text = issueText("is a pipe or device and was already read at startup", "a file");
  throw new ConfigError([issueWithoutLine(file, "", text)]);
}
