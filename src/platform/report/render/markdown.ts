import type { Report, ReportBlock, ReportColumn } from "../document.ts";

/** Formats a report as GitHub-flavoured markdown. */
export function renderMarkdown({ title, blocks }: Report): string {
  return `${[`# ${escapeMarkdown(title)}`, ...blocks.map(blockText)].join("\n\n")}\n`;
}

function blockText(block: ReportBlock): string {
  switch (block.kind) {
    case "heading":
      return `## ${escapeMarkdown(block.text)}`;
    case "text":
      return escapeMarkdown(block.text);
    case "list":
      return block.items.map((item) => `- ${escapeMarkdown(item)}`).join("\n");
    case "sparks":
      return block.lines
        .map(({ label, bars, note }) => `- ${escapeMarkdown(label)} \`${bars}\` ${escapeMarkdown(note)}`)
        .join("\n");
    case "table":
      return tableText(block.columns, block.rows);
  }
}

function tableText(columns: readonly ReportColumn[], rows: readonly (readonly string[])[]): string {
  return [
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
  ].join("\n");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Escapes what markdown or HTML could read as more than text. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`);
}
