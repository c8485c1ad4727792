import * as common from "@grafana/grafana-foundation-sdk/common";
import * as dashboards from "@grafana/grafana-foundation-sdk/dashboard";
import {
  DataqueryBuilder,
  DataqueryBuilder as PrometheusQuery,
  PromQueryFormat,
} from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as GraphBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { DAEMON_PAGES, panelId, runbooksUrl } from "../alerts/links.ts";
import type {
  ColorSteps,
  ColumnSpec,
  DashboardSpec,
  PanelSpec,
  RowSpec,
  StateSpec,
  VariableSpec,
} from "./panel-spec.ts";

const TAG = "relaywatch";

/** Returns a dashboard's JSON with sorted keys. Equal specs give equal bytes, at any time and on any machine. */
export function dashboardJson(spec: DashboardSpec): string {
  const builder = new dashboards.DashboardBuilder(spec.title)
    .uid(spec.uid)
    .description(spec.description)
    .tags([TAG])
    .timezone("utc")
    .weekStart("monday")
    .readonly()
    .version(1)
    .tooltip(dashboards.DashboardCursorSync.Crosshair)
    .refresh("1m")
    .time(spec.range === "month" ? { from: "now/M", to: "now" } : { from: "now-6h", to: "now" })
    .link(
      new dashboards.DashboardLinkBuilder("Relaywatch")
        .type(dashboards.DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .keepTime(true)
        .includeVars(true),
    )
    .link(link("Runbooks", runbooksUrl()).targetBlank(true))
    .withVariable(
      new dashboards.DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"),
    )
    .annotation(
      annotation("Restarts", spec.restarts, "orange").titleFormat("{{job}} started").useValueForTime(true),
    )
    .annotation(annotation("Alerts", spec.alerts, "red").titleFormat("{{alert}}{{alertname}} {{validator}}"));
  for (const page of spec.pages) {
    const { title, url } = DAEMON_PAGES[page];
    builder.link(link(title, url).targetBlank(true));
  }
  for (const variable of spec.variables) builder.withVariable(queryVariable(variable));
  return `${JSON.stringify(sorted({ ...builder.build(), panels: layout(spec.rows) }), null, 2)}\n`;
}

/** Number of rows that are expanded when the dashboard opens. */
const OPEN_ROWS = 2;

/** Stacks the rows and places each row's panels in lines of 24 columns. A collapsed row's panels are nested in the row. */
function layout(rows: readonly RowSpec[]): readonly object[] {
  let y = 0;
  return rows.flatMap(({ title, panels, closed }, index): readonly object[] => {
    const row = { type: "row", title, id: panelId(`row ${title}`), gridPos: { x: 0, y, w: 24, h: 1 } };
    let line = { x: 0, y: y + 1, h: 0 };
    const placed = panels.map((spec) => {
      const panel = panelBuilder(spec).id(panelId(spec.title)).build();
      const { w, h } = { w: spec.width, h: heightOf(spec) };
      if (line.x + w > 24) line = { x: 0, y: line.y + line.h, h: 0 };
      const gridPos = { x: line.x, y: line.y, w, h };
      line = { ...line, x: line.x + w, h: Math.max(line.h, h) };
      return { ...panel, gridPos };
    });
    const isOpen = index < OPEN_ROWS && !closed;
    y = isOpen ? line.y + line.h : y + 1;
    return isOpen
      ? [{ ...row, collapsed: false, panels: [] }, ...placed]
      : [{ ...row, collapsed: true, panels: placed }];
  });
}

function heightOf({ kind, height }: PanelSpec): number {
  return height ?? { stat: 4, table: 5, graph: 8, timeline: 8 }[kind];
}

function queryVariable({
  name,
  label,
  metric,
  from,
  single,
  numeric,
}: VariableSpec): dashboards.QueryVariableBuilder {
  const builder = new dashboards.QueryVariableBuilder(name)
    .label(label)
    .datasource(DATA_SOURCE)
    .query(`label_values(${metric}, ${from})`)
    // oxlint-disable-next-line unicorn/no-array-sort -- a builder's method
    .sort(numeric ? dashboards.VariableSort.NumericalAsc : dashboards.VariableSort.AlphabeticalAsc)
    .refresh(dashboards.VariableRefresh.OnTimeRangeChanged);
  return single ? builder : builder.multi(true).includeAll(true).allValue(".+");
}

function annotation(name: string, expr: string, color: string): dashboards.AnnotationQueryBuilder {
  return new dashboards.AnnotationQueryBuilder()
    .name(name)
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .step("1m")
    .target(new PrometheusQuery().expr(expr).refId("Anno"));
}

/** Sorts object keys. Omits undefined values, and `placement`, with which some versions of Grafana show no link. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([, one]) => one !== undefined && one !== dashboards.DashboardLinkPlacement.InControlsMenu,
  );
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  );
}

/** The data source that the user selects in the dashboard's `datasource` variable. */
const DATA_SOURCE: common.DataSourceRef = { type: "prometheus", uid: "${datasource}" };

type AnyPanel = StatBuilder | TimelineBuilder | TableBuilder | GraphBuilder;

const UNITS: Partial<Record<PanelSpec["unit"], string>> = {
  NTRN: "suffix:NTRN",
  blocks: "suffix:blocks",
  days: "suffix:days",
  gas: "si:gas",
  "gas/s": "si:gas/s",
  "results/s": "suffix:results/s",
};

function unitOf(unit: PanelSpec["unit"]): string {
  return UNITS[unit] ?? unit;
}

function panelBuilder(spec: PanelSpec): AnyPanel {
  const panel = ofKind(spec)
    .title(spec.title)
    .description(spec.description)
    .datasource(DATA_SOURCE)
    .unit(unitOf(spec.unit))
    .mappings(mappings(spec))
    .thresholds(thresholds(spec));
  if (spec.decimals !== undefined) panel.decimals(spec.decimals);
  if (spec.range !== undefined) panel.min(spec.range[0]).max(spec.range[1]);
  if (spec.emptyText !== undefined) panel.noValue(spec.emptyText);
  if (spec.last !== undefined) panel.timeFrom(spec.last);
  if (spec.leadsTo !== undefined)
    panel.dataLinks([link("Details", `/d/${spec.leadsTo}?\${__url_time_range}`)]);
  spec.queries.forEach(({ expr, legend, unit }, index) => {
    const refId = refIdOf(index);
    const target = new DataqueryBuilder().expr(expr).legendFormat(legend).refId(refId);
    panel.withTarget(
      spec.kind === "graph" || spec.kind === "timeline" ? target.range() : instant(target, spec),
    );
    if (unit !== undefined) panel.overrideByQuery(refId, [{ id: "unit", value: unitOf(unit) }]);
  });
  return panel;
}

function refIdOf(index: number): string {
  return String.fromCodePoint(65 + index);
}

function instant(target: DataqueryBuilder, { kind }: PanelSpec): DataqueryBuilder {
  return kind === "table" ? target.instant().format(PromQueryFormat.Table) : target.instant();
}

function ofKind(spec: PanelSpec): AnyPanel {
  switch (spec.kind) {
    case "stat":
      return new StatBuilder()
        .colorMode(
          spec.colors === undefined && spec.states === undefined
            ? common.BigValueColorMode.None
            : common.BigValueColorMode.Background,
        )
        .graphMode(common.BigValueGraphMode.None)
        .textMode(STAT_TEXT[spec.show ?? "value"])
        .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]));
    case "timeline":
      return new TimelineBuilder()
        .fillOpacity(80)
        .showValue(common.VisibilityMode.Never)
        .colorScheme(new dashboards.FieldColorBuilder().mode(dashboards.FieldColorModeId.Thresholds))
        .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Single));
    case "table":
      return table(spec);
    case "graph":
      return lines(spec);
  }
}

