import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFolder } from "../../process/build-info.ts";

/** Folder of the runbooks in the repository and in the package. */
export const RUNBOOK_FOLDER = "alerts/runbooks";

/** The beginning of a runbook: what its alert says about itself. Links are Markdown. */
export interface RunbookHead {
  /** Without a full stop. */
  readonly title: string;
  readonly meaning: string;
  readonly impact: string;
}

/** Formats the beginning of a runbook as Markdown. */
export function runbookHead({ title, meaning, impact }: RunbookHead): string {
  return [`# ${title}`, "## Meaning", meaning, "## Impact", impact].join("\n\n");
}

/** A runbook file: what people write is between two sections that `npm run generate` writes. */
const SECTIONS =
  /^<!-- begin generated: alert -->\n[\s\S]*?^<!-- end generated: alert -->\n(?<written>[\s\S]*?)^<!-- begin generated: rule -->\n[\s\S]*?^<!-- end generated: rule -->$/m;

/** Returns what people wrote in a runbook file. Undefined when a marker of its generated sections is missing. */
export function writtenPart(file: string): string | undefined {
  return SECTIONS.exec(file)?.groups?.["written"]?.trim();
}

/** Reads the written part of the runbook `name` from the package. Rejects when the package does not have the file. */
export async function readWrittenPart(name: string): Promise<string> {
  const path = join(packageFolder(), RUNBOOK_FOLDER, `${name}.md`);
  const part = writtenPart(await readFile(path, "utf8"));
  if (part === undefined) throw new Error(`${path} has no generated sections`);
  return part;
}

/** Replaces the templates of Prometheus in a description by words. */
export function withoutTemplates(description: string): string {
  return description
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`")
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, "…");
}
