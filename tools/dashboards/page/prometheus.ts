import {
  createDataFrame,
  type DataFrame,
  type DataQueryRequest,
  DataSourceApi,
  FieldType,
  rangeUtil,
  type ScopedVars,
} from "@grafana/data";
import { type SceneObject, sceneGraph } from "@grafana/scenes";
import { from } from "rxjs";

/** A target of a panel or an annotation, as the dashboards have them. */
export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly interval?: string;
  readonly instant?: boolean;
  readonly range?: boolean;
  readonly format?: string;
  readonly hide?: boolean;
}

type Labels = Record<string, string>;
type Sample = readonly [seconds: number, value: string];
interface Row {
  readonly metric: Labels;
  readonly value: Sample;
  readonly values: readonly Sample[];
}

/** Seconds between the scrapes of the data: Grafana's setting "Scrape interval" of a data source. */
const SCRAPE_MS = 60_000;

/** Requests that were sent, and those that have not ended. */
export const traffic = { sent: 0, pending: 0 };

const toNumber = ([, value]: Sample): number =>
  value === "+Inf" ? Infinity : value === "-Inf" ? -Infinity : Number(value);

function legendOf(format: string | undefined, labels: Labels): string {
  if (format !== undefined && format !== "" && format !== "__auto")
    return format.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label: string) => labels[label] ?? "");
  const { __name__ = "", ...rest } = labels;
  const pairs = Object.entries(rest).map(([label, value]) => `${label}="${value}"`);
  return `${__name__}{${pairs.join(", ")}}`;
}

/** Writes a variable's value into a regular expression, as Grafana's data source does. */
function regexText(
  value: string | string[],
  variable: { readonly multi?: boolean; readonly includeAll?: boolean },
): string {
  if (!Array.isArray(value) && !(variable.multi ?? false) && !(variable.includeAll ?? false))
    return String(value);
  const escaped = (one: string): string =>
    one.startsWith(".") ? one : one.replaceAll(/[\\^$*+?.()|[\]{}]/g, String.raw`\\$&`);
  const values = [value].flat().map(escaped);
  return values.length === 1 ? (values[0] ?? "") : `(${values.join("|")})`;
}

/** A data source for what the dashboards use of Grafana's own, which is in no package. */
export class Prometheus extends DataSourceApi<Target> {
  readonly #url: string;

  /** Turns the intervals of an annotation's query into marks with a begin and an end. */
  override annotations = {
    prepareAnnotation: (json: any) => ({
      ...json,
      target: { ...json.target, refId: "Anno", interval: json.step },
    }),
    prepareQuery: ({ target }: any) => target,
    processEvents: (annotation: any, frames: DataFrame[]) => from([eventsOf(annotation, frames)]),
  } as any;

  constructor(url: string, settings: any) {
    super(settings);
    this.interval = `${SCRAPE_MS / 1000}s`;
    this.#url = url;
  }

  override getRef() {
    return { type: "prometheus", uid: this.uid };
  }

  override async testDatasource() {
    return { status: "success", message: "" };
  }

  override async metricFindQuery(query: any, options: any) {
    const text = typeof query === "string" ? query : query.query;
    const [, metric = "", label = ""] = /^label_values\((.+), (\w+)\)$/s.exec(text) ?? [];
    const { from: start, to: end } = options.range;
    const selector = `${expand(metric, options.scopedVars)}[${end.unix() - start.unix()}s]`;
    // The list of values that Prometheus has of a label is for hours at least, this one for the range.
    const { result } = await this.#get("query", {
      query: `group by (${label}) (last_over_time(${selector}))`,
      time: `${end.unix()}`,
    });
    const values = (result as readonly Row[]).map(({ metric: labels }) => labels[label] ?? "").toSorted();
    return values.map((value) => ({ text: value, value }));
  }

  override query(request: DataQueryRequest<Target>) {
    return from(this.#run(request)) as any;
  }

  async #run(request: DataQueryRequest<Target>) {
    const targets = request.targets.filter(({ hide }) => hide !== true);
    const frames = targets.map((target) =>
      target.instant === true && target.range !== true
        ? this.#instant(target, request)
        : this.#range(target, request),
    );
    return { data: (await Promise.all(frames)).flat() };
  }

  async #instant(target: Target, { range, scopedVars, targets }: DataQueryRequest<Target>) {
    const expr = expand(withIntervals(target.expr, SCRAPE_MS, range), scopedVars);
    const { result } = await this.#get("query", { query: expr, time: `${range.to.unix()}` });
    const rows: readonly Row[] = result;
    return target.format === "table"
      ? [tableFrame(target.refId, rows, targets.length > 1)]
      : rows.map((row) => seriesFrame(target, row.metric, [row.value]));
  }

  async #range(target: Target, { range, scopedVars, intervalMs }: DataQueryRequest<Target>) {
    const least = target.interval ? rangeUtil.intervalToMs(target.interval) : SCRAPE_MS;
    const step = Math.ceil(Math.max(intervalMs, least) / 1000);
    const expr = expand(withIntervals(target.expr, step * 1000, range), scopedVars);
    const at = (seconds: number): string => `${Math.floor(seconds / step) * step}`;
    const { result } = await this.#get("query_range", {
      query: expr,
      start: at(range.from.unix()),
      end: at(range.to.unix()),
      step: `${step}`,
    });
    return (result as readonly Row[]).map((row) => seriesFrame(target, row.metric, row.values, step * 1000));
  }

  async #get(path: string, parameters: Record<string, string>): Promise<any> {
    traffic.sent += 1;
    traffic.pending += 1;
    try {
      const response = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
      const { status, data, error } = await response.json();
      if (status !== "success") throw new Error(`${parameters["query"] ?? path}: ${error}`);
      return data;
    } finally {
      traffic.pending -= 1;
    }
  }
}

