import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { DEVIATION_AREAS, listDeviations } from "../../localnet/chain/deviations/deviations.ts";
import { ALL_COMMANDS, visibleCommands } from "../../platform/cli/lazy-command.ts";
import { ruleFile } from "../../platform/monitoring/alerts/rule-files.ts";
import { REAL_TIMES } from "../../platform/monitoring/alerts/times.ts";
import { CONDITIONS } from "../../watchdog/conditions/conditions.ts";
import { alertTable } from "../../watchdog/monitoring/watchdog-alerts.ts";
import { RAW_CASE_FILES } from "../../watchdog/monitoring/raw-alerts.ts";
import { CHANNEL_KINDS } from "../../watchdog/notify/channels/channel-kinds.ts";
import { COMMON_FIELDS } from "../../watchdog/notify/channels/channel.ts";
import {
  alertmanagerExample,
  alertmanagerLocalnet,
  prometheusExample,
  prometheusLocalnet,
} from "./alert-config-examples.ts";
import { alertMessagesPage } from "./alert-messages.ts";
import { caseFiles } from "./case-files.ts";
import { createSilentProgram } from "./silent-program.ts";
import { chainKeyTable, configFiles, relayerKeyTable, watchdogKeyTable } from "./config-files.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import { httpApiTables } from "./http-api-tables.ts";
import { markdownTable, withSection } from "./marked-sections.ts";
import { metricsPage } from "./metrics-page.ts";
import { RULE_FILES } from "./rules.ts";
import { runbookFiles, runbookIndex } from "./runbook-files.ts";

/** Folders that contain only generated files. A removed alert's file there is stale. */
const FOLDERS = [
  "alerts/alertmanager",
  "alerts/prometheus",
  "alerts/prometheus/tests",
  "config/schema",
  "dashboards/json",
  "dashboards/provisioning",
];

/** Returns the contents of all generated files by their path in the repository `root`. */
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

/** By path: the handwritten files that contain generated sections between markers. */
async function sections(root: string): Promise<readonly (readonly [string, string])[]> {
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "alerts/README.md": { runbooks: runbookIndex() },
    "docs/commands.md": { commands: await commandTables() },
    "docs/conformance.md": Object.fromEntries(
      DEVIATION_AREAS.map(({ name }) => [`differences ${name}`, differenceTable(name)]),
    ),
    "docs/http-api.md": httpApiTables(),
    "src/watchdog/README.md": { alerts: alertTable(CONDITIONS) },
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

/** Returns the sorted paths of generated files that are missing, stale or without a source. */
export async function staleFiles(root: string): Promise<readonly string[]> {
  return differing(root, await generatedFiles(root));
}

function differing(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  const changed = [...files].filter(([path, text]) => textOf(join(root, path)) !== text);
  return [...changed.map(([path]) => path), ...withoutSource(root, files)].toSorted();
}

/** Writes stale files and deletes files without a source. Returns their paths. */
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

/** Returns the generated Prometheus and Alertmanager files in `alerts` by their path in the repository. */
export function alertFiles(): ReadonlyMap<string, string> {
  return new Map<string, string>([
    ...[...RULE_FILES].map(
      ([name, groups]) => [`alerts/prometheus/${name}`, ruleFile(groups, REAL_TIMES)] as const,
    ),
    ...[...RULE_FILES.keys()].flatMap((name) => [...caseFiles(name)].map(inTests)),
    ...RAW_CASE_FILES.map(inTests),
    ["alerts/prometheus/prometheus.example.yaml", prometheusExample()],
    ["alerts/prometheus/prometheus.localnet.yaml", prometheusLocalnet()],
    ["alerts/alertmanager/alertmanager.example.yaml", alertmanagerExample()],
    ["alerts/alertmanager/alertmanager.localnet.yaml", alertmanagerLocalnet()],
  ]);
}

function inTests([name, content]: readonly [string, string]): readonly [string, string] {
  return [`alerts/prometheus/tests/${name}`, content];
}

/** A channel kind's keys, in schema order. */
const keySchema = z.object({
  properties: z.record(
    z.string(),
    z.object({ description: z.string().optional(), default: z.unknown().optional() }),
  ),
});

type Key = z.output<typeof keySchema>["properties"][string] & { readonly key: string };

/** Returns a Markdown table of one area's differences between the specification and the deployed chain. */
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

/** Returns one Markdown table of commands per top-level group, and one for the commands outside any group. */
async function commandTables(): Promise<string> {
  const commands = visibleCommands(await createSilentProgram(ALL_COMMANDS));
  const single = commands.filter((one) => visibleCommands(one).length === 0);
  const groups = commands.filter((one) => visibleCommands(one).length > 0);
  return [
    commandTable(single.map((one) => commandRow(one, one.name()))),
    ...groups.map((group) => `### ${group.name()}\n\n${commandTable(leaves(group, ""))}`),
  ].join("\n");
}

type Cells = readonly string[];

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