const STAT_TEXT = {
  "name and value": common.BigValueTextMode.ValueAndName,
  value: common.BigValueTextMode.Auto,
};

/**
 * Creates a table with columns in the given order, one per label to which the queries aggregate. The minimum column width is 100
 * pixels, because Grafana's default of 150 would cut off the last of nine columns on a 1280-pixel screen.
 */
function table({ columns = [], queries, isList }: PanelSpec): TableBuilder {
  const names = columns.map(({ label, title }) => [label, title] as const);
  const builder = new TableBuilder()
    .minWidth(100)
    .showHeader(isList !== true)
    .transparent(isList === true);
  if (queries.length > 1) builder.withTransformation({ id: "merge", options: {} });
  const values = queries.length > 1 ? queries.map((_, index) => `Value #${refIdOf(index)}`) : ["Value"];
  const hidden = values.filter((value) => !names.some(([label]) => label === value));
  builder.withTransformation({
    id: "organize",
    options: {
      excludeByName: Object.fromEntries(["Time", ...hidden].map((name) => [name, true])),
      indexByName: Object.fromEntries(names.map(([label], index) => [label, index])),
      renameByName: Object.fromEntries(names),
    },
  });
  for (const column of columns) builder.overrideByName(column.title, columnProperties(column));
  return builder;
}

/** Returns a column's properties, with "–" for empty cells, in which Grafana would otherwise show the empty table's text. */
function columnProperties(column: ColumnSpec): ValueProperty[] {
  const { label, words, colors, states, steps, decimals, leadsTo, width } = column;
  const { unit = label.startsWith("Value") ? undefined : "string" } = column;
  const mapping = states === undefined ? textColors(colors ?? {}, words) : stateWords(states);
  return [
    { id: "noValue", value: "–" },
    ...(Object.keys(mapping).length === 0
      ? []
      : [{ id: "mappings", value: [{ type: dashboards.MappingType.ValueToText, options: mapping }] }]),
    ...(steps === undefined
      ? []
      : [
          { id: "thresholds", value: absoluteThresholds(steps).build() },
          { id: "color", value: { mode: dashboards.FieldColorModeId.Thresholds } },
        ]),
    ...((colors ?? states ?? steps) === undefined
      ? []
      : [
          property<common.TableFieldOptions, "cellOptions">("cellOptions", {
            type: common.TableCellDisplayMode.ColorText,
          }),
        ]),
    ...(leadsTo === undefined ? [] : [{ id: "links", value: [cellLink(leadsTo).build()] }]),
    ...(unit === undefined ? [] : [{ id: "unit", value: unitOf(unit) }]),
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
    ...(width === undefined ? [] : [property<common.TableFieldOptions, "width">("width", width)]),
  ];
}

