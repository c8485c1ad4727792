import { z } from "zod";
import { COMMON_FIELDS } from "../../watchdog/notify/channels/channel.ts";
import { CHANNEL_KINDS } from "../../watchdog/notify/channels/channel-kinds.ts";

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

function keysOf(schema: z.ZodType): readonly Key[] {
  const { properties } = keySchema.parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "throw" }));
  return Object.entries(properties)
    .filter(([key]) => key !== "kind")
    .map(([key, value]) => ({ key, ...value }));
}

function isCommon(key: string): boolean {
  return key in COMMON_FIELDS;
}
