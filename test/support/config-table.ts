import { z } from "zod";
import { isRecord } from "../../src/base/json.ts";

/** JSON Schema of what a configuration file may hold, from the schema that also parses it. */
export function configJsonSchema(schema: z.ZodType, title: string): Readonly<Record<string, unknown>> {
  const made: unknown = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "throw" })),
  );
  if (!isRecord(made)) throw new Error("a configuration schema describes a section");
  return { title, ...made };
}

/** A Markdown table of all keys: key, type, default, description. */
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