function textColors(
  colors: Readonly<Record<string, string>>,
  words: Readonly<Record<string, string>> = {},
): Readonly<Record<string, unknown>> {
  const texts = [...new Set([...Object.keys(colors), ...Object.keys(words)])];
  return Object.fromEntries(
    texts.map((text, index) => {
      const color = colors[text];
      return [text, { text: words[text] ?? text, ...(color === undefined ? {} : { color }), index }];
    }),
  );
}

function stateWords(
  states: readonly StateSpec[],
): Record<string, { text: string; color: string; index: number }> {
  return Object.fromEntries(states.map(([value, text, color], index) => [value, { text, color, index }]));
}

function cellLink(leadsTo: NonNullable<ColumnSpec["leadsTo"]>): dashboards.DashboardLinkBuilder {
  return leadsTo === "runbook"
    ? link("Runbook", `${runbooksUrl()}\${__value.raw}.md`).targetBlank(true)
    : link(
        "Details",
        `/d/${leadsTo.dashboard}?var-${leadsTo.variable}=\${__value.text}&\${__url_time_range}`,
      );
}

function link(title: string, url: string): dashboards.DashboardLinkBuilder {
  return new dashboards.DashboardLinkBuilder(title).type(dashboards.DashboardLinkType.Link).url(url);
}

interface ValueProperty {
  readonly id: string;
  readonly value: unknown;
}

/** Creates a property of a panel plugin for an override. The compiler checks the name and value against the SDK's types. */
function property<Options, Name extends string & keyof Options>(
  name: Name,
  value: NonNullable<Options[Name]>,
): ValueProperty {
  return { id: `custom.${name}`, value };
}

function lines({ limits, logAxis, unit, range }: PanelSpec): GraphBuilder {
  const builder = new GraphBuilder()
    .lineWidth(1)
    .fillOpacity(0)
    .showPoints(common.VisibilityMode.Never)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Right)
        .calcs(["lastNotNull", "max"])
        .sortBy("Last *")
        .sortDesc(true),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(common.TooltipDisplayMode.Multi)
        // oxlint-disable-next-line unicorn/no-array-sort -- a builder's method
        .sort(common.SortOrder.Descending),
    );
  if (logAxis)
    builder.scaleDistribution(
      new common.ScaleDistributionConfigBuilder().type(common.ScaleDistribution.Log).log(10),
    );
  // Without a soft minimum of 0, noise in a constant value fills the panel. Ratios are near 1 or 0, and heights are far from 0.
  else if (unit !== "percentunit" && unit !== "none" && range === undefined) builder.axisSoftMin(0);
  if (limits === undefined) return builder;
  return builder.overrideByRegexp(`/${limits.source}/`, [
    property<common.GraphFieldConfig, "lineStyle">("lineStyle", { fill: "dash", dash: [10, 10] }),
    { id: "color", value: { mode: "fixed", fixedColor: "red" } },
  ]);
}

/** Returns mappings from states to words, from values above `enough` to a text, and from no value to `emptyText` or "no data". */
function mappings({ kind, states = [], enough, emptyText }: PanelSpec): dashboards.ValueMapping[] {
  const words: dashboards.ValueMapping[] =
    states.length === 0
      ? []
      : [
          {
            type: dashboards.MappingType.ValueToText,
            options: stateWords(states),
          },
        ];
  const range: dashboards.ValueMapping[] =
    enough === undefined
      ? []
      : [
          {
            type: dashboards.MappingType.RangeToText,
            // Set only the text, so that the thresholds still determine the colour.
            options: { from: enough[0], to: null, result: { text: enough[1], index: states.length } },
          },
        ];
  const unknown: dashboards.ValueMapping[] =
    kind === "stat"
      ? [
          {
            type: dashboards.MappingType.SpecialValue,
            options: {
              match: dashboards.SpecialValueMatch.NullAndNan,
              result: { text: emptyText ?? "no data", color: "text", index: states.length + 1 },
            },
          },
        ]
      : [];
  return [...words, ...range, ...unknown];
}

function thresholds({ colors, states }: PanelSpec): dashboards.ThresholdsConfigBuilder {
  const steps: ColorSteps = colors ??
    states?.map(([value, , color], index) => [color, index === 0 ? undefined : value]) ?? [
      ["blue", undefined],
    ];
  return absoluteThresholds(steps);
}

function absoluteThresholds(steps: ColorSteps): dashboards.ThresholdsConfigBuilder {
  return new dashboards.ThresholdsConfigBuilder()
    .mode(dashboards.ThresholdsMode.Absolute)
    .steps(steps.map(([color, value]) => ({ color, value: value ?? null })));
}
