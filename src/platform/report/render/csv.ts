import type { Report } from "../document.ts";

/** Formats the main table as CSV (RFC 4180, with a line of titles). */
export function renderCsv({ csv }: Report): string {
  return [csv.columns, ...csv.rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  // A spreadsheet takes a cell that begins with one of these characters for a formula. Numbers keep their sign.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
