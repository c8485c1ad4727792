import type { DaemonPage } from "../alerts/links.ts";
import { SEVERITIES, type Severity } from "../severity.ts";

/**
 * Grafana's units, plus this project's own `NTRN` (a million base units of the fee denom), `blocks`, `days`, `results/s`, `gas` and
 * `gas/s`. A column for labels has the unit `string`, because the panel's unit would show query id 1 as "1 blocks".
 */
type Unit =
  | "percentunit"
  | "s"
  | "short"
  | "none"
  | "string"
  | "bytes"
  | "Bps"
  | "ops"
  | "dateTimeFromNow"
  | "NTRN"
  | "blocks"
  | "days"
  | "gas"
  | "gas/s"
  | "results/s";

export interface QuerySpec {
  readonly expr: string;
  /** Legend, in which Grafana replaces `{{label}}` with the label's value. */
  readonly legend: string;
  /** Unit of the query's values; by default, the panel's unit. */
  readonly unit?: Unit;
}

/** One of a metric's states, with the number, the word to show, and the colour. */
export type StateSpec = readonly [value: number, text: string, color: string];

/** A table column, which shows a label or, if `label` is `Value`, the query's value. */
export interface ColumnSpec {
  readonly label: string;
  readonly title: string;
  readonly colors?: Readonly<Record<string, string>>;
  /** Words that replace the label's values on screen; links still use the original values. */
  readonly words?: Readonly<Record<string, string>>;
  /** Words and colours for the column's numbers. */
  readonly states?: readonly StateSpec[];
  /** Colours for ranges of the column's numbers. */
  readonly steps?: ColorSteps;
  /** Target of a link on each cell: an alert's runbook, or a dashboard whose `variable` is set to the cell's value. */
  readonly leadsTo?: "runbook" | { readonly dashboard: string; readonly variable: string };
  readonly unit?: Unit;
  readonly decimals?: number;
  /** Width in pixels. Columns without a width share the remaining space. */
  readonly width?: number;
}

/** Colour steps: each colour applies above its value, as in [["red", undefined], ["green", 1]]. */
export type ColorSteps = readonly (readonly [string, number | undefined])[];

/** A dashboard panel's contents, from which Grafana's JSON is generated. */
export interface PanelSpec {
  readonly kind: "stat" | "graph" | "table" | "timeline";
  readonly title: string;
  /** The panel's meaning, and the action to take if the value is bad. */
  readonly description: string;
  readonly unit: Unit;
  /** Width in Grafana's grid of 24 columns. */
  readonly width: number;
  readonly queries: readonly QuerySpec[];
  readonly decimals?: number;
  /** Minimum and maximum of the panel's axis. */
  readonly range?: readonly [number, number];
  /** Makes the axis logarithmic, for values that span several orders of magnitude. */
  readonly logAxis?: true;
  readonly colors?: ColorSteps;
  /** Words and colours for values, which a timeline requires, because its default colours are a heat map's. */
  readonly states?: readonly StateSpec[];
  /** Text that the panel shows for values from `from` upward, e.g. because an estimate in centuries is meaningless. */
  readonly enough?: readonly [from: number, text: string];
  /** Names of the series that are limits, which a graph draws as dashed lines. */
  readonly limits?: RegExp;
  /** Makes a stat show its series' names as well as values. */
  readonly show?: "name and value";
  /** Makes the panel always show this much time before now, regardless of the dashboard's range. */
  readonly last?: "6h" | "1h";
  /** Uid of the dashboard that a click on a number opens. */
  readonly leadsTo?: string;
  /** Text for a panel without data, because nothing is wrong or the component is not in use. */
  readonly emptyText?: string;
  /** A table's columns in order: the labels to which its queries aggregate, and the value. */
  readonly columns?: readonly ColumnSpec[];
  /**
   * Shows a table as a plain list, without column headings and border, for data that is normally empty. An empty list is only one
   * line high.
   */
  readonly isList?: true;
  /** Height in rows of 38 pixels; by default, 4 for a stat, 5 for a table, 8 otherwise. */
  readonly height?: number;
}

/** A dashboard row, i.e. panels under one heading. The third and all later rows are collapsed when the dashboard opens. */
export interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
  /** Collapses even the second row, because not every user runs the component that the row's panels show. */
  readonly closed?: true;
}

/** A variable whose values come from a metric's label. */
export interface VariableSpec {
  readonly name: string;
  readonly label: string;
  /** Metric and label that provide the values. */
  readonly metric: string;
  readonly from: string;
  /** Allows the user to select only one value. */
  readonly single?: true;
  readonly numeric?: true;
}

export interface DashboardSpec {
  readonly uid: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly VariableSpec[];
  /** Time range when the dashboard opens: the current month, or the last few hours. */
  readonly range: "month" | "hours";
  /** PromQL expressions for restart times in milliseconds (`restarts`) and for firing alerts (`alerts`). */
  readonly restarts: string;
  readonly alerts: string;
  readonly rows: readonly RowSpec[];
  readonly pages: readonly DaemonPage[];
}

export function query(expr: string, legend: string, unit?: QuerySpec["unit"]): QuerySpec {
  return { expr, legend, ...(unit === undefined ? {} : { unit }) };
}

