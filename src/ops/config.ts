import { readFileSync, statSync } from "node:fs";
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { errorText } from "../base/errors.ts";
import { ConfigError, type ConfigIssue } from "./config-error.ts";
import { issueText, wordIssue } from "./config-issue.ts";
import { deepFreeze } from "./deep-freeze.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** A YAML text and the name that its errors carry. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads and checks a configuration file of at most 1 MiB.
 * @throws {ConfigError} with every error of the file, also when it cannot be read.
 */
export function loadConfig<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return parseConfig({ file, text: readConfigFile(file) }, schema);
}

/**
 * Checks a YAML text against a schema; the result is frozen through and through. An empty text is an empty section.
 * @throws {ConfigError} with every error, in the order of the file.
 */
export function parseConfig<Schema extends z.ZodType>(source: ConfigText, schema: Schema): z.output<Schema> {
  const lines = new LineCounter();
  const document = parseDocument(source.text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const place = { file: source.file, document, lines };
  const errors = [...syntaxIssues(place), ...reservedKeyIssues(place)];
  if (errors.length > 0) throw new ConfigError(errors);
  const result = schema.safeParse(toPlain(place), { error: wordIssue });
  if (!result.success) throw new ConfigError(schemaIssues(place, result.error.issues));
  return deepFreeze(result.data);
}

interface Place {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

function readConfigFile(file: string): string {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } catch (cause) {
    const text = `cannot be read: ${errorText(cause)} (expected a readable YAML file)`;
    throw new ConfigError([{ file, line: 1, column: 1, path: "", text }], { cause });
  }
}

/** `toJS` throws on an alias bomb or an unresolved alias. */
function toPlain(place: Place): unknown {
  try {
    return place.document.toJS({ maxAliasCount: 50 }) ?? {};
  } catch (cause) {
    const text = `is not usable YAML: ${errorText(cause)} (expected plain values)`;
    throw new ConfigError([{ file: place.file, line: 1, column: 1, path: "", text }], { cause });
  }
}

function syntaxIssues(place: Place): readonly ConfigIssue[] {
  return place.document.errors.map((error) => ({
    ...position(place, error.pos[0]),
    path: "",
    text: `is not YAML: ${error.message} (expected YAML)`,
  }));
}

/** The schema never sees this key: objects treat it in their own way. */
function reservedKeyIssues(place: Place): readonly ConfigIssue[] {
  const errors: ConfigIssue[] = [];
  visit(place.document, {
    Pair: (_key, { key }) => {
      if (!isScalar(key) || key.value !== "__proto__") return;
      const text = issueText("unknown key", "one of the documented keys");
      errors.push({ ...position(place, startOf(key) ?? 0), path: "__proto__", text });
    },
  });
  return errors;
}

function schemaIssues(place: Place, issues: readonly z.core.$ZodIssue[]): readonly ConfigIssue[] {
  return issues
    .flatMap((issue) => {
      const keys =
        issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return keys.map((path) => ({
        ...position(place, offsetOf(place.document, path, issue.code === "unrecognized_keys")),
        path: path.map(String).join("."),
        text: issue.message,
      }));
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function position(place: Place, offset: number): Pick<ConfigIssue, "file" | "line" | "column"> {
  const { line, col } = place.lines.linePos(offset);
  return { file: place.file, line: Math.max(1, line), column: Math.max(1, col) };
}

/** Where the value (or the key) at `path` begins; for what is not there, the key of the closest section around it. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], wantKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, segment] of path.entries()) {
    const last = depth === path.length - 1;
    if (isSeq(node)) {
      node = node.items[Number(segment)];
      offset = startOf(node) ?? offset;
      continue;
    }
    if (!isMap(node)) return offset;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
    if (pair === undefined) return offset;
    node = pair.value;
    const valueStart = isMap(node) || isEmptyScalar(node) ? undefined : startOf(node);
    offset = (last && wantKey ? undefined : valueStart) ?? startOf(pair.key) ?? offset;
  }
  return offset;
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
