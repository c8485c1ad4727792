import { formatAmount, formatUnits } from "../../platform/base/display-unit.ts";
import { counted, formatCount, formatFlooredDuration, formatMinute } from "../../platform/base/text.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import type { CostWindowName } from "../costs/cost-windows.ts";
import { type SpendingData, unitOf } from "./spending-data.ts";

const TITLES: Readonly<Record<CostWindowName, string>> = {
  "1h": "Last hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  month: "This month",
};

/** Rows of the main table. JSON and CSV have all. */
const MAX_ROWS = 50;

/** Creates `report relayer --by owner|query`: who pays, for whom, and what it will be. `response` is the relayer's JSON. */
export function spendingReport(data: SpendingData, response: JsonObject): Report {
  const rows = rowsOf(data);
  return {
    title: `Relayer's spending by ${data.by}${data.read_at === null ? "" : `, ${formatMinute(Date.parse(data.read_at))} UTC`}`,
    outcome: outcomeOf(data),
    blocks: [
      { kind: "text", text: payerText(data) },
      ...(data.incomplete === null ? [] : [text(`The sums may be incomplete: ${data.incomplete}.`)]),
      windowTable(data),
      { kind: "heading", text: data.by === "owner" ? "By owner of the queries" : "By query" },
      ...rowBlocks(data, rows),
      { kind: "heading", text: "Forecast" },
      ...forecastBlocks(data),
      { kind: "heading", text: "What comes back" },
      text(
        "Nothing: the chain pays no reward for a result, and a query's deposit is between its contract and whoever removes the query.",
      ),
    ],
    data: { report: "relayer-spending", ...response },
    csv: {
      columns: [
        data.by === "owner" ? "owner" : "query_id",
        "label",
        ...data.windows.map(({ name }) => `fee_${name}`),
      ],
      rows: rows.map(({ key, label, fees }) => [
        key,
        label,
        ...data.windows.map(({ name }) => `${fees.get(name) ?? 0n}`),
      ]),
    },
  };
}

function outcomeOf({ read_at, incomplete, over_budget }: SpendingData): ReportOutcome {
  if (read_at === null) return "unseen";
  return incomplete === null && over_budget === null ? "fine" : "problem";
}

function text(words: string): ReportBlock {
  return { kind: "text", text: words };
}

/** An amount with its unit, beside base units. */
function full(amount: bigint, data: SpendingData): string {
  return formatAmount(amount, data.denom, unitOf(data), ",");
}

/** An amount in the unit that {@link unitText} names. */
function short(amount: bigint, data: SpendingData): string {
  const unit = unitOf(data);
  return unit === undefined ? formatCount(amount) : formatUnits(amount, { ...unit, name: "" }, ",").trim();
}

function unitText(data: SpendingData): string {
  return unitOf(data)?.name ?? data.denom;
}

function payerText(data: SpendingData): string {
  const { address, signer, balance, reserve, fee_grant: grant } = data.payer;
  const who =
    grant === null
      ? `The relayer's own account ${address} pays.`
      : `${address} pays, by a fee grant to ${signer}.`;
  const left = balance === null ? "Its balance is not known." : `It has ${full(balance, data)}.`;
  const kept = reserve > 0n ? ` ${full(reserve, data)} of it are never spent.` : "";
  return `${who} ${left}${kept}${grant === null ? "" : ` ${grantText(grant, data)}`}`;
}

function grantText(grant: NonNullable<SpendingData["payer"]["fee_grant"]>, data: SpendingData): string {
  const { read, type, known, left, expires_at: expiresAt, period } = grant;
  if (!read) return "The fee grant is not known.";
  if (type === null) return "There is no such fee grant.";
  if (known !== true) return `What is left of the fee grant is not known: ${type}.`;
  const amount =
    left === null ? "The fee grant has no limit in all" : `The fee grant has ${full(left, data)} left`;
  const end = expiresAt === null ? "" : `, until ${formatMinute(Date.parse(expiresAt))} UTC`;
  const part =
    period === null
      ? ""
      : `; of the present period, ${full(period.left, data)} of ${full(period.limit, data)}`;
  return `${amount}${end}${part}.`;
}

function windowTable(data: SpendingData): ReportBlock {
  return {
    kind: "table",
    columns: [
      { title: "Paid" },
      { title: "Since (UTC)" },
      { title: "Fees", align: "right" },
      { title: "Light clients", align: "right" },
      { title: "Failed transactions", align: "right" },
      { title: "Results", align: "right" },
    ],
    rows: data.windows.map(({ name, covered_from: since, fee, rows, others }) => {
      const all = others === null ? rows : [...rows, others];
      return [
        TITLES[name],
        formatMinute(Date.parse(since)),
        full(fee, data),
        short(
          all.reduce((sum, { update_fee: part }) => sum + part, 0n),
          data,
        ),
        short(
          all.reduce((sum, { failed_fee: part }) => sum + part, 0n),
          data,
        ),
        formatCount(all.reduce((sum, { results }) => sum + results, 0)),
      ];
    }),
  };
}

