import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, type Tone } from "../../platform/web/parts.ts";
import { type PaymentState, paymentState, paymentText } from "../payment/payment.ts";
import type { WatchdogStatus } from "../polling/status.ts";
import {
  type ComparedPrices,
  deviationBps,
  formatBps,
  formatPrice,
  type NotCompared,
  type PriceComparison,
} from "../prices/price-comparison.ts";
import type { Payment } from "../sources/payment.ts";
import { countdownText, type UpgradeCountdown } from "../upgrade/upgrade-plan.ts";

/** What the chain says beside the votes: the planned upgrade, the payments, the prices compared. Texts of others are escaped. */
export function chainSections({ upgrade, payments = [], compared }: WatchdogStatus, nowMs: number): Html {
  return html`${upgrade !== undefined && upgradeSection(upgrade, nowMs)}
${paymentSection(payments)}
${compared !== undefined && priceSection(compared)}`;
}

type Row = PriceComparison | NotCompared;

/** The sidecars' prices beside the chain's and the median of all sidecars. Empty when nothing is configured to compare with. */
function priceSection({ comparisons, notCompared }: ComparedPrices): Html | undefined {
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

/** The planned upgrade of the chain. `nowMs`: the time of the page. Texts of the plan are escaped. */
function upgradeSection(upgrade: UpgradeCountdown, nowMs: number): Html {
  const { plan } = upgrade;
  return html`<h3>Upgrade of the chain</h3><p>${countdownText(upgrade, nowMs)}.${
    plan.info !== "" && html`<br><small class="muted">The plan says: ${plan.info}</small>`
  }</p>`;
}

const TONES: Readonly<Record<PaymentState, Tone>> = {
  equal: "good",
  differs: "warn",
  "not-compared": "unknown",
  failed: "bad",
  "none-due": "unknown",
  missing: "warn",
};

/** Payments that the page lists. */
const SHOWN = 3;

/** The payments of the last closed months, newest first. Empty before the first search. */
function paymentSection(payments: readonly Payment[]): Html | undefined {
  if (payments.length === 0) return undefined;
  const items = payments
    .slice(-SHOWN)
    .toReversed()
    .map((payment) => {
      const state = paymentState(payment);
      return html`<li>${badge(TONES[state], STATE_NAMES[state])} ${paymentText(payment)}</li>
`;
    });
  return html`<h3>Payments</h3><ul>${items}</ul>`;
}

/** Names of the states for people. */
const STATE_NAMES: Readonly<Record<PaymentState, string>> = {
  equal: "as expected",
  differs: "differs",
  "not-compared": "not compared",
  failed: "failed",
  "none-due": "none due",
  missing: "missing",
};
