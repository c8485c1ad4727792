import { formatMinute } from "../../platform/base/text.ts";
import { heading, paragraph, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { encodeSpending, type SpendingView } from "../costs/spending-view.ts";
import { type SpendingText, spendingText, type TextColumn } from "./spending-text.ts";

/** Maximum number of rows in the main table. JSON and CSV contain all rows. */
const MAX_ROWS = 50;

/** Creates `report relayer --by owner|query`: who pays, for whom, and the forecast. */
export function spendingReport(view: SpendingView): Report {
  const words = spendingText(view, ",");
  const { by, read_at: readAtMs, windows } = view;
  return {
    title: `Relayer's spending by ${by}${readAtMs === null ? "" : `, ${formatMinute(readAtMs)} UTC`}`,
    outcome: outcomeOf(view),
    blocks: [
      ...paragraph(words.payer),
      ...paragraph(view.incomplete === null ? undefined : `The sums may be incomplete: ${view.incomplete}.`),
      ...tableOf(words.windows, windows),
      ...heading(by === "owner" ? "By owner of the queries" : "By query"),
      ...rowBlocks(words),
      ...heading("Forecast"),
      ...paragraph(words.budget),
      ...paragraph(words.basis),
      ...(words.prices.length === 0 ? [] : tableOf(words.forecast, words.prices)),
      ...heading("What comes back"),
      ...paragraph(`Nothing: ${words.returns}`),
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

function tableOf<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): readonly ReportBlock[] {
  return table(
    columns,
    rows.map((row) => columns.map((column) => column.text(row))),
  );
}

function rowBlocks({ rows, columns, unit }: SpendingText): readonly ReportBlock[] {
  if (rows.length === 0) return paragraph("Nothing has been paid yet.");
  const more = rows.length > MAX_ROWS ? ` The ${MAX_ROWS} most expensive of ${rows.length}.` : "";
  return [...paragraph(`In ${unit}.${more}`), ...tableOf(columns, rows.slice(0, MAX_ROWS))];
}
