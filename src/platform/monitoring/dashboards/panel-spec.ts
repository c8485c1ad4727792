import type { DaemonPage } from "../alerts/links.ts";

/** Units of Grafana, and our own: `NTRN` for a million base units of the fee denom, `blocks`, `results/s`, `gas` and `gas/s`. */
type Unit =
  | "percentunit"
  | "s"
  | "short"
  | "none"
  | "bytes"
  | "Bps"
  | "ops"
  | "dateTimeFromNow"
  | "NTRN"
  | "blocks"
  | "gas"
  | "gas/s"
  | "results/s";

/** One query of a panel. */
export interface QuerySpec {
  readonly expr: string;
  /** Legend, with `{{label}}`. */
  readonly legend: string;
  /** Unit of its values, where it differs from the panel's. */
  readonly unit?: Unit;
}

/** A value of a state: the number, its word and its colour. */
export type StateSpec = readonly [value: number, text: string, color: string];

/** A table's column: the label that it shows. `Value` is the query's value. */
export interface ColumnSpec {
  readonly label: string;
  readonly title: string;
  /** Colours of its texts. */
  readonly colors?: Readonly<Record<string, string>>;
  /** Where a click on a cell leads: the alert's runbook, or a dashboard with this variable set to the cell. */
  readonly link?: "runbook" | { readonly dashboard: string; readonly variable: string };
  readonly unit?: Unit;
}

/** Colour of a value and what it is above: [["red", undefined], ["green", 1]]. */
export type ColorSteps = readonly (readonly [string, number | undefined])[];

/** The contents of a panel, independent of Grafana's JSON. */
export interface PanelSpec {
  readonly kind: "stat" | "graph" | "table" | "timeline";
  readonly title: string;
  /** Its meaning, and what to do when the value is bad. */
  readonly description: string;
  readonly unit: Unit;
  /** Of 24 columns. */
  readonly width: number;
  readonly queries: readonly QuerySpec[];
  readonly decimals?: number;
  /** Lower and upper end of the axis. */
  readonly range?: readonly [number, number];
  /** Logarithmic axis, for values of several magnitudes. */
  readonly logAxis?: true;
  readonly colors?: ColorSteps;
  /** Colours of series by name. */
  readonly seriesColors?: Readonly<Record<string, string>>;
  /** Words and colours of values. A timeline needs them: its default colours are those of a heat map. */
  readonly states?: readonly StateSpec[];
  /** Values from here on are shown as this text: an estimate of centuries says nothing. */
  readonly enough?: readonly [from: number, text: string];
  /** Series with limits, drawn as dashed lines. */
  readonly limits?: RegExp;
  /** What a stat shows: the name of its series instead of the value, or both. */
  readonly show?: "name" | "name and value";
  /** The panel shows this range before now, whatever the dashboard's range is. */
  readonly last?: "6h" | "1h";
  /** The panel has no data while all is well, or where a part is not in use; Grafana shows this text. */
  readonly emptyText?: string;
  /** A table's columns, in this order: the labels to which its queries aggregate, and the value. */
  readonly columns?: readonly ColumnSpec[];
  /** Rows of 38 pixels. By default 4 for a stat, 5 for a table, 8 otherwise. */
  readonly height?: number;
}

/** Panels under one heading. From the third row on they are closed when the dashboard opens. */
export interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
}

/** A variable whose values are a metric's label. */
export interface VariableSpec {
  readonly name: string;
  readonly label: string;
  /** Metric and label whose values it has. */
  readonly metric: string;
  readonly from: string;
  /** One value only. */
  readonly single?: true;
  /** The values are numbers. */
  readonly numeric?: true;
}

/** A dashboard. */
export interface DashboardSpec {
  readonly uid: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly VariableSpec[];
  /** Default range: this month, or hours. */
  readonly range: "month" | "hours";
  /** Expression whose values are the times of restarts in milliseconds, and expression of firing alerts. */
  readonly restarts: string;
  readonly alerts: string;
  readonly rows: readonly RowSpec[];
  /** Pages of the daemons that it links to. */
  readonly pages: readonly DaemonPage[];
}

/** Returns a query. */
export function query(expr: string, legend: string, unit?: QuerySpec["unit"]): QuerySpec {
  return { expr, legend, ...(unit === undefined ? {} : { unit }) };
}

/** A timeline's words for a metric that is 1 or 0. */
export function upOrDown(up: string, down: string): readonly StateSpec[] {
  return [
    [0, down, "red"],
    [1, up, "green"],
  ];
}

/**
 * Returns an expression for a metric that has the label `state` and is 1 for the present one: the state's number in `states`, one row for each
 * value of the labels in `by`.
 */
export function stateCode({
  metric,
  selector,
  by,
  states,
  label = "state",
}: {
  readonly metric: string;
  readonly selector: string;
  readonly by: string;
  readonly states: readonly StateSpec[];
  readonly label?: string;
}): string {
  const one = ([value, text]: StateSpec): string => `${metric}{${selector},${label}="${text}"} * ${value}`;
  return `max by (${by}) (${states.map(one).join(" or ")})`;
}

/** Red from 1 on. */
export const BAD_ABOVE_ZERO: ColorSteps = [
  ["green", undefined],
  ["red", 1],
];

/**
 * Returns the annotation of restarts of these jobs: the time is the metric's value, so a restart is marked however long it took, up to a day. A
 * start is computed from the kernel's clock, and varies by a second without a restart.
 */
export function restartsOf(selector: string): string {
  const start = `process_start_time_seconds{${selector}}`;
  return `(${start} > min_over_time(${start}[1d]) + 2) * 1000`;
}

/** Returns a panel with one number. */
export function stat(
  title: string,
  queries: readonly QuerySpec[],
  more: Omit<PanelSpec, "kind" | "title" | "queries" | "width"> & { readonly width?: number },
): PanelSpec {
  return { kind: "stat", title, queries, width: 4, ...more };
}

/** Returns a panel with lines over time. */
export function graph(
  title: string,
  queries: readonly QuerySpec[],
  more: Omit<PanelSpec, "kind" | "title" | "queries" | "width"> & { readonly width?: number },
): PanelSpec {
  return { kind: "graph", title, queries, width: 12, ...more };
}

/** Colours of severities in tables. */
export const SEVERITY_COLORS = { critical: "red", warning: "orange", info: "blue" } as const;

/** Returns a table of Prometheus' own alerts: what fires, then what is pending, with the time since. `selector` chooses them. */
export function ruleAlerts(selector: string, place: readonly ColumnSpec[]): PanelSpec {
  const labels = ["alertstate", "severity", "alertname", ...place.map(({ label }) => label), "runbook"];
  const alerts = (state: string): string =>
    `max by (${labels.join(", ")}) (ALERTS{${selector},alertstate="${state}"} * ignoring(alertstate) group_left() ALERTS_FOR_STATE{${selector}}) * 1000`;
  return {
    kind: "table",
    title: "Alerts",
    description: "Firing alerts of the rules, then pending ones. The last column leads to the runbook.",
    unit: "none",
    width: 24,
    queries: [query(`${alerts("firing")} or ${alerts("pending")}`, "")],
    emptyText: "No alert fires or is pending",
    columns: [
      { label: "alertstate", title: "State", colors: { firing: "red", pending: "yellow" } },
      { label: "severity", title: "Severity", colors: SEVERITY_COLORS },
      { label: "alertname", title: "Alert" },
      ...place,
      { label: "Value", title: "Since", unit: "dateTimeFromNow" },
      { label: "runbook", title: "Runbook", link: "runbook" },
    ],
  };
}
