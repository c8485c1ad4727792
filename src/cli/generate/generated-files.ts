import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { DEVIATION_AREAS, listDeviations } from "../../localnet/chain/deviations/deviations.ts";
import { ALL_COMMANDS, visibleCommands } from "../../platform/cli/lazy-command.ts";
import { CHANNEL_KINDS } from "../../watchdog/notify/channels/channel-kinds.ts";
import { COMMON_FIELDS } from "../../watchdog/notify/channels/channel.ts";
import { alertFiles } from "./alert-files.ts";
import { alertMessagesPage } from "./alert-messages.ts";
import { createSilentProgram } from "./silent-program.ts";
import { chainKeyTable, configFiles, relayerKeyTable, watchdogKeyTable } from "./config-files.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import { httpApiTables } from "./http-api-tables.ts";
import { markdownTable, withSection } from "./marked-sections.ts";
import { metricsPage } from "./metrics-page.ts";
import { runbookFiles } from "./runbook-files.ts";

/** Folders that contain only generated files, so that e.g. the file of a removed alert is recognized as stale. */
const FOLDERS = [
  "alerts/alertmanager",
  "alerts/prometheus",
  "alerts/prometheus/tests",
  "config/schema",
  "dashboards/json",
  "dashboards/provisioning",
];

/** Returns the contents of all generated files, keyed by their path in the repository `root`. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...alertFiles(),
    ...runbookFiles(root),
    ...dashboardFiles(),
    ...configFiles(),
    ["docs/alerts.md", alertMessagesPage(root)],
    ["docs/metrics.md", metricsPage()],
    ...(await sections(root)),
  ]);
}

/** Returns the path and the text of each handwritten file that contains generated sections between markers. */
async function sections(root: string): Promise<readonly (readonly [string, string])[]> {
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "docs/commands.md": { commands: await commandTables() },
    "docs/conformance.md": Object.fromEntries(
      DEVIATION_AREAS.map(({ name }) => [`differences ${name}`, differenceTable(name)]),
    ),
    "docs/http-api.md": httpApiTables(),
    "docs/relayer.md": { configuration: relayerKeyTable() },
    "docs/localnet.md": { "chain file": chainKeyTable() },
    "docs/watchdog.md": { configuration: watchdogKeyTable(), channels: channelTable() },
  };
  return Object.entries(texts).map(([path, byName]) => [
    path,
    Object.entries(byName).reduce(
      (content, [name, text]) => withSection(content, name, text),
      readFileSync(join(root, path), "utf8"),
    ),
  ]);
}

/** Returns the sorted paths of generated files that are missing, outdated, or no longer generated. */
export async function staleFiles(root: string): Promise<readonly string[]> {
  return differing(root, await generatedFiles(root));
}

function differing(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  const changed = [...files].filter(([path, text]) => textOf(join(root, path)) !== text);
  return [...changed.map(([path]) => path), ...withoutSource(root, files)].toSorted();
}

/** Writes outdated files, deletes files that are no longer generated, and returns the paths of both. */
export async function writeGeneratedFiles(root: string): Promise<readonly string[]> {
  const files = await generatedFiles(root);
  const stale = differing(root, files);
  for (const path of stale) {
    const text = files.get(path);
    if (text === undefined) rmSync(join(root, path));
    else {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }
  return stale;
}

function withoutSource(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  return FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !files.has(`${folder}/${entry.name}`))
      .map(({ name }) => `${folder}/${name}`),
  );
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** The keys of a channel kind, in schema order. */
const keySchema = z.object({
  properties: z.record(
    z.string(),
    z.object({ description: z.string().optional(), default: z.unknown().optional() }),
  ),
});

type Key = z.output<typeof keySchema>["properties"][string] & { readonly key: string };

/** Returns a Markdown table of the differences between the specification and the deployed chain in one area. */
function differenceTable(area: string): string {
  const rows = listDeviations()
    .filter((row) => row.area === area)
    .map((row) => {
      const name = row.switch === null ? "" : `\`${row.switch}\``;
      return [row.subject, row.specification, row.deployed, row.here, name];
    });
  return markdownTable(["subject", "specification", "deployed", "here, and why", "switch"], rows);
}

function channelTable(): string {
  const rows = CHANNEL_KINDS.map((kind) => {
    const own = keysOf(kind.schema).filter(({ key }) => !isCommon(key));
    const reports = kind.takesReports ? "yes" : "no";
    return [`\`${kind.kind}\``, kind.about, own.map(keyText).join("<br>"), reports];
  });
  return markdownTable(["kind", "receiver", "keys", "reports"], rows);
}

function keyText({ key, description = "", default: initial }: Key): string {
  return `\`${key}\`: ${description}${initial === undefined ? "" : ` (\`${JSON.stringify(initial)}\`)`}`;
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

/** Returns a Markdown table of commands for each top-level group, and one for the commands outside groups. */
async function commandTables(): Promise<string> {
  const program = await createSilentProgram(ALL_COMMANDS);
  return [
    commandTable(singles(program, "")),
    ...groupsOf(program).map((group) => {
      const isOfModules = group.name() === "query" || group.name() === "tx";
      const table = isOfModules ? moduleTables(group) : commandTable(leaves(group, ""));
      return `### ${group.name()}\n\n${table}`;
    }),
  ].join("\n");
}

type Cells = readonly string[];

/**
 * Returns a table with one row per module. It omits the commands' purposes, because the names are self-explanatory and `--help`
 * describes them.
 */
function moduleTables(group: Command): string {
  const path = `${group.name()} `;
  const rows = groupsOf(group).map((module): Cells => {
    const usages = leaves(module, "").map(([usage = ""]) => usage.replace(`${module.name()} `, ""));
    return [`\`${path}${module.name()}\``, usages.join(", ")];
  });
  return [commandTable(singles(group, path)), markdownTable(["module", "commands"], rows)].join("\n");
}

function groupsOf(command: Command): readonly Command[] {
  return visibleCommands(command).filter((one) => visibleCommands(one).length > 0);
}

/** Returns table rows for the commands that are not groups. */
function singles(command: Command, path: string): readonly Cells[] {
  return visibleCommands(command)
    .filter((one) => visibleCommands(one).length === 0)
    .map((one) => commandRow(one, `${path}${one.name()}`));
}

function commandTable(rows: readonly Cells[]): string {
  return markdownTable(["command", "purpose"], rows);
}

function leaves(command: Command, path: string): readonly Cells[] {
  const name = `${path}${command.name()}`;
  const inner = visibleCommands(command);
  return inner.length === 0 ? [commandRow(command, name)] : inner.flatMap((one) => leaves(one, `${name} `));
}

function commandRow(command: Command, path: string): Cells {
  const takes = command.registeredArguments.map((argument) => {
    const name = `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`;
    return argument.required ? ` ${name}` : ` [${name}]`;
  });
  return [`\`${path}${takes.join("")}\``, command.description()].map((cell) => cell.replaceAll("|", "\\|"));
}
