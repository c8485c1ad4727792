import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { type Column, dataTable } from "../../platform/web/parts.ts";
import {
  type ComparedPrices,
  deviationBps,
  formatBps,
  formatPrice,
  type NotCompared,
  type PriceComparison,
} from "./price-comparison.ts";

type Row = PriceComparison | NotCompared;

/** The sidecars' prices beside the chain's and the median of all sidecars. Empty when nothing is configured to compare with. */
export function priceSection({ comparisons, notCompared }: ComparedPrices): Html | undefined {
  // One sidecar alone has no median, which is normal.
  const refused = notCompared.filter(({ reference }) => reference === "chain");
  if (comparisons.length + refused.length === 0) return undefined;
  const rows: readonly Row[] = [...comparisons, ...refused];
  const nodes = new Set(rows.map(({ node }) => node));
  const columns: readonly Column<Row>[] = [
    ...(nodes.size > 1 ? [{ name: "node", cell: ({ node }: Row) => node }] : []),
    { name: "pair", cell: ({ pair }) => pair },
    { name: "compared with", cell: (row) => referenceText(row) },
    { name: "own price", isNumber: true, cell: (row) => valueText(row, "own") },
    { name: "other price", isNumber: true, cell: (row) => valueText(row, "other") },
    {
      name: "apart",
      isNumber: true,
      cell: (row) => ("reason" in row ? `not known: ${row.reason}` : formatBps(deviationBps(row))),
    },
    {
      name: "age of the other",
      isNumber: true,
      cell: (row) => ("reason" in row ? "–" : formatDuration(row.ageMs)),
    },
  ];
  return html`<h3>Prices compared</h3>${dataTable({ caption: counted(rows.length, "comparison"), columns, rows })}`;
}

function referenceText(row: Row): string {
  if (row.reference === "chain") return "the chain";
  return "reason" in row ? "other sidecars" : `median of ${row.sidecars} sidecars`;
}

function valueText(row: Row, name: "own" | "other"): string {
  return "reason" in row ? "–" : formatPrice(row[name], row.decimals);
}
