import type { DaemonPage } from "../alerts/links.ts";
import { SEVERITIES, type Severity } from "../severity.ts";

/**
 * Units of Grafana (a label is a `string`: with the panel's unit, query 1 would be "1 blocks"), and our own: `NTRN` for a million base units of
 * the fee denom, `blocks`, `days`, `results/s`, `gas` and `gas/s`.
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
  /** Words and colours of its numbers. */
  readonly states?: readonly StateSpec[];
  /** Colours of its numbers. */
  readonly steps?: ColorSteps;
  /** Where a click on a cell leads: the alert's runbook, or a dashboard with this variable set to the cell. */
  readonly leadsTo?: "runbook" | { readonly dashboard: string; readonly variable: string };
  readonly unit?: Unit;
  readonly decimals?: number;
  /** Pixels. The columns without a width share what is left. */
  readonly width?: number;
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
  /** Words and colours of values. A timeline needs them: its default colours are those of a heat map. */
  readonly states?: readonly StateSpec[];
  /** Values from here on are shown as this text: an estimate of centuries says nothing. */
  readonly enough?: readonly [from: number, text: string];
  /** Series with limits, drawn as dashed lines. */
  readonly limits?: RegExp;
  /** A stat shows the name of its series too. */
  readonly show?: "name and value";
  /** The panel shows this range before now, whatever the dashboard's range is. */
  readonly last?: "6h" | "1h";
  /** Uid of the dashboard to which a click on a number leads. */
  readonly leadsTo?: string;
  /** The panel has no data while all is well, or where a part is not in use; Grafana shows this text. */
  readonly emptyText?: string;
  /** A table's columns, in this order: the labels to which its queries aggregate, and the value. */
  readonly columns?: readonly ColumnSpec[];
  /** A table without heads of columns and without a box: what is empty in normal operation is one line. */
  readonly isList?: true;
  /** Rows of 38 pixels. By default 4 for a stat, 5 for a table, 8 otherwise. */
  readonly height?: number;
}

/** Panels under one heading. From the third row on they are closed when the dashboard opens. */
export interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
  /** It is closed also as the second row: its panels need a part that not everybody has. */
  readonly closed?: true;
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

/** Selects the processes of {@link processVariables}. */
export const PROCESSES = 'job=~"$job",instance=~"$instance"';

/** The variables of processes, from a metric that each of them has. */
export function processVariables(metric: string): readonly VariableSpec[] {
  return [
    { name: "job", label: "Job", metric, from: "job" },
    { name: "instance", label: "Instance", metric: `${metric}{job=~"$job"}`, from: "instance" },
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

/** Returns a table of the whole width. */
export function table(
  title: string,
  expressions: readonly string[],
  more: Omit<PanelSpec, "kind" | "title" | "queries" | "width"> & { readonly width?: number },
): PanelSpec {
  return { kind: "table", title, queries: expressions.map((expr) => query(expr, "")), width: 24, ...more };
}

/** Returns a panel whose rows are states over time. */
export function timeline(
  title: string,
  queries: readonly QuerySpec[],
  more: Omit<PanelSpec, "kind" | "title" | "queries" | "width" | "unit" | "states"> & {
    readonly states: readonly StateSpec[];
    readonly width?: number;
  },
): PanelSpec {
  return { kind: "timeline", title, queries, width: 12, unit: "none", ...more };
}

/** Returns a panel with lines over time. */
export function graph(
  title: string,
  queries: readonly QuerySpec[],
  more: Omit<PanelSpec, "kind" | "title" | "queries" | "width"> & { readonly width?: number },
): PanelSpec {
  return { kind: "graph", title, queries, width: 12, ...more };
}

/** Widths of the columns of alerts: "critical", and "a few seconds ago". */
export const STATE_WIDTH = 80;
export const SINCE_WIDTH = 145;

/** Colours of severities in tables. */
export const SEVERITY_COLORS = { critical: "red", warning: "orange", info: "blue" } as const;

/**
 * Returns a list of alerts: by state, then by severity, then the oldest first, which is often the cause. `times` selects the seconds since when
 * alerts of one state and severity have been in it. While there is none, it is one line.
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
    emptyText: "No alert fires or is pending",
  };
}

/** Returns the list of Prometheus' own alerts. `selector` chooses them, and `except` may be "unless …". */
export function ruleAlerts(selector: string, place: readonly ColumnSpec[], except = ""): PanelSpec {
  const labels = ["alertstate", "severity", "runbook", ...place.map(({ label }) => label)];
  // Two components can report the same: the first one to see it counts.
  const since = (state: string, severity: Severity): string =>
    `min by (${labels.join(", ")}) (ALERTS{${selector},alertstate="${state}",severity="${severity}"} * ignoring(alertstate) group_left() ALERTS_FOR_STATE{${selector},severity="${severity}"}${except})`;
  return alertList(["firing", "pending"], since, {
    description: "Firing alerts of the rules, then pending ones. The name leads to the runbook.",
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
