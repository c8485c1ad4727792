import { stringify } from "yaml";
import { isSecret, type KeySchema } from "./config-schema.ts";

/** Example file values that the schema does not have, by path: `notify.channels`. */
export type MoreExamples = Readonly<Record<string, unknown>>;

/**
 * Returns an example file with every key: its description as a comment, and its example, or else its default.
 * @throws when a key has neither.
 */
export function exampleFile(schema: KeySchema, head: readonly string[], more: MoreExamples = {}): string {
  const shown = new Set<string>();
  const sections = Object.entries(schema.properties ?? {}).map(([key, value]) =>
    keyLines({ key, schema: value, isRequired: isRequired(schema, key), path: key, more, shown }).join("\n"),
  );
  return `${head.map((line) => `# ${line}`.trimEnd()).join("\n")}\n\n${sections.join("\n\n")}\n`;
}

/** One key in the example file. */
interface ExampleKey {
  readonly key: string;
  readonly schema: KeySchema;
  readonly isRequired: boolean;
  readonly path: string;
  readonly more: MoreExamples;
  /** Comments already in the file: keys that several sections share are described once. */
  readonly shown: Set<string>;
}

function keyLines(one: ExampleKey): readonly string[] {
  const { schema, key } = one;
  const comment = commentOf(one);
  const known = `${key}: ${comment}`;
  const lines = [
    ...(comment === "" || one.shown.has(known) ? [] : wrapped(comment).map((line) => `# ${line}`)),
    ...valueLines(one),
  ];
  one.shown.add(known);
  if (schema.commentedOut !== true) return lines;
  return lines.map((line) => (line.startsWith("#") ? line : `# ${line}`));
}

function commentOf({ schema, isRequired: required, more, path }: ExampleKey): string {
  const { description, default: initial } = schema;
  if (description === undefined) return "";
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  if (required) return sentence;
  if (initial === undefined) return description.includes("default: ") ? sentence : `No default. ${sentence}`;
  const example = exampleOf(schema, more[path]);
  const isDefault = example === undefined || JSON.stringify(example) === JSON.stringify(initial);
  return isDefault ? sentence : `Default: ${inline(initial)}. ${sentence}`;
}

function valueLines({ key, schema, path, more, shown }: ExampleKey): readonly string[] {
  const example = exampleOf(schema, more[path]);
  const section = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  if (example === undefined && section?.properties !== undefined && !isSecret(section)) {
    const { properties } = section;
    return [
      `${key}:`,
      ...Object.entries(properties).flatMap(([inner, value]) =>
        indented(
          keyLines({
            key: inner,
            schema: value,
            isRequired: isRequired(section, inner),
            path: `${path}.${inner}`,
            more,
            shown,
          }),
        ),
      ),
    ];
  }
  const value = example ?? schema.default;
  if (value === undefined) throw new Error(`${path} has no example`);
  if (Array.isArray(value) && value.some((item) => typeof item === "object") && schema.items !== undefined) {
    const { items } = schema;
    return [
      `${key}:`,
      ...value.flatMap((item: unknown) => indented(itemLines(item, items, { path, more, shown }))),
    ];
  }
  return [`${key}: ${inline(value)}`];
}

/** An entry in a section list, with comments for its keys. */
function itemLines(
  item: unknown,
  items: KeySchema,
  { path, more, shown }: Pick<ExampleKey, "path" | "more" | "shown">,
): readonly string[] {
  const values = Object.entries(item ?? {});
  const schema = optionOf(items, Object.keys(item ?? {}));
  const lines = values.flatMap(([key, value]) => {
    const own = { ...schema.properties?.[key], examples: [value] };
    return keyLines({
      key,
      schema: own,
      isRequired: isRequired(schema, key),
      path: `${path}.${key}`,
      more,
      shown,
    });
  });
  const first = lines.findIndex((line) => !line.startsWith("#"));
  return [
    ...lines.slice(0, first),
    `- ${lines[first] ?? ""}`,
    ...lines.slice(first + 1).map((line) => `  ${line}`),
  ];
}

/** Among several section kinds, the one with all keys. */
function optionOf(items: KeySchema, keys: readonly string[]): KeySchema {
  const options = items.oneOf ?? items.anyOf ?? [items];
  return options.find(({ properties = {} }) => keys.every((key) => key in properties)) ?? items;
}

function exampleOf({ examples }: KeySchema, more: unknown): unknown {
  return more ?? examples?.[0];
}

function isRequired({ required = [] }: KeySchema, key: string): boolean {
  return required.includes(key);
}

function inline(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** Breaks a text into lines of at most 110 characters. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 110) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Returns a Markdown table with one row for each key whose path `has` accepts: key, type, default, description. */
export function keyTable(schema: KeySchema, has: (path: string) => boolean = () => true): string {
  const rows = tableRows(schema, "").filter(({ path }) => has(path));
  return [
    "| key | type | default | what it does |",
    "|---|---|---|---|",
    ...new Set(
      rows.map(({ path, type, initial, text }) => `| \`${path}\` | ${type} | ${initial} | ${text} |`),
    ),
    "",
  ].join("\n");
}

interface TableRow {
  readonly path: string;
  readonly type: string;
  readonly initial: string;
  readonly text: string;
}

function tableRows({ properties = {}, required = [] }: KeySchema, prefix: string): readonly TableRow[] {
  return Object.entries(properties).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    const inner = isSecret(value) ? [] : innerRows(value, path);
    if (inner.length > 0) return inner;
    const initial =
      value.default === undefined ? (required.includes(key) ? "required" : "") : code(value.default);
    return [{ path, type: typeOf(value), initial, text: (value.description ?? "").replaceAll("|", "\\|") }];
  });
}

function innerRows(schema: KeySchema, path: string): readonly TableRow[] {
  const { anyOf = [], items } = schema;
  if (schema.properties !== undefined) return tableRows(schema, `${path}.`);
  const section = anyOf.find((option) => option.properties !== undefined);
  if (section !== undefined) return tableRows(section, `${path}.`);
  return (items?.oneOf ?? items?.anyOf ?? (items === undefined ? [] : [items])).flatMap((option) =>
    tableRows(option, `${path}[].`),
  );
}

function typeOf(schema: KeySchema): string {
  if (isSecret(schema)) return "secret";
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => code(value)).join(", ");
  return typeof schema.type === "string" ? schema.type : (schema.type?.join(" or ") ?? "any");
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}
