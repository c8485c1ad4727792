import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CONDITIONS } from "../../watchdog/conditions/conditions.ts";
import { alertTable } from "../../watchdog/monitoring/alert-docs.ts";
import { channelTable } from "./channel-docs.ts";
import { alertFiles } from "./alert-files.ts";
import { configFiles, relayerKeyTable, watchdogKeyTable } from "./config-files.ts";
import { dashboardFiles } from "./dashboard-files.ts";
import { metricsPage, watchdogMetricTable } from "./metrics-page.ts";
import { runbookIndex } from "./runbook-files.ts";

/** Folders in which every file is generated: a removed alert's file is stale. */
const FOLDERS = [
  "alerts/alertmanager",
  "alerts/prometheus",
  "alerts/prometheus/tests",
  "alerts/runbooks",
  "config/schema",
  "dashboards/json",
  "dashboards/provisioning",
];

/** Returns all generated files' contents, by path in the repository `root`. */
export function generatedFiles(root: string): ReadonlyMap<string, string> {
  return new Map([
    ...alertFiles(),
    ...dashboardFiles(),
    ...configFiles(),
    ["docs/metrics.md", metricsPage()],
    ...sections(root),
  ]);
}

/** Returns handwritten files with generated marked sections, by path. */
function sections(root: string): readonly (readonly [string, string])[] {
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "alerts/README.md": { runbooks: runbookIndex() },
    "src/watchdog/README.md": {
      alerts: alertTable(CONDITIONS),
      channels: channelTable(),
      metrics: watchdogMetricTable(),
    },
    "daemons/icq-relayer/README.md": { configuration: relayerKeyTable() },
    "daemons/oracle-watchdog/README.md": { configuration: watchdogKeyTable() },
  };
  return Object.entries(texts).map(([path, byName]) => [
    path,
    Object.entries(byName).reduce(
      (content, [name, text]) => withSection(content, name, text),
      readFileSync(join(root, path), "utf8"),
    ),
  ]);
}

/** Replaces the lines between those that contain `begin generated: name` and `end generated: name`. */
export function withSection(content: string, name: string, text: string): string {
  const begin = content.indexOf("\n", markerAt(content, `begin generated: ${name}`)) + 1;
  const end = content.lastIndexOf("\n", markerAt(content, `end generated: ${name}`)) + 1;
  return `${content.slice(0, begin)}${text}${content.slice(end)}`;
}

function markerAt(content: string, marker: string): number {
  const at = content.indexOf(marker);
  if (at < 0) throw new Error(`no line contains "${marker}"`);
  return at;
}

/** Returns the sorted paths of generated files that are missing, stale or without a source. */
export function staleFiles(root: string): readonly string[] {
  const files = generatedFiles(root);
  const differing = [...files].filter(([path, text]) => textOf(join(root, path)) !== text);
  return [...differing.map(([path]) => path), ...withoutSource(root, files)].toSorted();
}

/** Writes the stale files and deletes those without a source. Returns their paths. */
export function writeGeneratedFiles(root: string): readonly string[] {
  const files = generatedFiles(root);
  const stale = staleFiles(root);
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
