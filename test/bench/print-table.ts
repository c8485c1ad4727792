import Table from "cli-table3";
import type { BenchRow } from "./bench-row.ts";

/** Figures of one group. */
export interface GroupRows {
  readonly group: string;
  readonly rows: readonly BenchRow[];
}

const NOTE_WIDTH = 60;

/** All figures as a table for people. */
export function tableText(groups: readonly GroupRows[]): string {
  const table = new Table({
    head: ["figure", "value", "unit", "beside", "how"],
    colAligns: ["left", "right"],
    colWidths: [null, null, null, null, NOTE_WIDTH],
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  for (const { group, rows } of groups) {
    table.push([{ content: group.toUpperCase(), colSpan: 5 }]);
    for (const { name, value, unit, beside, note } of rows)
      table.push([name, formatValue(value), unit, beside ?? "", note ?? ""]);
  }
  return table.toString();
}

/** Formats three significant digits, with a thousands separator. */
export function formatValue(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}
