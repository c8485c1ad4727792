/** Replaces the text between the lines `<!-- generated:name -->` and `<!-- end:name -->`. */
export function withSection(content: string, name: string, text: string): string {
  const begin = content.indexOf("\n", markerAt(content, `<!-- generated:${name} -->`)) + 1;
  const end = content.lastIndexOf("\n", markerAt(content, `<!-- end:${name} -->`)) + 1;
  return `${content.slice(0, begin)}${text}${content.slice(end)}`;
}

/** Formats a Markdown table, without duplicate rows. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...new Set(lines), ""].join("\n");
}

function markerAt(content: string, marker: string): number {
  const at = content.indexOf(marker);
  if (at < 0) throw new Error(`no line contains "${marker}"`);
  return at;
}
