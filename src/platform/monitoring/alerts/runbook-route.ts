import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorReply } from "../../http/http-route.ts";
import { type ApiRoute, errorOf, getText, serveRoute } from "../../http/route-about.ts";
import { packageFolder } from "../../process/build-info.ts";

/** Runbook folder in the repository and in the package. */
export const RUNBOOK_FOLDER = "alerts/runbooks";

/** The contents of a runbook's first section, which is generated from the alert, with links in Markdown. */
export interface RunbookHead {
  /** The runbook's title, without a full stop. */
  readonly title: string;
  readonly meaning: string;
  readonly impact: string;
}

/** Formats the start of a runbook as Markdown. */
export function runbookHead({ title, meaning, impact }: RunbookHead): string {
  return [`# ${title}`, "## Meaning", meaning, "## Impact", impact].join("\n\n");
}

/** A runbook file: handwritten text between two sections that `npm run generate` writes. */
const SECTIONS =
  /^<!-- generated:alert -->\n[\s\S]*?^<!-- end:alert -->\n(?<written>[\s\S]*?)^<!-- generated:rule -->\n[\s\S]*?^<!-- end:rule -->$/m;

/** Returns the handwritten part of a runbook file; undefined if a marker of its generated sections is missing. */
export function writtenPart(file: string): string | undefined {
  return SECTIONS.exec(file)?.groups?.["written"]?.trim();
}

/** Replaces the Prometheus templates in a description with words. */
export function withoutTemplates(description: string): string {
  return description
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`")
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, "…");
}

/** Returns the path at which a daemon serves its own copy of a runbook, relative to the root of the daemon's page. */
export function runbookPath(name: string): string {
  return `runbooks/${name}.md`;
}

/** Parts that a daemon adds before and after the handwritten part of a runbook for one of its alerts. */
export interface ServedRunbook extends RunbookHead {
  /** The alert's condition; absent if the daemon does not evaluate the alert itself. */
  readonly rule?: string;
}

export const RUNBOOK_DEFINITION = getText(
  "/runbooks/:file",
  "the runbook of an alert as text, e.g. of `sidecar-down`",
  {
    replies: { 404: errorOf("no such runbook") },
  },
);

/**
 * Creates `GET /runbooks/NAME.md`, which serves runbooks as text, so that links to runbooks need no other server. A runbook that is
 * not in `runbooks` is read from the package, so one address serves all runbooks.
 */
export function runbookRoute(runbooks: ReadonlyMap<string, ServedRunbook>): ApiRoute {
  return serveRoute(RUNBOOK_DEFINITION, async ({ params }) => {
    const name = params["file"]?.replace(/\.md$/, "") ?? "";
    const files = await readdir(join(packageFolder(), RUNBOOK_FOLDER));
    if (!files.includes(`${name}.md`))
      return errorReply(404, "no-such-runbook", `no such runbook; available: ${files.join(", ")}`);
    return {
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
      body: `${await runbookText(name, runbooks.get(name))}\n`,
    };
  });
}

/** Returns the runbook `name` from the package. For one of the daemon's own alerts, adds the parts that the daemon generates. */
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
