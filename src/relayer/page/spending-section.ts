import { counted, formatTime } from "../../platform/base/text.ts";
import { html, type Html, type HtmlPart } from "../../platform/web/html.ts";
import { ago, badge, type Column, dataTable, type Tone } from "../../platform/web/parts.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { type CostGroup, type SpendingView, spendingView } from "../costs/spending-view.ts";
import {
  type SpendingRow,
  type SpendingText,
  spendingText,
  type TextColumn,
} from "../report/spending-text.ts";
import { ownerCell } from "./query-section.ts";

/** Owners or queries on the page: the most expensive ones. */
const MAX_ROWS = 10;

/** Who pays, for whom, and what it will be, in the words of the report. */
export function spendingSection(costs: CostsView, nowMs: number): Html {
  const view = spendingView(costs, "owner");
  const words = spendingText(view, "\u202f");
  const queries = spendingText(spendingView(costs, "query"), "\u202f");
  return html`<h2>Spending</h2>${noticesOf(view, nowMs)}<p>${grantBadge(view, nowMs)}${words.payer}</p>${dataTable(
    {
      caption: "Fees that were paid",
      columns: columnsOf(words.windows),
      rows: view.windows,
    },
  )}<h3>Forecast</h3><p>${budgetBadge(view)}${words.budget}</p><p>${words.basis}</p>${
    view.forecast !== null &&
    dataTable({
      caption: "Expected, and lowest to highest",
      columns: columnsOf(words.forecast),
      rows: words.prices,
    })
  }<h3>Who it is paid for</h3>${rowTable(words, "owner")}${
    queries.rows.length > 0 &&
    html`<details id="query-costs"><summary>Fees by query</summary>${rowTable(queries, "query")}</details>`
  }<p>Nothing comes back: ${words.returns} A light-client update is shared by the results that it was sent with, in proportion to their gas; one without results by all queries of its connection equally. A transaction that fails in its block costs its fee too.</p>`;
}

function noticesOf({ read_at: readAtMs, incomplete, since }: SpendingView, nowMs: number): HtmlPart {
  if (readAtMs === null)
    return html`<p>${badge("unknown", "not known yet")} ${incomplete ?? "The costs were not read yet."}</p>`;
  const complete = since === null ? "" : ` Complete since ${formatTime(since)} UTC.`;
  return html`<p>${
    incomplete === null
      ? html`Sums are exact, to the unit.`
      : html`${badge("warn", "may be incomplete")} ${incomplete}.`
  }${complete} Read ${ago(Math.max(0, nowMs - readAtMs))}.</p>`;
}

/** Warns of a fee grant that pays nothing, or of which nothing is known. */
function grantBadge({ payer: { fee_grant: grant } }: SpendingView, nowMs: number): HtmlPart {
  if (grant === null) return "";
  const { read, type, known, left, expires_at: expiresAtMs } = grant;
  if (!read) return html`${badge("unknown", "not known yet")} `;
  const hasEnded = expiresAtMs !== null && expiresAtMs <= nowMs;
  if (type === null || left === 0n || hasEnded) return html`${badge("bad", "the fee grant pays nothing")} `;
  return known === true ? "" : html`${badge("unknown", "not known")} `;
}

function budgetBadge({ budget, over_budget: over }: SpendingView): HtmlPart {
  if (budget === null) return "";
  const [tone, text]: readonly [Tone, string] =
    over === "spent"
      ? ["bad", "spent"]
      : over === "forecast"
        ? ["warn", "will be exceeded"]
        : ["good", "fine"];
  return html`${badge(tone, text)} `;
}

/** The columns of the report, named as on a page. */
function columnsOf<Row>(columns: readonly TextColumn<Row>[]): readonly Column<Row>[] {
  return columns.map(({ title, align, text, detail, isUrgent }) => ({
    name: `${title.charAt(0).toLowerCase()}${title.slice(1)}`,
    isNumber: align === "right",
    cell: (row) => {
      // A badge does not wrap, and a time with its width is wider than a phone.
      const value = isUrgent?.(row) === true ? html`${badge("warn", "soon")} ${text(row)}` : text(row);
      return detail === undefined ? value : html`${value}<small>${detail(row)}</small>`;
    },
  }));
}

function rowTable({ rows, columns, details, unit }: SpendingText, by: CostGroup): Html {
  const shown = columnsOf([...columns, ...details]);
  const rest = rows.length - MAX_ROWS;
  const more = by === "owner" ? counted(rest, "more owner") : counted(rest, "more query", "more queries");
  return html`${dataTable({
    caption: `Fees in ${unit}, the most expensive of 30 days first${by === "owner" ? "" : "; from results on those of 24 hours"}`,
    columns: shown.map((column) => (column.name === "owner" ? { ...column, cell: ownerName } : column)),
    rows: rows.slice(0, MAX_ROWS),
  })}${rest > 0 && html`<p>${more} in <a href="/api/spending?by=${by}">JSON</a>.</p>`}`;
}

function ownerName({ owner, label, creator, admin }: SpendingRow): Html | string {
  if (owner === "") return "light clients without a query, or removed queries";
  const title = `creator ${creator}${admin === "" ? "" : ` admin ${admin}`}`;
  return html`${ownerCell({ owner })}${label !== "" && html`<small title="${title}">${label}</small>`}`;
}
