import { formatAmount, formatUnits } from "../../platform/base/display-unit.ts";
import { counted, formatCount, formatFlooredDuration, formatMinute } from "../../platform/base/text.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { CostWindowName } from "../costs/cost-windows.ts";
import { encodeSpending, type SpendingView, unitOf } from "../costs/spending-view.ts";
import { FORECAST_PRICES, type ForecastPrice, type Range } from "../forecast/forecast.ts";
import { heading, paragraph, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";

export interface TextColumn<Row> {
  readonly title: string;
  readonly align?: "right";
  readonly text: (row: Row) => string;
  /** Returns details about the row's value, which the page shows and the report omits. */
  readonly detail?: (row: Row) => string;
  /** Returns true if the operator must act on the row soon. */
  readonly isUrgent?: (row: Row) => boolean;
}

type Window = SpendingView["windows"][number];
type Sum = Pick<Window["rows"][number], "results" | "fee" | "update_fee" | "failed_fee" | "queries">;

/** The costs of an owner or a query in all time windows. */
export interface SpendingRow {
  /** The owner's address or the query's id. */
  readonly key: string;
  readonly owner: string;
  readonly label: string;
  readonly creator: string;
  readonly admin: string;
  readonly windows: ReadonlyMap<CostWindowName, Sum>;
}

export type SpendingText = ReturnType<typeof spendingText>;

const TITLES: Readonly<Record<CostWindowName, string>> = {
  "1h": "Last hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  month: "This month",
};

const REGIMES: Readonly<Record<string, string>> = {
  hours: "the last hours",
  days: "the last days",
  month: "the month so far",
};

const PRICES: Readonly<Record<ForecastPrice, string>> = { now: "present", cap: "gas.max_price" };

/** Formats amounts in full, e.g. "1.5 NTRN (1,500,000 untrn)", and in a table's unit. */
interface Amounts {
  readonly unit: string;
  readonly full: (amount: bigint) => string;
  readonly short: (amount: bigint) => string;
}

/** Returns the texts and table columns that describe the spending, with `separator` between thousands. */
export function spendingText(view: SpendingView, separator: string) {
  const unit = unitOf(view);
  const amounts: Amounts = {
    unit: unit?.name ?? view.denom,
    full: (amount) => formatAmount(amount, view.denom, unit, separator),
    short: (amount) =>
      unit === undefined
        ? formatCount(amount, separator)
        : formatUnits(amount, { ...unit, name: "" }, separator).trim(),
  };
  return {
    /** Name of the unit in the tables. */
    unit: amounts.unit,
    payer: payerText(view, amounts),
    windows: windowColumns(amounts),
    /** The owners or queries, in descending order of cost over 30 days. */
    rows: rowsOf(view),
    columns: rowColumns(view, amounts),
    /** Details about a row, which only the page shows: an owner's last 30 days, or a query's last 24 hours. */
    details: view.by === "owner" ? OWNER_DETAILS : queryDetails(amounts),
    budget: budgetText(view, amounts),
    /** Describes the data on which the forecast is based; empty if there is no forecast. */
    basis: basisText(view, amounts),
    prices: view.forecast === null ? [] : FORECAST_PRICES,
    forecast: view.forecast === null ? [] : forecastColumns(view.forecast, amounts),
    returns:
      "the chain pays no reward for a result, and a query's deposit is between its contract and whoever removes the query.",
  };
}

function payerText({ payer, read_at: nowMs }: SpendingView, { full }: Amounts): string {
  const { address, signer, balance, reserve, fee_grant: grant } = payer;
  const who =
    grant === null
      ? `The relayer's own account ${address} pays.`
      : `${address} pays, by a fee grant to ${signer}.`;
  const left = balance === null ? "Its balance is not known." : `It has ${full(balance)}.`;
  const reserved = reserve > 0n ? ` ${full(reserve)} of it is never spent.` : "";
  return `${who} ${left}${reserved}${grant === null ? "" : ` ${grantText(grant, nowMs ?? 0, full)}`}`;
}

type Grant = NonNullable<SpendingView["payer"]["fee_grant"]>;

function grantText(
  { read, type, known, left, expires_at: expiresAtMs, period, error }: Grant,
  nowMs: number,
  full: Amounts["full"],
): string {
  if (!read) return `The fee grant is not known${error === null ? "" : `: ${error}`}.`;
  if (type === null) return "There is no such fee grant.";
  if (known !== true) return `What is left of the fee grant is not known: ${type}.`;
  const rest = left === null ? "has no total limit" : `has ${full(left)} left`;
  const isOver = expiresAtMs !== null && expiresAtMs <= nowMs;
  const end =
    expiresAtMs === null ? "" : `, ${isOver ? "and ended at" : "until"} ${formatMinute(expiresAtMs)} UTC`;
  const part =
    period === null
      ? ""
      : `; of the present period (${formatFlooredDuration(period.seconds * 1_000)}), ${full(period.left)} of ${full(period.limit)}`;
  return `The fee grant ${rest}${end}${part}.`;
}

function windowColumns({ full, short }: Amounts): readonly TextColumn<Window>[] {
  const all = ({ rows, others }: Window): readonly Sum[] => (others === null ? rows : [...rows, others]);
  const resultsIn = (window: Window): number => all(window).reduce((sum, { results }) => sum + results, 0);
  const sumOf = (window: Window, read: (sum: Sum) => bigint): bigint =>
    all(window).reduce((sum, one) => sum + read(one), 0n);
  return [
    { title: "Paid", text: ({ name }) => TITLES[name] },
    {
      title: "Since (UTC)",
      text: ({ from, covered_from: sinceMs }) =>
        `${formatMinute(sinceMs)}${sinceMs > from ? ", known only since then" : ""}`,
    },
    { title: "Fees", align: "right", text: ({ fee }) => full(fee) },
    {
      title: "Light clients",
      align: "right",
      text: (window) => short(sumOf(window, ({ update_fee: fee }) => fee)),
    },
    {
      title: "Failed transactions",
      align: "right",
      text: (window) => short(sumOf(window, ({ failed_fee: fee }) => fee)),
    },
    {
      title: "Results",
      align: "right",
      text: (window) => formatCount(resultsIn(window)),
      detail: (window) => `${perResult(window.fee, resultsIn(window), short)} each`,
    },
  ];
}

function rowsOf({ windows }: SpendingView): readonly SpendingRow[] {
  const found = new Map<string, SpendingRow & { readonly windows: Map<CostWindowName, Sum> }>();
  for (const { name, rows } of windows)
    for (const row of rows) {
      const { owner, label, creator, admin, query_id: key = owner } = row;
      const names = { label: label ?? "", creator: creator ?? "", admin: admin ?? "" };
      const known = found.get(key) ?? { key, owner, ...names, windows: new Map() };
      known.windows.set(name, row);
      found.set(key, known);
    }
  const feeOf = (row: SpendingRow): bigint => row.windows.get("30d")?.fee ?? 0n;
  return [...found.values()].toSorted((a, b) =>
    feeOf(a) === feeOf(b) ? (a.key < b.key ? -1 : 1) : feeOf(a) > feeOf(b) ? -1 : 1,
  );
}

function rowColumns(
  { by, windows, forecast }: SpendingView,
  { short }: Amounts,
): readonly TextColumn<SpendingRow>[] {
  const months = new Map(forecast?.owners.map(({ owner, month }) => [owner, month]));
  const query: TextColumn<SpendingRow> = { title: "Query", text: ({ key }) => (key === "0" ? "–" : key) };
  const month: TextColumn<SpendingRow> = {
    title: "Whole month",
    align: "right",
    text: ({ owner }) => {
      const range = months.get(owner);
      return range === undefined ? "–" : short(range.expected);
    },
    detail: ({ owner }) => {
      const range = months.get(owner);
      return range === undefined ? "" : `${short(range.low)} to ${short(range.high)}`;
    },
  };
  return [
    ...(by === "query" ? [query] : []),
    {
      title: "Owner",
      text: ({ owner, label }) =>
        owner === "" ? "(no query, or removed)" : `${owner}${label === "" ? "" : ` ${label}`}`,
    },
    ...windows.map(
      ({ name }): TextColumn<SpendingRow> => ({
        title: TITLES[name],
        align: "right",
        text: (row) => short(row.windows.get(name)?.fee ?? 0n),
      }),
    ),
    ...(by === "owner" ? [month] : []),
  ];
}

const OWNER_DETAILS: readonly TextColumn<SpendingRow>[] = [
  { title: "Queries", align: "right", text: ({ windows }) => `${windows.get("30d")?.queries ?? 0}` },
];

function perResult(fee: bigint, results: number, short: Amounts["short"]): string {
  return results === 0 ? "–" : short(fee / BigInt(results));
}

function queryDetails({ short }: Amounts): readonly TextColumn<SpendingRow>[] {
  return [
    dayColumn("Results", ({ results }) => formatCount(results)),
    dayColumn("Light clients", ({ update_fee: fee }) => short(fee)),
    dayColumn("Failed transactions", ({ failed_fee: fee }) => short(fee)),
    dayColumn("A result", ({ fee, results }) => perResult(fee, results, short)),
  ];
}

function dayColumn(title: string, text: (sum: Sum) => string): TextColumn<SpendingRow> {
  return {
    title,
    align: "right",
    text: ({ windows }) => {
      const day = windows.get("24h");
      return day === undefined ? "–" : text(day);
    },
  };
}

function budgetText({ budget, over_budget: over }: SpendingView, { full }: Amounts): string {
  if (budget === null) return "No budget is set (spending.budget).";
  if (over === "spent") return `Over budget: more than ${full(budget)} was paid this month.`;
  if (over === "forecast") return `Over budget by forecast: the month will cost more than ${full(budget)}.`;
  return `Within the budget of ${full(budget)} a month.`;
}

function basisText({ forecast }: SpendingView, { unit, short }: Amounts): string {
  if (forecast === null) return "None yet: the relayer must run for ten minutes first.";
  const { width, regimes, new_queries: fresh, gone_queries: gone } = forecast;
  const names = regimes
    .map(({ name, fee_per_day: fee }) => `${REGIMES[name] ?? name} (${short(fee)} a day)`)
    .join(", ");
  return `In ${unit}, from ${names}, ± ${Math.round(width * 100)} % for the spread of the hours. ${counted(fresh, "new query", "new queries")}, ${counted(gone, "query", "queries")} gone.`;
}

function forecastColumns(
  { per_day: perDay, month, empty }: NonNullable<SpendingView["forecast"]>,
  { short }: Amounts,
): readonly TextColumn<ForecastPrice>[] {
  const ranges = ({ low, expected, high }: Range): string =>
    `${short(expected)} (${short(low)} to ${short(high)})`;
  return [
    { title: "Gas price", text: (price) => PRICES[price] },
    { title: "A day", align: "right", text: (price) => ranges(perDay[price]) },
    { title: "The whole month", align: "right", text: (price) => ranges(month[price]) },
    {
      title: "Account or grant empty in",
      align: "right",
      text: (price) => emptyText(empty[price]),
      isUrgent: (price) => (empty[price]?.soonest_seconds ?? Infinity) * 1_000 < SOON_MS,
    },
  ];
}

/** Time left below which an account that runs empty needs attention. */
const SOON_MS = 3 * DAY_MS;
/** Replaces longer times, which are meaningless because prices and queries will have changed by then. */
const LONG = "more than a year";

function emptyText(left: NonNullable<SpendingView["forecast"]>["empty"]["now"]): string {
  if (left === null) return "not known";
  const textOf = (seconds: number | null): string => {
    if (seconds === null) return "never";
    return seconds * 1_000 > 365 * DAY_MS ? LONG : formatFlooredDuration(seconds * 1_000);
  };
  const soonest = textOf(left.soonest_seconds);
  return soonest === LONG
    ? LONG
    : `${textOf(left.expected_seconds)} (${soonest} to ${textOf(left.latest_seconds)})`;
}

/** Maximum number of rows in the main table. The JSON and CSV formats contain all rows. */
const MAX_ROWS = 50;

/** Creates the `report relayer --by owner|query` output with the payer, the costs by owner or query, and the forecast. */
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
