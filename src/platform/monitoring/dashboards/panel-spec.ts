import type { DaemonPage } from "../alerts/links.ts";
import { SEVERITIES, type Severity } from "../severity.ts";

/**
 * Grafana's units, and this project's own: `NTRN` for a million base units of the fee denom, `blocks`, `days`, `results/s`, `gas`
 * and `gas/s`. A label has the unit `string`, because the panel's unit would make query id 1 appear as "1 blocks".
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
  /** Legend, which may contain `{{label}}`. */
  readonly legend: string;
  /** Unit of the query's values if it differs from the panel's. */
  readonly unit?: Unit;
}

/** A state: its number, its word and its colour. */
export type StateSpec = readonly [value: number, text: string, color: string];

/** A table column for a label, or for the query's value if the label is `Value`. */
export interface ColumnSpec {
  readonly label: string;
  readonly title: string;
  readonly colors?: Readonly<Record<string, string>>;
  /** Words to show instead of the column's original texts, which links still use. */
  readonly words?: Readonly<Record<string, string>>;
  /** Words and colours for the column's numbers. */
  readonly states?: readonly StateSpec[];
  /** Colours for the column's numbers. */
  readonly steps?: ColorSteps;
  /** Target of a link on a cell: the alert's runbook, or a dashboard with this variable set to the cell. */
  readonly leadsTo?: "runbook" | { readonly dashboard: string; readonly variable: string };
  readonly unit?: Unit;
  readonly decimals?: number;
  /** Width in pixels. Columns without one share the remaining width. */
  readonly width?: number;
}

/** Colours, each with the value above which it applies: [["red", undefined], ["green", 1]]. */
export type ColorSteps = readonly (readonly [string, number | undefined])[];

/** A panel's contents, independent of Grafana's JSON. */
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
  /** Minimum and maximum of the axis. */
  readonly range?: readonly [number, number];
  /** Makes the axis logarithmic, for values that span several orders of magnitude. */
  readonly logAxis?: true;
  readonly colors?: ColorSteps;
  /** Words and colours for values, which a timeline requires, because its default colours are those of a heat map. */
  readonly states?: readonly StateSpec[];
  /** Text that the panel shows for values from `from` upward, e.g. because an estimate in centuries is meaningless. */
  readonly enough?: readonly [from: number, text: string];
  /** Names of series that are limits, which are drawn as dashed lines. */
  readonly limits?: RegExp;
  /** Makes a stat show its series' names as well as values. */
  readonly show?: "name and value";
  /** Makes the panel always show this much time before now, regardless of the dashboard's range. */
  readonly last?: "6h" | "1h";
  /** Uid of the dashboard that a click on a number opens. */
  readonly leadsTo?: string;
  /** Text that Grafana shows if the panel has no data, because all is well or a component is not in use. */
  readonly emptyText?: string;
  /** A table's columns in order: the labels to which its queries aggregate, and the value. */
  readonly columns?: readonly ColumnSpec[];
  /**
   * Makes a table a plain list, without column headings and box, for data that is normally empty. An empty list takes up only one
   * line.
   */
  readonly isList?: true;
  /** Height in rows of 38 pixels; by default, 4 for a stat, 5 for a table, 8 otherwise. */
  readonly height?: number;
}

/** Panels under one heading. All rows from the third on are collapsed when the dashboard opens. */
export interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
  /** Collapses the row even if it is the second one, because its panels need a component that not every user runs. */
  readonly closed?: true;
}

/** A variable whose values come from a metric's label. */
export interface VariableSpec {
  readonly name: string;
  readonly label: string;
  /** Metric and label that provide the values. */
  readonly metric: string;
  readonly from: string;
  /** Allows only one selected value. */
  readonly single?: true;
  readonly numeric?: true;
}

export interface DashboardSpec {
  readonly uid: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly VariableSpec[];
  /** Default time range: this month, or the last few hours. */
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

/** Label matchers for the processes chosen with {@link processVariables}. */
export const PROCESSES = 'job=~"$job",instance=~"$instance"';

/** Returns the variables for processes, whose values come from a metric that every process exports. */
export function processVariables(metric: string): readonly VariableSpec[] {
  return [
    { name: "job", label: "Job", metric, from: "job" },
    { name: "instance", label: "Instance", metric: `${metric}{job=~"$job"}`, from: "instance" },
  ];
}

/**
 * Returns an expression that converts a metric with the label `state` to the number of the current state in `states`. The metric
 * must be 1 for the current state. The result has one series for each combination of the labels in `by`.
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
 * Returns the query for the annotation that marks restarts. The annotation's time is the metric's value, so even a restart that
 * took up to a day is marked. Ignores changes of up to two seconds, because the start time, which comes from the kernel's clock,
 * can vary by a second without a restart.
 */
export function restartsOf(selector: string): string {
  const start = `process_start_time_seconds{${selector}}`;
  return `(${start} > min_over_time(${start}[1d]) + 2) * 1000`;
}

/** The fields of a panel that the function for its kind does not set. */
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

/** Column widths in lists of alerts, wide enough for "critical" and for "a few seconds ago". */
export const STATE_WIDTH = 80;
export const SINCE_WIDTH = 145;

export const SEVERITY_COLORS = { critical: "red", warning: "orange", info: "blue" } as const;

/** Returns the dashboard with alerts' titles instead of names. `titles` maps names to titles. */
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
 * Returns a list of alerts sorted by state, then by severity, then oldest first, because the oldest alert is often the cause.
 * `times` returns an expression for the time in seconds at which each alert with this state and severity entered the state. An
 * empty list takes up only one line.
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

/**
 * Returns a list of Prometheus's own alerts. `selector` selects the alerts, and `except` may exclude some of them with "unless …".
 */
export function ruleAlerts(selector: string, place: readonly ColumnSpec[], except = ""): PanelSpec {
  const labels = ["alertstate", "severity", "runbook", ...place.map(({ label }) => label)];
  // Two components can report the same alert. The first report determines the alert's start.
  const since = (state: string, severity: Severity): string =>
    `min by (${labels.join(", ")}) (ALERTS{${selector},alertstate="${state}",severity="${severity}"} * ignoring(alertstate) group_left() ALERTS_FOR_STATE{${selector},severity="${severity}"}${except})`;
  return alertList(["firing", "pending"], since, {
    description: "The rules' firing alerts, then pending ones. The name links to the runbook.",
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
