import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { DEVIATION_AREAS, listDeviations } from "../../localnet/chain/deviations/deviations.ts";
import { ALL_COMMANDS, visibleCommands } from "../../platform/cli/lazy-command.ts";
import { CONDITIONS } from "../../watchdog/conditions/conditions.ts";
import { alertTable } from "../../watchdog/monitoring/watchdog-alerts.ts";
import { CHANNEL_KINDS } from "../../watchdog/notify/channels/channel-kinds.ts";
import { COMMON_FIELDS } from "../../watchdog/notify/channels/channel.ts";
import { alertFiles } from "./alert-files.ts";
import { alertMessagesPage } from "./alert-messages.ts";
import { createSilentProgram } from "./silent-program.ts";
import { chainKeyTable, configFiles, relayerKeyTable, watchdogKeyTable } from "./config-files.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import { markdownTable, withSection } from "./marked-sections.ts";
import { metricsPage } from "./metrics-page.ts";
import { runbookFiles, runbookIndex } from "./runbook-files.ts";
import { CHAIN_API, LOCALNET_METRICS_ROUTE } from "../../localnet/control/control-api.ts";
import { FAULT_API } from "../../localnet/control/fault-control.ts";
import { IBC_RELAYER_ROUTE } from "../../localnet/ibc-relayer/status.ts";
import { OVERVIEW_PAGE } from "../../localnet/network/overview-page.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { CONTROL_API } from "../../platform/http/daemon-control-routes.ts";
import { OPENAPI_ROUTE } from "../../platform/http/openapi.ts";
import type { RouteDefinition } from "../../platform/http/route-about.ts";
import { RUNBOOK_DEFINITION } from "../../platform/monitoring/alerts/runbook-route.ts";
import { type LivePlace, pageDefinition } from "../../platform/web/live-page.ts";
import { OVERVIEW_ROUTE, PARTS_PAGE } from "../../platform/web/overview.ts";
import { RELAYER_API, RELAYER_PAGES } from "../../relayer/api/relayer-api.ts";
import { watchdogPages } from "../../watchdog/page/create-page.ts";
import { INCIDENTS_ROUTE, REPORT_DATA_ROUTE } from "../../watchdog/report/report-data.ts";
import { WATCHDOG_API } from "../../watchdog/watchdog-api.ts";
import { CONTRACT_PAGE, PROFILE_ROUTE } from "../../workbench/contract-page.ts";

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

/** Every server's routes, except the update streams of its pages. */
export const SERVER_ROUTES: Readonly<
  Record<"relayer" | "watchdog" | "localnet", readonly RouteDefinition[]>
> = {
  relayer: [
    ...pages([...Object.values(RELAYER_PAGES), PARTS_PAGE]),
    ...Object.values(RELAYER_API),
    OVERVIEW_ROUTE,
    RUNBOOK_DEFINITION,
    ...Object.values(CONTROL_API),
    OPENAPI_ROUTE,
  ],
  watchdog: [
    ...pages([...watchdogPages(unread), PARTS_PAGE]),
    ...Object.values(WATCHDOG_API),
    INCIDENTS_ROUTE,
    REPORT_DATA_ROUTE,
    OVERVIEW_ROUTE,
    RUNBOOK_DEFINITION,
    ...Object.values(CONTROL_API),
    OPENAPI_ROUTE,
  ],
  localnet: [
    ...pages([OVERVIEW_PAGE, CONTRACT_PAGE]),
    ...Object.values(CHAIN_API),
    ...Object.values(FAULT_API),
    PROFILE_ROUTE,
    IBC_RELAYER_ROUTE,
    OVERVIEW_ROUTE,
    LOCALNET_METRICS_ROUTE,
    OPENAPI_ROUTE,
  ],
};

/** Returns the tables in docs/http-api.md by section. */
function httpApiTables(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(SERVER_ROUTES).map(([server, routes]) => [`${server} routes`, routeTable(routes)]),
  );
}

function pages(shown: readonly LivePlace[]): readonly RouteDefinition[] {
  return shown.map(pageDefinition);
}

/** The tables list the pages but do not render them. */
function unread(): never {
  return unreachable("a page is only listed");
}

/** Returns a Markdown table of routes without the pages' update streams. */
function routeTable(routes: readonly RouteDefinition[]): string {
  const rows = routes
    .filter(({ about }) => about.replies[200]?.mediaType !== "text/event-stream")
    .map(({ method, path, guarded, about: { summary, query = {}, body } }) => {
      const parameters = Object.entries(query).map(([name, text]) => `\`${name}\`: ${text}`);
      // Omit the field names if the summary contains an example.
      const fields = body === undefined || summary.includes("{") ? [] : [`body: ${namesOf(body)}`];
      const verb = method === "GET" ? "" : `${method} `;
      return [
        `\`${verb}${path}\``,
        [summary, ...fields, ...parameters].join("; ").replaceAll("|", "\\|"),
        guarded === true ? "yes" : "",
      ];
    });
  return markdownTable(["route", "response, or what it does", "token"], rows);
}

function namesOf(body: z.ZodType): string {
  if (!(body instanceof z.ZodObject)) return unreachable("the body of a request is an object");
  return Object.keys(body.shape)
    .map((name) => `\`${name}\``)
    .join(", ");
}
