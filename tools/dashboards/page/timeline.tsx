import { FieldType, getFieldDisplayName, type PanelProps } from "@grafana/data";
import { useTheme2 } from "@grafana/ui";

/** Pixels of the axis below the rows, and about the width of a character. */
const AXIS = 22;
const CHARACTER = 6.5;

/**
 * The state timeline of Grafana is in no package, so this is a drawing in its manner. Colours and words are those that Grafana computes
 * from the panel's field configuration; sizes are not Grafana's.
 */
export function Timeline({ data, timeRange, width, height, fieldConfig }: PanelProps) {
  const theme = useTheme2();
  const [fromMs, toMs] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const rows = data.series.flatMap((frame) =>
    frame.fields
      .filter(({ type }) => type === FieldType.number)
      .map((field) => ({
        name: getFieldDisplayName(field, frame, data.series),
        times: frame.fields[0]?.values ?? [],
        stepMs: frame.fields[0]?.config.interval ?? 60_000,
        values: field.values,
        display: (value: number) => field.display?.(value) ?? { text: `${value}`, color: "transparent" },
      })),
  );
  if (rows.length === 0) return <div data-empty>{fieldConfig.defaults.noValue ?? "No data"}</div>;
  const longest = Math.max(...rows.map(({ name }) => name.length)) * CHARACTER + 10;
  const left = Math.min(width * 0.4, longest);
  const rowHeight = (height - AXIS) / rows.length;
  const x = (ms: number): number => left + ((ms - fromMs) / (toMs - fromMs)) * (width - left);
  return (
    <svg width={width} height={height} fontSize={12} fill={theme.colors.text.primary}>
      {rows.map(({ name, times, stepMs, values, display }, row) => (
        <g
          key={name}
          data-row={name}
          data-state={display(values.at(-1)).text}
          data-color={display(values.at(-1)).color}
        >
          <text x={left - 6} y={(row + 0.5) * rowHeight + 4} textAnchor="end">
            {name.length * CHARACTER > left ? `${name.slice(0, Math.floor(left / CHARACTER) - 1)}…` : name}
          </text>
          {times.map((ms: number, index: number) => {
            const begin = x(Math.max(ms, fromMs));
            const end = x(Math.min(times[index + 1] ?? toMs, ms + stepMs * 1.5, toMs));
            return (
              <rect
                key={ms}
                x={begin}
                y={row * rowHeight + 1}
                width={Math.max(0.5, end - begin + 0.5)}
                height={Math.max(1, rowHeight - 2)}
                fill={display(values[index]).color}
                fillOpacity={0.8}
              />
            );
          })}
        </g>
      ))}
      <text x={left} y={height - 6}>
        {timeRange.from.utc().format("HH:mm")}
      </text>
      <text x={width} y={height - 6} textAnchor="end">
        {timeRange.to.utc().format("HH:mm")}
      </text>
    </svg>
  );
}
