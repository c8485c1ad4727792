import {
  booleanOverrideProcessor,
  cacheFieldDisplayNames,
  dataLinksOverrideProcessor,
  displayNameOverrideProcessor,
  type Field,
  FieldColorModeId,
  FieldConfigProperty,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  identityOverrideProcessor,
  numberOverrideProcessor,
  type PanelData,
  PanelPlugin,
  type PanelProps,
  standardEditorsRegistry,
  standardFieldConfigEditorRegistry,
  standardTransformers,
  standardTransformersRegistry,
  stringOverrideProcessor,
  thresholdsOverrideProcessor,
  unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from "@grafana/data";
import { BigValue, BigValueTextMode, TimeSeries, useTheme2, VizRepeater } from "@grafana/ui";
import { TableNG } from "@grafana/ui/unstable";
import { useMemo } from "react";
import { Marks } from "./marks";
import { Timeline } from "./timeline";

const none = (): null => null;
const DEFAULT_THRESHOLDS = {
  mode: "absolute",
  steps: [
    { value: -Infinity, color: "green" },
    { value: 80, color: "red" },
  ],
};

/** How Grafana applies the options of fields: the id of each, what processes an override, and the default. */
const FIELD_OPTIONS: readonly (readonly [id: string, process: unknown, defaultValue?: unknown])[] = [
  ["displayName", displayNameOverrideProcessor],
  ["unit", unitOverrideProcessor],
  ["min", numberOverrideProcessor],
  ["max", numberOverrideProcessor],
  ["decimals", numberOverrideProcessor],
  ["noValue", stringOverrideProcessor],
  ["color", identityOverrideProcessor, { mode: FieldColorModeId.Thresholds }],
  ["thresholds", thresholdsOverrideProcessor, DEFAULT_THRESHOLDS],
  ["mappings", valueMappingsOverrideProcessor],
  ["links", dataLinksOverrideProcessor],
  ["filterable", booleanOverrideProcessor],
];

/** Fills the registries that Grafana's own front end fills. Nothing here is edited, so no option has an editor. */
export function fillRegistries(): void {
  const editor = { editor: none, override: none, settings: {}, shouldApply: () => true };
  standardEditorsRegistry.setInit(() =>
    [
      "select",
      "number",
      "boolean",
      "text",
      "color",
      "unit",
      "links",
      "mappings",
      "thresholds",
      "stats-picker",
      "field-name",
    ].map((id) => ({ id, name: id, editor: none }) as any),
  );
  standardFieldConfigEditorRegistry.setInit(() =>
    FIELD_OPTIONS.map(
      ([id, process, defaultValue]) => ({ ...editor, id, path: id, name: id, process, defaultValue }) as any,
    ),
  );
  standardTransformersRegistry.setInit(() =>
    [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer].map(
      (transformation) =>
        ({
          id: transformation.id,
          name: transformation.name,
          transformation: async () => transformation,
          editor: none,
        }) as any,
    ),
  );
}

/** Options of a plugin's fields, with their defaults. */
function custom(defaults: Record<string, unknown>): any {
  return (builder: any): void => {
    for (const [path, defaultValue] of Object.entries(defaults))
      builder.addCustomEditor({
        id: path,
        path,
        name: path,
        defaultValue,
        editor: none,
        override: none,
        process: identityOverrideProcessor,
        shouldApply: () => true,
      });
  };
}

function isEmpty({ series }: PanelData): boolean {
  return series.every(({ length }) => length === 0);
}

function Empty({ fieldConfig, width, height }: PanelProps) {
  return (
    <div
      data-empty
      style={{
        width,
        height,
        display: "flex",
        alignItems: "center",
        justifyContent: "center",
        textAlign: "center",
      }}
    >
      {fieldConfig.defaults.noValue ?? "No data"}
    </div>
  );
}

function Lines(props: PanelProps) {
  const { data, timeRange, timeZone, width, height, options } = props;
  // The component writes into the fields.
  const frames = useMemo(
    () =>
      data.series
        .filter(({ length }) => length > 0)
        .map((frame) => ({ ...frame, fields: frame.fields.map((field: Field) => ({ ...field })) })),
    [data.series],
  );
  if (isEmpty(data)) return <Empty {...props} />;
  return (
    <TimeSeries
      frames={frames}
      structureRev={data.structureRev}
      timeRange={timeRange}
      timeZone={timeZone}
      width={width}
      height={height}
      legend={options.legend}
      options={options}
    >
      {(config) => <Marks config={config} data={data} />}
    </TimeSeries>
  );
}

function Stat(props: PanelProps) {
  const theme = useTheme2();
  const { options, fieldConfig, data, timeZone, replaceVariables, title } = props;
  const isNamed = (fieldConfig.defaults.displayName ?? "") !== "" || title === "";
  const textMode = options.textMode === "auto" && isNamed ? BigValueTextMode.ValueAndName : options.textMode;
  return (
    <VizRepeater
      getValues={() =>
        getFieldDisplayValues({
          fieldConfig,
          reduceOptions: options.reduceOptions,
          replaceVariables,
          theme,
          data: data.series,
          sparkline: false,
          timeZone,
        })
      }
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      width={props.width}
      height={props.height}
      source={data}
      renderCounter={props.renderCounter}
      orientation={options.orientation}
      autoGrid
      itemSpacing={3}
      renderValue={({ value, count, width, height, alignmentFactors }) => (
        <BigValue
          value={value.display}
          count={count}
          colorMode={options.colorMode}
          graphMode={options.graphMode}
          justifyMode={options.justifyMode}
          textMode={textMode}
          alignmentFactors={alignmentFactors}
          text={options.text}
          width={width}
          height={height}
          theme={theme}
        />
      )}
    />
  );
}

function Table(props: PanelProps) {
  const { data, width, height, options, fieldConfig, timeRange, transparent } = props;
  // The names of the columns, which the component expects to be computed.
  useMemo(() => cacheFieldDisplayNames(data.series), [data.series]);
  const [frame] = data.series;
  if (frame === undefined || isEmpty(data)) return <Empty {...props} />;
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={options.showHeader === false}
      cellHeight={options.cellHeight}
      fieldConfig={fieldConfig}
      timeRange={timeRange}
      transparent={transparent}
      // All rows are in the document, so that a test can read them.
      enableVirtualization={false}
      {...(data.structureRev === undefined ? {} : { structureRev: data.structureRev })}
    />
  );
}

