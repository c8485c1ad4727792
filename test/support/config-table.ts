import { z } from "zod";
import { isRecord } from "../../src/platform/base/json.ts";

/** Returns the JSON Schema of a configuration file, from the zod schema that parses it. */
export function configJsonSchema(schema: z.ZodType, title: string): Readonly<Record<string, unknown>> {
  const json: unknown = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "throw" })),
  );
  if (!isRecord(json)) throw new Error("the JSON Schema is not an object");
  return { title, ...json };
}

/** Returns a Markdown table with one row for each key: key, type, default, description. */
export function configTable(schema: z.ZodType): string {
  const rows = tableRows(configJsonSchema(schema, ""), "");
  return ["| key | type | default | what it does |", "|---|---|---|---|", ...rows].join("\n");
}

function tableRows(section: unknown, prefix: string): readonly string[] {
  if (!isRecord(section) || !isRecord(section["properties"])) return [];
  return Object.entries(section["properties"]).flatMap(([key, value]) => {
    if (!isRecord(value)) return [];
    const inner = tableRows(value, `${prefix}${key}.`);
    return inner.length > 0 ? inner : [tableRow(`${prefix}${key}`, value)];
  });
}

function tableRow(key: string, field: Readonly<Record<string, unknown>>): string {
  const initial = field["default"] === undefined ? "" : `\`${JSON.stringify(field["default"])}\``;
  const text = typeof field["description"] === "string" ? field["description"].replaceAll("|", "\\|") : "";
  return `| \`${key}\` | ${typeof field["type"] === "string" ? field["type"] : "any"} | ${initial} | ${text} |`;
}
