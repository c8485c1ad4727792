import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  type DataSourceRef,
  type GraphFieldConfig,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
  type TableFieldOptions,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
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
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import {
  DataqueryBuilder,
  DataqueryBuilder as PrometheusQuery,
  PromQueryFormat,
} from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as GraphBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { DAEMON_PAGES, runbooksUrl } from "../alerts/links.ts";
import type { DashboardSpec, PanelSpec, VariableSpec } from "./panel-spec.ts";

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
  for (const page of spec.pages) {
    const { title, url } = DAEMON_PAGES[page];
    builder.link(new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url).targetBlank(true));
  }
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

/** The data source that the user selects. */
const DATA_SOURCE: DataSourceRef = { type: "prometheus", uid: "${datasource}" };

type AnyPanel = StatBuilder | TimelineBuilder | TableBuilder | GraphBuilder;

/** Returns the builder of a panel. */
function panelBuilder(spec: PanelSpec): AnyPanel {
  const panel = ofKind(spec)
    .title(spec.title)
    .description(spec.description)
    .datasource(DATA_SOURCE)
    .unit(spec.unit === "blocks" ? "short" : spec.unit)
    .span(spec.width)
    .height(spec.kind === "stat" ? 4 : 8);
  if (spec.decimals !== undefined) panel.decimals(spec.decimals);
  if (spec.range !== undefined) panel.min(spec.range[0]).max(spec.range[1]);
  if (spec.emptyText !== undefined) panel.noValue(spec.emptyText);
  panel.thresholds(thresholds(spec.colors ?? [["blue", undefined]]));
  spec.queries.forEach(({ expr, legend }, index) => {
    const target = new DataqueryBuilder()
      .expr(expr)
      .legendFormat(legend)
      .refId(String.fromCodePoint(65 + index));
    panel.withTarget(
      spec.kind === "graph" || spec.kind === "timeline" ? target.range() : instant(target, spec),
    );
  });
  for (const [name, color] of Object.entries(spec.seriesColors ?? {}))
    panel.overrideByName(name, [{ id: "color", value: { mode: "fixed", fixedColor: color } }]);
  return panel;
}

function instant(target: DataqueryBuilder, { kind }: PanelSpec): DataqueryBuilder {
  return kind === "table" ? target.instant().format(PromQueryFormat.Table) : target.instant();
}

function ofKind(spec: PanelSpec): AnyPanel {
  switch (spec.kind) {
    case "stat":
      return new StatBuilder()
        .colorMode(
          spec.colors === undefined && spec.seriesColors === undefined
            ? BigValueColorMode.None
            : BigValueColorMode.Background,
        )
        .graphMode(BigValueGraphMode.None)
        .textMode(spec.showName ? BigValueTextMode.Name : BigValueTextMode.Auto)
        .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]));
    case "timeline":
      return new TimelineBuilder().fillOpacity(80).showValue(VisibilityMode.Never);
    case "table":
      return table(spec);
    case "graph":
      return lines(spec);
  }
}

function table({ runbookColumn }: PanelSpec): TableBuilder {
  const hidden = property<TableFieldOptions, "hidden">("hidden", true);
  const builder = new TableBuilder()
    .overrideByName("Time", [hidden])
    .overrideByName("__name__", [hidden])
    .overrideByName("job", [hidden])
    .overrideByName("instance", [hidden]);
  if (runbookColumn === undefined) return builder;
  const link = new DashboardLinkBuilder("Runbook")
    .type(DashboardLinkType.Link)
    .url(`${runbooksUrl()}\${__data.fields.${runbookColumn}}.md`)
    .targetBlank(true)
    .build();
  return builder.overrideByName(runbookColumn, [{ id: "links", value: [link] }]);
}

/** A property of a panel's plugin in an override. The compiler checks its name and value by the types of the SDK. */
function property<Options, Name extends string & keyof Options>(
  name: Name,
  value: NonNullable<Options[Name]>,
): { readonly id: string; readonly value: unknown } {
  return { id: `custom.${name}`, value };
}

function lines({ limits, logAxis }: PanelSpec): GraphBuilder {
  const builder = new GraphBuilder()
    .lineWidth(1)
    .fillOpacity(0)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(["lastNotNull", "min", "max"]),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
  if (logAxis)
    builder.scaleDistribution(new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(10));
  if (limits === undefined) return builder;
  return builder.overrideByRegexp(`/${limits.source}/`, [
    property<GraphFieldConfig, "lineStyle">("lineStyle", { fill: "dash", dash: [10, 10] }),
    { id: "color", value: { mode: "fixed", fixedColor: "red" } },
  ]);
}

function thresholds(colors: NonNullable<PanelSpec["colors"]>): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(colors.map(([color, value]) => ({ color, value: value ?? null })));
}