/** A row of the main table: an owner or a query. */
interface Row {
  readonly key: string;
  readonly owner: string;
  readonly label: string;
  readonly fees: ReadonlyMap<CostWindowName, bigint>;
}

/** All owners or queries of all windows, the most expensive of the longest window first. */
function rowsOf(data: SpendingData): readonly Row[] {
  const found = new Map<
    string,
    { readonly owner: string; readonly label: string; fees: Map<CostWindowName, bigint> }
  >();
  for (const { name, rows } of data.windows)
    for (const { owner, label, query_id: id, fee } of rows) {
      const key = id ?? owner;
      const row = found.get(key) ?? { owner, label: label ?? "", fees: new Map() };
      row.fees.set(name, fee);
      found.set(key, row);
    }
  const feeOf = ({ fees }: Row): bigint => fees.get("30d") ?? 0n;
  return [...found]
    .map(([key, row]): Row => ({ key, ...row }))
    .toSorted((a, b) => (feeOf(a) === feeOf(b) ? (a.key < b.key ? -1 : 1) : feeOf(a) > feeOf(b) ? -1 : 1));
}

function rowBlocks(data: SpendingData, rows: readonly Row[]): readonly ReportBlock[] {
  if (rows.length === 0) return [text("Nothing was paid yet.")];
  const isByOwner = data.by === "owner";
  const forecasts = new Map(data.forecast?.owners.map(({ owner, month }) => [owner, month]));
  const shown = rows.slice(0, MAX_ROWS);
  const rest = rows.length - shown.length;
  return [
    text(`In ${unitText(data)}.${rest > 0 ? ` The ${MAX_ROWS} most expensive of ${rows.length}.` : ""}`),
    {
      kind: "table",
      columns: [
        ...(isByOwner ? [] : [{ title: "Query" }]),
        { title: "Owner" },
        ...data.windows.map(({ name }) => ({ title: TITLES[name], align: "right" as const })),
        ...(isByOwner ? [{ title: "Whole month", align: "right" as const }] : []),
      ],
      rows: shown.map(({ key, owner, label, fees }) => {
        const month = forecasts.get(owner);
        return [
          ...(isByOwner ? [] : [key === "0" ? "–" : key]),
          owner === "" ? "(no query, or removed)" : `${owner}${label === "" ? "" : ` ${label}`}`,
          ...data.windows.map(({ name }) => short(fees.get(name) ?? 0n, data)),
          ...(isByOwner ? [month === undefined ? "–" : short(month.expected, data)] : []),
        ];
      }),
    },
  ];
}

function forecastBlocks(data: SpendingData): readonly ReportBlock[] {
  const { forecast } = data;
  const budget = text(budgetText(data));
  if (forecast === null) return [budget, text("None yet: it needs ten minutes of running.")];
  const { width, new_queries: fresh, gone_queries: gone } = forecast;
  const ranges = ({ low, expected, high }: (typeof forecast.month)["now"]): string =>
    `${short(expected, data)} (${short(low, data)} to ${short(high, data)})`;
  return [
    budget,
    text(
      `In ${unitText(data)}, from ${forecast.regimes.map(({ name }) => REGIMES[name] ?? name).join(", ")}, and ${Math.round(width * 100)} % on both sides for the spread of the hours. ${counted(fresh, "new query", "new queries")}, ${counted(gone, "query", "queries")} gone.`,
    ),
    {
      kind: "table",
      columns: [
        { title: "Gas price" },
        { title: "A day", align: "right" },
        { title: "The whole month", align: "right" },
        { title: "Account or grant empty in", align: "right" },
      ],
      rows: (["now", "cap"] as const).map((price) => [
        price === "now" ? "present" : "gas.max_price",
        ranges(forecast.per_day[price]),
        ranges(forecast.month[price]),
        emptyText(forecast.empty[price]),
      ]),
    },
  ];
}

const REGIMES: Readonly<Record<string, string>> = {
  hours: "the last hours",
  days: "the last days",
  month: "the month so far",
};

function budgetText(data: SpendingData): string {
  const { budget, over_budget: over } = data;
  if (budget === null) return "No budget is set (spending.budget).";
  if (over === "spent") return `Over budget: more than ${full(budget, data)} was paid this month.`;
  if (over === "forecast")
    return `Over budget by forecast: the month will cost more than ${full(budget, data)}.`;
  return `Within the budget of ${full(budget, data)} a month.`;
}

function emptyText(left: NonNullable<SpendingData["forecast"]>["empty"]["now"]): string {
  if (left === null) return "not known";
  const [soonest, expected, latest] = [left.soonest_seconds, left.expected_seconds, left.latest_seconds].map(
    (seconds) => (seconds === null ? "never" : durationText(seconds * 1_000)),
  );
  return soonest === LONG ? LONG : `${expected} (${soonest} to ${latest})`;
}

/** Longer times say nothing: prices and queries will have changed. */
const LONG = "more than a year";

function durationText(ms: number): string {
  return ms > 365 * DAY_MS ? LONG : formatFlooredDuration(ms);
}
