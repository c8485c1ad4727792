import { z } from "zod";
import { COMMON_FIELDS } from "./channels/channel.ts";
import { CHANNEL_KINDS } from "./channels/channel-kinds.ts";

/** The keys of a kind, in the order of its schema. */
const keySchema = z.object({
  properties: z.record(
    z.string(),
    z.object({ description: z.string().optional(), default: z.unknown().optional() }),
  ),
});

type Key = z.output<typeof keySchema>["properties"][string] & { readonly key: string };

/** Returns the kinds of channels as a Markdown table. */
export function channelTable(): string {
  const rows = CHANNEL_KINDS.map((kind) => {
    const own = keysOf(kind.schema).filter(({ key }) => !isCommon(key));
    const keys = own.map(({ key, description = "" }) => `\`${key}\`: ${description}`).join("<br>");
    return `| \`${kind.kind}\` | ${kind.about} | ${keys} | ${kind.takesReports ? "yes" : "no"} |`;
  });
  return ["| kind | receiver | keys | reports |", "|---|---|---|---|", ...rows, ""].join("\n");
}

/** Returns one example of each kind as entries of `notify.channels` in YAML: its own values, otherwise the defaults. */
export function channelExamples(): string {
  return CHANNEL_KINDS.map(({ kind, schema, example }) => {
    const lines = keysOf(schema).flatMap(({ key, description, default: initial }) => {
      const value = key in example ? example[key] : initial;
      if (value === undefined) return [];
      const comment = isCommon(key) || description === undefined ? [] : [`      # ${sentence(description)}`];
      return [...comment, `      ${key}: ${yamlValue(value)}`];
    });
    return [`    - kind: ${kind}`, ...lines, ""].join("\n");
  }).join("");
}

function keysOf(schema: z.ZodType): readonly Key[] {
  const { properties } = keySchema.parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "throw" }));
  return Object.entries(properties)
    .filter(([key]) => key !== "kind")
    .map(([key, value]) => ({ key, ...value }));
}

function isCommon(key: string): boolean {
  return key in COMMON_FIELDS;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/** Formats a value of an example: lists and references to secrets in one line, texts in quotes where YAML needs them. */
function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, one]) => `${key}: ${yamlValue(one)}`)
      .join(", ")} }`;
  return typeof value === "string" && !/^[A-Za-z][\w.@-]*$/.test(value)
    ? JSON.stringify(value)
    : String(value);
}
