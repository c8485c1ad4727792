import type { DashboardSpec } from "../../src/platform/monitoring/dashboards/panel-spec.ts";

/** A query of a dashboard. */
export interface DashboardQuery {
  /** Dashboard and panel. */
  readonly place: string;
  readonly expr: string;
  /** It has no data while all is well. */
  readonly mayBeEmpty: boolean;
}

/** Returns the queries of all panels and annotations of a dashboard. */
export function dashboardExpressions(spec: DashboardSpec): readonly DashboardQuery[] {
  const panels = spec.rows.flatMap(({ panels: inRow }) => inRow);
  return [
    { place: `${spec.title} / restarts`, expr: spec.restarts, mayBeEmpty: true },
    { place: `${spec.title} / alerts`, expr: spec.alerts, mayBeEmpty: true },
    ...panels.flatMap(({ title, queries, emptyText }) =>
      queries.map(({ expr }) => ({
        place: `${spec.title} / ${title}`,
        expr,
        mayBeEmpty: emptyText !== undefined,
      })),
    ),
  ];
}

/**
 * Replaces the variables of Grafana, as "All" with a range of `range`. A localnet has query 1 only: what a panel shows of the others is seen from
 * another query.
 */
export function withoutVariables(expr: string, range = "1m"): string {
  return expr
    .replaceAll(/\$__(?:rate_interval|range)/g, range)
    .replaceAll('!="$query"', '!="2"')
    .replaceAll('"$query"', '"1"')
    .replaceAll(/"\$\w+"/g, '".+"');
}