function colored(mode: FieldColorModeId): any {
  return { [FieldConfigProperty.Color]: { defaultValue: { mode } } };
}

/** The plugins that the dashboards use: Grafana's components in place of its plugins, which are in no package. */
export const PANELS: Readonly<Record<string, PanelPlugin>> = {
  timeseries: new PanelPlugin(Lines)
    .useFieldConfig({
      standardOptions: colored(FieldColorModeId.PaletteClassic),
      useCustomConfig: custom({
        drawStyle: "line",
        lineInterpolation: "linear",
        lineWidth: 1,
        fillOpacity: 0,
        gradientMode: "none",
        lineStyle: undefined,
        spanNulls: false,
        insertNulls: false,
        showPoints: "auto",
        pointSize: 5,
        stacking: { mode: "none", group: "A" },
        axisPlacement: "auto",
        axisLabel: "",
        axisColorMode: "text",
        axisBorderShow: false,
        axisSoftMin: undefined,
        axisSoftMax: undefined,
        scaleDistribution: { type: "linear" },
        hideFrom: { tooltip: false, viz: false, legend: false },
        thresholdsStyle: { mode: "off" },
      }),
    })
    .setDataSupport({ annotations: true, alertStates: true }),
  stat: new PanelPlugin(Stat).useFieldConfig({}),
  table: new PanelPlugin(Table).useFieldConfig({
    useCustomConfig: custom({
      align: "auto",
      cellOptions: { type: "auto" },
      width: undefined,
      minWidth: undefined,
    }),
  }),
  "state-timeline": new PanelPlugin(Timeline).useFieldConfig({
    // The plugin's own default, with which a dashboard without colours of its own shows 0 in green and 1 in red.
    standardOptions: colored(FieldColorModeId.ContinuousGrYlRd),
    useCustomConfig: custom({ lineWidth: 0, fillOpacity: 70 }),
  }),
};