function expand(text: string, scopedVars: ScopedVars | undefined): string {
  const scene = scopedVars?.["__sceneObject"]?.value.valueOf() as SceneObject | undefined;
  return scene === undefined ? text : sceneGraph.interpolate(scene, text, scopedVars, regexText);
}

function withIntervals(
  expr: string,
  stepMs: number,
  { from: start, to: end }: DataQueryRequest["range"],
): string {
  const rateMs = Math.max(stepMs + SCRAPE_MS, 4 * SCRAPE_MS);
  return expr
    .replaceAll("$__rate_interval", `${rateMs / 1000}s`)
    .replaceAll("$__interval", `${stepMs / 1000}s`)
    .replaceAll("$__range", `${Math.round((end.valueOf() - start.valueOf()) / 1000)}s`);
}

function seriesFrame(
  { refId, legendFormat }: Target,
  labels: Labels,
  samples: readonly Sample[],
  interval?: number,
): DataFrame {
  return createDataFrame({
    refId,
    fields: [
      {
        name: "Time",
        type: FieldType.time,
        config: { interval },
        values: samples.map(([seconds]) => seconds * 1000),
      },
      {
        name: "Value",
        type: FieldType.number,
        labels,
        config: { displayNameFromDS: legendOf(legendFormat, labels) },
        values: samples.map(toNumber),
      },
    ],
  });
}

function tableFrame(refId: string, rows: readonly Row[], isOneOfMany: boolean): DataFrame {
  const labels = [...new Set(rows.flatMap(({ metric }) => Object.keys(metric)))].toSorted();
  if (rows.length === 0) return createDataFrame({ refId, fields: [] });
  return createDataFrame({
    refId,
    fields: [
      { name: "Time", type: FieldType.time, values: rows.map(({ value: [seconds] }) => seconds * 1000) },
      ...labels.map((name) => ({
        name,
        type: FieldType.string,
        values: rows.map(({ metric }) => metric[name] ?? ""),
      })),
      {
        name: isOneOfMany ? `Value #${refId}` : "Value",
        type: FieldType.number,
        values: rows.map(({ value }) => toNumber(value)),
      },
    ],
  });
}

/** With `useValueForTime`, a sample's value is the time of the mark. */
function eventsOf(annotation: any, frames: DataFrame[]): readonly object[] {
  const stepMs = rangeUtil.intervalToMs(annotation.target.interval || "60s");
  return frames.flatMap((frame) => {
    const [times, values] = frame.fields;
    if (times === undefined || values === undefined) return [];
    const events: { time: number; timeEnd: number; [more: string]: unknown }[] = [];
    times.values.forEach((sampledMs: number, index: number) => {
      const value = Number(values.values[index]);
      const time = annotation.useValueForTime ? value : sampledMs;
      const last = events.at(-1);
      if (!(value > 0)) return;
      if (last !== undefined && time - last.timeEnd <= stepMs * 1.5) last.timeEnd = time;
      else
        events.push({
          time,
          timeEnd: time,
          isRegion: true,
          title: legendOf(annotation.titleFormat, values.labels ?? {}),
          tags: [],
          color: annotation.iconColor,
          source: annotation,
        });
    });
    return events;
  });
}
