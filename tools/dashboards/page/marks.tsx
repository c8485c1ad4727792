import type { DataFrame, PanelData } from "@grafana/data";
import { type UPlotConfigBuilder, useTheme2 } from "@grafana/ui";
import { useEffect, useLayoutEffect, useRef } from "react";
import type uPlot from "uplot";

interface Mark {
  readonly fromMs: number;
  readonly toMs: number;
  readonly color: string;
}

function marksOf({ annotations = [] }: PanelData): readonly Mark[] {
  return annotations.flatMap((frame: DataFrame) => {
    const column = (name: string) => frame.fields.find((field) => field.name === name)?.values ?? [];
    const [begins, ends, colors] = [column("time"), column("timeEnd"), column("color")];
    return begins.map((fromMs: number, index: number) => ({
      fromMs,
      toMs: ends[index] ?? fromMs,
      color: colors[index] ?? "red",
    }));
  });
}

/** Draws annotations into a graph: a dashed line at the begin and the end, and the time between them tinted. */
export function Marks({ config, data }: { readonly config: UPlotConfigBuilder; readonly data: PanelData }) {
  const theme = useTheme2();
  const marks = useRef<readonly Mark[]>([]);
  const plot = useRef<uPlot>();
  marks.current = marksOf(data);
  useEffect(() => plot.current?.redraw(), [data.annotations]);
  useLayoutEffect(() => {
    config.addHook("init", (created) => {
      plot.current = created;
    });
    config.addHook("draw", ({ ctx, bbox, valToPos }) => {
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.setLineDash([4, 4]);
      for (const { fromMs, toMs, color } of marks.current) {
        const [begin, end] = [valToPos(fromMs, "x", true), valToPos(toMs, "x", true)];
        ctx.strokeStyle = ctx.fillStyle = theme.visualization.getColorByName(color);
        for (const x of new Set([begin, end])) {
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        ctx.globalAlpha = 0.1;
        ctx.fillRect(begin, bbox.top, end - begin, bbox.height);
        ctx.globalAlpha = 1;
      }
      ctx.restore();
    });
  }, [config, theme]);
  return <i hidden data-marks={marks.current.length} />;
}
