import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source-files.ts";

/** Text for people: a Markdown file, or the comments of a source file. */
export interface Prose {
  /** Path from the repository's root, with "/". */
  readonly path: string;
  readonly text: string;
}

/** Folders without prose of ours. */
const SKIPPED: readonly string[] = ["dist", "coverage", ".git"];

/** All files of the repository that are neither installed nor generated, as paths from its root. */
export function repositoryFiles(): readonly string[] {
  return filesBelow("");
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.includes(path) || entry.name === "node_modules") return [];
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Every README and document, except the texts of the specification and the history of changes. */
export function documents(files: readonly string[]): readonly Prose[] {
  return files
    .filter((path) => path.endsWith(".md") && path !== "CHANGELOG.md")
    .filter((path) => !path.startsWith("docs/spec/") || path.endsWith("README.md"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** The comments of every source file. */
export function comments(): readonly Prose[] {
  return sourceFiles().map(({ path, text }) => ({
    path,
    text: [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ (.*)$/gm)]
      .map(([, block, line]) => (block ?? line ?? "").replaceAll(/^\s*\* ?/gm, ""))
      .join("\n"),
  }));
}
