import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("../..", import.meta.url).pathname;

/**
 * Returns the text between the lines that contain `begin generated: name` and `end generated: name` of a file of the
 * repository. With UPDATE_GENERATED=1 in the environment, it writes `text` there first.
 */
export function generatedSection(path: string, name: string, text: string): string {
  const file = join(ROOT, path);
  const content = readFileSync(file, "utf8");
  const [begin, end] = [
    markerEnd(content, `begin generated: ${name}`),
    markerStart(content, `end generated: ${name}`),
  ];
  if (process.env["UPDATE_GENERATED"] === "1")
    writeFileSync(file, `${content.slice(0, begin)}${text}${content.slice(end)}`);
  return process.env["UPDATE_GENERATED"] === "1" ? text : content.slice(begin, end);
}

function markerEnd(content: string, marker: string): number {
  return content.indexOf("\n", position(content, marker)) + 1;
}

function markerStart(content: string, marker: string): number {
  return content.lastIndexOf("\n", position(content, marker)) + 1;
}

function position(content: string, marker: string): number {
  const at = content.indexOf(marker);
  if (at < 0) throw new Error(`the file has no line with "${marker}"`);
  return at;
}
