import type { DaemonPage } from "../alerts/links.ts";

/** One query of a panel. */
export interface QuerySpec {
  readonly expr: string;
  /** Legend, with `{{label}}`. */
  readonly legend: string;
}

/** Units of Grafana that panels use. */
type Unit =
  | "percentunit"
  | "s"
  | "short"
  | "none"
  | "bytes"
  | "Bps"
  | "ops"
  | "bool"
  | "dateTimeFromNow"
  | "blocks";

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
  /** Colour of a value and what it is above: [["red", undefined], ["green", 1]]. */
  readonly colors?: readonly (readonly [string, number | undefined])[];
  /** Colours of series by name. */
  readonly seriesColors?: Readonly<Record<string, string>>;
  /** Series with limits, drawn as dashed lines. */
  readonly limits?: RegExp;
  /** A stat shows the name of its series instead of the value. */
  readonly showName?: true;
  /** The panel has no data while all is well; Grafana shows this text. */
  readonly emptyText?: string;
  /** Table column with alert names, whose cells link to the runbooks. */
  readonly runbookColumn?: string;
}

/** Panels under one heading. */
export interface RowSpec {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
}

/** A variable whose values are those of a metric's label. */
export interface VariableSpec {
  readonly name: string;
  readonly label: string;
  /** Metric and label whose values it has. */
  readonly metric: string;
  readonly from: string;
  /** One value only. */
  readonly single?: true;
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
  /** Expression of restarts, and of firing alerts. */
  readonly restarts: string;
  readonly alerts: string;
  readonly rows: readonly RowSpec[];
  /** Pages of the daemons that it links to. */
  readonly pages: readonly DaemonPage[];
}

/** Returns a query. */
export function query(expr: string, legend: string): QuerySpec {
  return { expr, legend };
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
