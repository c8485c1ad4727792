import { dateMath } from "@grafana/data";
import {
  behaviors,
  dataLayers,
  DataSourceVariable,
  EmbeddedScene,
  QueryVariable,
  SceneControlsSpacer,
  SceneDataLayerControls,
  SceneDataLayerSet,
  SceneDataTransformer,
  SceneGridItem,
  SceneGridLayout,
  SceneGridRow,
  SceneQueryRunner,
  SceneRefreshPicker,
  SceneTimePicker,
  SceneTimeRange,
  SceneVariableSet,
  VariableValueSelectors,
  VizPanel,
} from "@grafana/scenes";

/** What a page shows of a dashboard. */
export interface View {
  /** Begin and end of the time range; absent: the dashboard's own. */
  readonly from?: string;
  readonly to?: string;
  /** Opens the rows that are closed. */
  readonly isOpen?: boolean;
  /** Values of variables by name. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Returns Grafana's scene of a dashboard's JSON, as its front end makes it. */
export function sceneOf(dashboard: any, { from, to, isOpen = false, variables = {} }: View): EmbeddedScene {
  const range = { from: timeOf(from ?? dashboard.time.from), to: timeOf(to ?? dashboard.time.to) };
  return new EmbeddedScene({
    $timeRange: new SceneTimeRange({
      ...range,
      timeZone: dashboard.timezone,
      weekStart: dashboard.weekStart,
    }),
    $variables: new SceneVariableSet({
      variables: dashboard.templating.list.map((one: any) => variableOf(one, variables[one.name])),
    }),
    $data: new SceneDataLayerSet({
      layers: dashboard.annotations.list.map(
        (query: any) =>
          new dataLayers.AnnotationsDataLayer({
            name: query.name,
            isEnabled: query.enable,
            isHidden: query.hide,
            query,
          }),
      ),
    }),
    $behaviors: [new behaviors.CursorSync({ sync: dashboard.graphTooltip })],
    controls: [
      new VariableValueSelectors({}),
      new SceneDataLayerControls(),
      new SceneControlsSpacer(),
      new SceneTimePicker({}),
      new SceneRefreshPicker({ refresh: "" }),
    ],
    body: new SceneGridLayout({
      isLazy: false,
      isDraggable: false,
      isResizable: false,
      children: rowsOf(isOpen ? opened(dashboard.panels) : dashboard.panels, dateMath.isMathString(range.to)),
    }),
  });
}

/** Links have times in milliseconds, scenes in ISO 8601. */
function timeOf(text: string): string {
  return /^\d+$/.test(text) ? new Date(Number(text)).toISOString() : text;
}

function variableOf({ name, label, type, query, ...one }: any, selected: string | undefined) {
  if (type === "datasource") return new DataSourceVariable({ name, label, pluginId: query });
  const isAll = one.includeAll && selected === undefined;
  return new QueryVariable({
    name,
    label,
    datasource: one.datasource,
    query,
    refresh: one.refresh,
    sort: one.sort,
    isMulti: one.multi,
    includeAll: one.includeAll,
    allValue: one.allValue,
    ...(isAll ? { value: ["$__all"], text: ["All"] } : {}),
    ...(selected === undefined ? {} : { value: selected, text: selected }),
  });
}

/** Opens the closed rows: their panels follow them, and what comes later moves down. */
function opened(panels: readonly any[]): readonly any[] {
  let down = 0;
  const moved = (panel: any): any => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y + down } });
  return panels.flatMap((panel) => {
    if (!panel.collapsed) return [moved(panel)];
    const inside = panel.panels.map(moved);
    const row = { ...moved(panel), collapsed: false, panels: [] };
    const ends = panel.panels.map(({ gridPos }: any) => gridPos.y + gridPos.h);
    down += Math.max(...ends) - panel.gridPos.y - 1;
    return [row, ...inside];
  });
}

/** Panels before the first row stand alone; those after a row belong to it. */
function rowsOf(panels: readonly any[], isRelative: boolean): (SceneGridRow | SceneGridItem)[] {
  const children: (SceneGridRow | SceneGridItem)[] = [];
  for (const panel of panels) {
    const last = children.at(-1);
    if (panel.type === "row")
      children.push(
        new SceneGridRow({
          key: `row-${panel.id}`,
          title: panel.title,
          y: panel.gridPos.y,
          isCollapsed: panel.collapsed,
          children: panel.panels.map((inside: any) => itemOf(inside, isRelative)),
        }),
      );
    else if (last instanceof SceneGridRow)
      last.setState({ children: [...last.state.children, itemOf(panel, isRelative)] });
    else children.push(itemOf(panel, isRelative));
  }
  return children;
}

function itemOf(panel: any, isRelative: boolean): SceneGridItem {
  const { x, y, w: width, h: height } = panel.gridPos;
  const runner = new SceneQueryRunner({
    datasource: panel.datasource,
    queries: panel.targets,
    maxDataPointsFromWidth: true,
  });
  // Grafana shows a panel's own range only while the dashboard's range is relative to now.
  const last = isRelative ? panel.timeFrom : undefined;
  return new SceneGridItem({
    x,
    y,
    width,
    height,
    isResizable: false,
    isDraggable: false,
    body: new VizPanel({
      key: `panel-${panel.id}`,
      title: panel.title,
      description: panel.description,
      pluginId: panel.type,
      options: panel.options,
      fieldConfig: panel.fieldConfig,
      displayMode: panel.transparent ? "transparent" : "default",
      ...(last === undefined
        ? {}
        : {
            $timeRange: new SceneTimeRange({ from: `now-${last}`, to: "now", timeZone: "utc" }),
            titleItems: `Last ${last.replace("h", " hours")}`,
          }),
      $data:
        panel.transformations === undefined
          ? runner
          : new SceneDataTransformer({ $data: runner, transformations: panel.transformations }),
    }),
  });
}
