import { formatMinute } from "../../platform/base/text.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { encodeSpending, type SpendingView } from "../costs/spending-view.ts";
import { type SpendingText, spendingText, type TextColumn } from "./spending-text.ts";

/** Rows of the main table. JSON and CSV have all. */
const MAX_ROWS = 50;

/** Creates `report relayer --by owner|query`: who pays, for whom, and what it will be. */
export function spendingReport(view: SpendingView): Report {
  const words = spendingText(view, ",");
  const { by, read_at: readAtMs, windows } = view;
  return {
    title: `Relayer's spending by ${by}${readAtMs === null ? "" : `, ${formatMinute(readAtMs)} UTC`}`,
    outcome: outcomeOf(view),
    blocks: [
      text(words.payer),
      ...(view.incomplete === null ? [] : [text(`The sums may be incomplete: ${view.incomplete}.`)]),
      table(words.windows, windows),
      { kind: "heading", text: by === "owner" ? "By owner of the queries" : "By query" },
      ...rowBlocks(words),
      { kind: "heading", text: "Forecast" },
      text(words.budget),
      text(words.basis),
      ...(words.prices.length === 0 ? [] : [table(words.forecast, words.prices)]),
      { kind: "heading", text: "What comes back" },
      text(`Nothing: ${words.returns}`),
    ],
    data: { report: "relayer-spending", ...encodeSpending(view) },
    csv: {
      columns: [by === "owner" ? "owner" : "query_id", "label", ...windows.map(({ name }) => `fee_${name}`)],
      rows: words.rows.map(({ key, label, windows: sums }) => [
        key,
        label,
        ...windows.map(({ name }) => `${sums.get(name)?.fee ?? 0n}`),
      ]),
    },
  };
}

function outcomeOf({ read_at, incomplete, over_budget }: SpendingView): ReportOutcome {
  if (read_at === null) return "unseen";
  return incomplete === null && over_budget === null ? "fine" : "problem";
}

function text(words: string): ReportBlock {
  return { kind: "text", text: words };
}

function table<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): ReportBlock {
  return { kind: "table", columns, rows: rows.map((row) => columns.map((column) => column.text(row))) };
}

function rowBlocks({ rows, columns, unit }: SpendingText): readonly ReportBlock[] {
  if (rows.length === 0) return [text("Nothing was paid yet.")];
  const more = rows.length > MAX_ROWS ? ` The ${MAX_ROWS} most expensive of ${rows.length}.` : "";
  return [text(`In ${unit}.${more}`), table(columns, rows.slice(0, MAX_ROWS))];
}
