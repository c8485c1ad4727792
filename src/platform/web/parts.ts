import { type DisplayUnit, formatAmount, formatShort } from "../base/display-unit.ts";
import { formatCount, formatDuration } from "../base/text.ts";
import type { ReloadStatus } from "../process/reloadable.ts";
import { type Html, html, type HtmlPart } from "./html.ts";

/** Rating of a state. Pages never show a tone only as a colour, but also with a word and a sign. */
export type Tone = "good" | "warn" | "bad" | "unknown";

export const TONE_SIGNS: Readonly<Record<Tone, string>> = { good: "✓", warn: "!", bad: "✕", unknown: "?" };

/** Renders a text with the sign and colour of the given tone. */
export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}"><span aria-hidden="true">${TONE_SIGNS[tone]} </span>${text}</span>`;
}

/**
 * Renders a page's headline, followed by related content. Screen readers announce the headline whenever it changes, so it must
 * not contain times or ages.
 */
export function statusBanner(tone: Tone, headline: string, more: HtmlPart): Html {
  return html`<div class="verdict ${tone}"><p class="headline ${tone}" aria-live="polite"><span aria-hidden="true">${TONE_SIGNS[tone]} </span>${headline}</p>${more}</div>`;
}

/** Renders the reason why the last configuration reload failed, and the changed keys that take effect only after a restart. */
export function reloadNotice(status: Pick<ReloadStatus, "error" | "needRestart"> | undefined): HtmlPart {
  const { error, needRestart = [] } = status ?? {};
  return html`${
    error !== undefined &&
    html`<p>${badge("bad", "configuration not loaded")} The settings are unchanged. ${error}</p>`
  }${
    needRestart.length > 0 &&
    html`<p>${badge("warn", "restart needed")} Changed in the configuration and not applied: ${needRestart.join(", ")}.</p>`
  }`;
}

export interface Fact {
  readonly name: string;
  readonly value: HtmlPart;
  readonly detail?: HtmlPart;
  readonly tone?: Tone | undefined;
  /** True for a value that is too long for one column and therefore takes up two. */
  readonly isWide?: boolean;
}

export function factGrid(facts: readonly Fact[]): Html {
  return html`<dl class="facts">${facts.map(
    ({ name, value, detail, tone, isWide }) =>
      html`<div${isWide === true && html` class="wide"`}><dt>${name}</dt><dd${tone === undefined ? "" : html` class="${tone}"`}>${value}${
        detail === undefined ? "" : html`<small>${detail}</small>`
      }</dd></div>`,
  )}</dl>`;
}

/** A column of a {@link dataTable}, with the function that renders its cells. */
export interface Column<Row> {
  readonly name: string;
  readonly isNumber?: boolean;
  /** True for a column that is omitted on phones, because another page shows the same data. */
  readonly isMinor?: boolean;
  /** Link in the column header that sorts the table by this column. */
  readonly sort?: { readonly href: string; readonly order: "ascending" | "descending" | undefined };
  readonly cell: (row: Row) => HtmlPart;
}

/** A table in which each row's first cell names the row. On a phone, each row becomes a card labelled with the column names. */
export interface DataTable<Row> {
  readonly caption: string;
  /** True if the caption is only for screen readers, because the heading above the table has the same text. */
  readonly isCaptionHidden?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Returns the id of a row's element, which must be unique on the page. */
  readonly rowId?: (row: Row) => string;
}

/** Renders a table with explicit ARIA roles, so that screen readers still treat it as a table when CSS turns its rows into cards. */
export function dataTable<Row>({ caption, isCaptionHidden, columns, rows, rowId }: DataTable<Row>): Html {
  return html`<table class="cards" role="table"${isCaptionHidden === true && html` aria-label="${caption}"`}>${
    isCaptionHidden !== true && html`<caption>${caption}</caption>`
  }
<thead role="rowgroup"><tr role="row">${columns.map(columnHead)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row"${rowId === undefined ? "" : html` id="${rowId(row)}"`}>${columns.map(
        (column, index) =>
          index === 0
            ? html`<th scope="row" role="rowheader">${column.cell(row)}</th>`
            : html`<td role="cell" data-label="${column.name}"${classOf(column)}><span>${column.cell(row)}</span></td>`,
      )}</tr>
`,
  )}</tbody></table>`;
}

function columnHead<Row>(column: Column<Row>): Html {
  const { name, sort } = column;
  const order = sort?.order;
  return html`<th scope="col" role="columnheader"${classOf(column)}${
    order === undefined ? "" : html` aria-sort="${order}"`
  }>${sort === undefined ? name : html`<a data-view href="${sort.href}">${name}</a>`}</th>`;
}

function classOf<Row>({ isNumber, isMinor }: Column<Row>): HtmlPart {
  const classes = [isNumber === true && "number", isMinor === true && "minor"].filter(Boolean).join(" ");
  return classes !== "" && html` class="${classes}"`;
}

/** Formats an age, for example "12 s ago", or "–" if it is unknown. */
export function ago(ms: number | undefined): string {
  return ms === undefined ? "–" : `${formatDuration(ms)} ago`;
}

/** Formats a whole number with thin spaces between thousands. */
export function grouped(value: bigint | number): string {
  return formatCount(value, "\u202f");
}

/** Renders an amount in display units with the exact amount as a tooltip, or in base units if the denom has no display unit. */
export function amount(value: bigint, denom: string, unit: DisplayUnit | undefined): Html | string {
  const exact = formatAmount(value, denom, unit, "\u202f");
  if (unit?.denom !== denom) return exact;
  return html`<span title="${exact}">${formatShort(value, unit, "\u202f")}</span>`;
}
