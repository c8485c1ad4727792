import { DataqueryBuilder as PrometheusQuery } from "@grafana/grafana-foundation-sdk/prometheus";
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import { runbooksUrl } from "../alerts/links.ts";
import { DATA_SOURCE, panelBuilder } from "./build-panel.ts";
import type { DashboardSpec, VariableSpec } from "./panel-spec.ts";

const TAG = "relaywatch";

/** Returns the JSON of a dashboard: sorted keys, nothing that depends on when or where it is made. */
export function dashboardJson(spec: DashboardSpec): string {
  const builder = new DashboardBuilder(spec.title)
    .uid(spec.uid)
    .description(spec.description)
    .tags([TAG])
    .timezone("utc")
    .weekStart("monday")
    .readonly()
    .version(1)
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh("1m")
    .time(spec.range === "month" ? { from: "now/M", to: "now" } : { from: "now-6h", to: "now" })
    .link(
      new DashboardLinkBuilder("Relaywatch")
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .keepTime(true)
        .includeVars(true),
    )
    .link(
      new DashboardLinkBuilder("Runbooks").type(DashboardLinkType.Link).url(runbooksUrl()).targetBlank(true),
    )
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .annotation(annotation("Restarts", spec.restarts, "orange"))
    .annotation(annotation("Alerts", spec.alerts, "red"));
  for (const variable of spec.variables) builder.withVariable(queryVariable(variable));
  let id = 1;
  for (const { title, panels } of spec.rows) {
    builder.withRow(new RowBuilder(title).id(id++));
    for (const panel of panels) builder.withPanel(withId(panelBuilder(panel), id++));
  }
  return `${JSON.stringify(sorted(builder.build()), null, 2)}\n`;
}

function withId(builder: ReturnType<typeof panelBuilder>, id: number): Builder<Panel> {
  builder.id(id);
  return builder;
}

function queryVariable({ name, label, metric, from, single }: VariableSpec): QueryVariableBuilder {
  const builder = new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATA_SOURCE)
    .query(`label_values(${metric}, ${from})`)
    .refresh(VariableRefresh.OnTimeRangeChanged);
  return single ? builder : builder.multi(true).includeAll(true).allValue(".+");
}

function annotation(name: string, expr: string, color: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .step("1m")
    .titleFormat(name)
    .target(new PrometheusQuery().expr(expr).refId("Anno"));
}

/** Sorts the keys of objects, and leaves out what is undefined. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  );
}