/** Returns a timeline's states for a metric that is 1 or 0. */
export function upOrDown(up: string, down: string): readonly StateSpec[] {
  return [
    [0, down, "red"],
    [1, up, "green"],
  ];
}

/** PromQL label matchers for the processes that the user selects with {@link processVariables}. */
export const PROCESSES = 'job=~"$job",instance=~"$instance"';

/** Returns the variables `job` and `instance`, whose values come from `metric`, which every process must export. */
export function processVariables(metric: string): readonly VariableSpec[] {
  return [
    { name: "job", label: "Job", metric, from: "job" },
    { name: "instance", label: "Instance", metric: `${metric}{job=~"$job"}`, from: "instance" },
  ];
}

/**
 * Returns an expression for the number of the current state in `states`. The metric must have the label `state`, and be 1 for the
 * current state. The result has one series for each combination of the labels in `by`.
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

export const BAD_ABOVE_ZERO: ColorSteps = [
  ["green", undefined],
  ["red", 1],
];

/**
 * Returns the query for the annotation that marks restarts. The metric's value is the annotation's time, so a restart is marked
 * even if the process was down for up to a day. Changes of up to two seconds are ignored, because the kernel's clock can shift the
 * start time by a second without a restart.
 */
export function restartsOf(selector: string): string {
  const start = `process_start_time_seconds{${selector}}`;
  return `(${start} > min_over_time(${start}[1d]) + 2) * 1000`;
}

/** The panel fields that the functions below do not set themselves. */
type PanelRest = Omit<PanelSpec, "kind" | "title" | "queries" | "width"> & { readonly width?: number };

export function stat(title: string, queries: readonly QuerySpec[], more: PanelRest): PanelSpec {
  return { kind: "stat", title, queries, width: 4, ...more };
}

export function table(title: string, expressions: readonly string[], more: PanelRest): PanelSpec {
  return { kind: "table", title, queries: expressions.map((expr) => query(expr, "")), width: 24, ...more };
}

export function timeline(
  title: string,
  queries: readonly QuerySpec[],
  more: Omit<PanelRest, "unit" | "states"> & { readonly states: readonly StateSpec[] },
): PanelSpec {
  return { kind: "timeline", title, queries, width: 12, unit: "none", ...more };
}

export function graph(title: string, queries: readonly QuerySpec[], more: PanelRest): PanelSpec {
  return { kind: "graph", title, queries, width: 12, ...more };
}

/** Column widths in lists of alerts, wide enough for "critical" and for "a few seconds ago", respectively. */
export const STATE_WIDTH = 80;
export const SINCE_WIDTH = 145;

export const SEVERITY_COLORS = { critical: "red", warning: "orange", info: "blue" } as const;

/** Returns the dashboard with each alert's name replaced by the alert's title from `titles`. */
export function withAlertTitles(
  { rows, ...spec }: DashboardSpec,
  titles: Readonly<Record<string, string>>,
): DashboardSpec {
  const titled = (column: ColumnSpec): ColumnSpec =>
    column.leadsTo === "runbook" ? { ...column, words: titles } : column;
  const panelOf = (panel: PanelSpec): PanelSpec =>
    panel.columns === undefined ? panel : { ...panel, columns: panel.columns.map(titled) };
  return { ...spec, rows: rows.map((row) => ({ ...row, panels: row.panels.map(panelOf) })) };
}

/**
 * Returns a list of alerts, sorted by state, then by severity, then oldest first, because the oldest alert is often the cause.
 * `times` returns an expression for the time, in seconds, at which each alert with a given severity entered a given state.
 */
export function alertList(
  states: readonly string[],
  times: (state: string, severity: Severity) => string,
  about: Pick<PanelSpec, "description" | "columns">,
): PanelSpec {
  const each = states.flatMap((state) =>
    SEVERITIES.map((severity) => `sort(${times(state, severity)} * 1000)`),
  );
  return {
    ...about,
    kind: "table",
    title: "Alerts",
    unit: "none",
    width: 24,
    height: 4,
    isList: true,
    queries: [query(each.join(" or "), "")],
    emptyText: "No alert is firing or pending",
  };
}

/** Returns a list of alerts that Prometheus evaluates, selected by `selector`, except those excluded by `except` ("unless …"). */
export function ruleAlerts(selector: string, place: readonly ColumnSpec[], except = ""): PanelSpec {
  const labels = ["alertstate", "severity", "runbook", ...place.map(({ label }) => label)];
  // Two components can report the same alert. The earlier report determines the start time.
  const since = (state: string, severity: Severity): string =>
    `min by (${labels.join(", ")}) (ALERTS{${selector},alertstate="${state}",severity="${severity}"} * ignoring(alertstate) group_left() ALERTS_FOR_STATE{${selector},severity="${severity}"}${except})`;
  return alertList(["firing", "pending"], since, {
    description:
      "The firing alerts of the rules, followed by the pending alerts. Each name links to the alert's runbook.",
    columns: [
      {
        label: "alertstate",
        title: "State",
        colors: { firing: "red", pending: "yellow" },
        width: STATE_WIDTH,
      },
      { label: "severity", title: "Severity", colors: SEVERITY_COLORS, width: STATE_WIDTH },
      { label: "runbook", title: "Alert", leadsTo: "runbook" },
      ...place,
      { label: "Value", title: "Since", unit: "dateTimeFromNow", width: SINCE_WIDTH },
    ],
  });
}
