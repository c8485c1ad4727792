import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorReply } from "../../http/http-route.ts";
import { type ApiRoute, errorOf, getText, serveRoute } from "../../http/route-about.ts";
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

/** Replaces the templates of Prometheus in a description by words. */
export function withoutTemplates(description: string): string {
  return description
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`")
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, "…");
}

/** Path of a daemon's own copy of a runbook, relative to the root of its page. */
export function runbookPath(name: string): string {
  return `runbooks/${name}.md`;
}

/** What a daemon says about an alert around the written part of its runbook. */
export interface ServedRunbook extends RunbookHead {
  /** When the alert fires. Absent: the daemon does not evaluate it itself. */
  readonly rule?: string;
}

export const RUNBOOK_DEFINITION = getText(
  "/runbooks/:file",
  "an alert's runbook as text, for example `sidecar-down`",
  {
    replies: { 404: errorOf("no such runbook") },
  },
);

/**
 * Creates `GET /runbooks/NAME.md`: runbooks as text, so that links to them work without another server. Those that are not in `runbooks` are
 * those of the package, so that one address has all.
 */
export function runbookRoute(runbooks: ReadonlyMap<string, ServedRunbook>): ApiRoute {
  return serveRoute(RUNBOOK_DEFINITION, async ({ params }) => {
    const name = params["file"]?.replace(/\.md$/, "") ?? "";
    const files = await readdir(join(packageFolder(), RUNBOOK_FOLDER));
    if (!files.includes(`${name}.md`))
      return errorReply(404, "no-such-runbook", `there is no such runbook; known: ${files.join(", ")}`);
    return {
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
      body: `${await runbookText(name, runbooks.get(name))}\n`,
    };
  });
}

/** Returns the runbook `name` of the package, with what the daemon says about its own alert. */
async function runbookText(name: string, own: ServedRunbook | undefined): Promise<string> {
  const path = join(packageFolder(), RUNBOOK_FOLDER, `${name}.md`);
  const file = await readFile(path, "utf8");
  if (own === undefined)
    return file
      .replace(/^---\n[\s\S]*?\n---\n/, "")
      .replaceAll(/^<!-- .* -->$/gm, "")
      .trim();
  const written = writtenPart(file);
  if (written === undefined) throw new Error(`${path} has no generated sections`);
  return [runbookHead(own), written, ...(own.rule === undefined ? [] : ["## Rule", own.rule])].join("\n\n");
}
