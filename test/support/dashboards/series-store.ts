import { z } from "zod";
import { DASHBOARD_SPECS } from "../../../src/cli/generate/dashboards.ts";
import { RULE_FILES } from "../../../src/cli/generate/rules.ts";
import { promqlSelectors } from "../../../src/cli/generate/runbook-errors.ts";
import { MINUTE_MS } from "../../../src/platform/base/time.ts";
import type { AlertSpec, RecordSpec } from "../../../src/platform/monitoring/alerts/alert-spec.ts";
import { REAL_TIMES, toMinutes } from "../../../src/platform/monitoring/alerts/times.ts";
import { dashboardExpressions, withoutVariables } from "../dashboard-queries.ts";
import { openPrometheus, type StoredPrometheus } from "../stack/prometheus-server.ts";
import { blocksAt } from "./node-target.ts";
import { createSampleWriter, type Labels, type SampleWriter } from "./remote-write.ts";
import type { Situation } from "./situations.ts";
import { STEP_MS, type Target } from "./target.ts";

const GROUPS = [...RULE_FILES.values()].flat();
const RECORDS = GROUPS.flatMap(({ records }) => records);
const ALERTS = GROUPS.flatMap(({ alerts }) => alerts);

/** Records that need their own past: their values are given. */
const GIVEN = [
  "instance:oracle_month_calls:all",
  "instance:oracle_month_calls:good",
  "instance:oracle_calls_seen:all",
  "instance:oracle_calls_seen:good",
  "oracle_month:number",
];

/** Metrics that a dashboard or a rule names. No other line of a page is stored. */
const USED = [
  ...DASHBOARD_SPECS.flatMap(dashboardExpressions).map(({ expr }) => withoutVariables(expr)),
  ...DASHBOARD_SPECS.flatMap(({ variables }) => variables).map(({ metric }) => withoutVariables(metric)),
  ...ALERTS.map(({ expr }) => expr(REAL_TIMES)),
  ...RECORDS.map(({ expr }) => expr(REAL_TIMES)),
].flatMap(promqlSelectors);

/** Starts a Prometheus with the series of all situations, and with what the rules make of them. */
export async function openSeriesStore(situations: readonly Situation[]): Promise<StoredPrometheus> {
  const server = await openPrometheus();
  try {
    for (const situation of situations) {
      const writer = createSampleWriter(server.url);
      await writeScrapes(situation, writer);
      await writer.flush();
      await writeRecords(server.url, situation, writer);
      await writeAlerts(server.url, situation, writer);
      await writer.flush();
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

async function writeScrapes(
  { endMs, historyMs, targets, nodes }: Situation,
  writer: SampleWriter,
): Promise<void> {
  for (let atMs = endMs - historyMs; atMs <= endMs; atMs += STEP_MS) {
    for (const target of targets) await writeScrape(target, atMs, writer);
    for (const { validator, host, fault } of nodes) {
      const labels = { validator, chain_id: "neutron-1", instance: `${host}:26660` };
      const { all, bad } = blocksAt(atMs, endMs, fault);
      writer.write("instance:oracle_month_calls:all", labels, all, atMs);
      writer.write("instance:oracle_month_calls:good", labels, all - bad, atMs);
    }
    const prometheus = { job: "prometheus", instance: "127.0.0.1:9090" };
    writer.write("prometheus_notifications_alertmanagers_discovered", prometheus, 1, atMs);
  }
}

/** Series by what the page of a target names them; undefined for those that nobody uses. */
const storedSeries = new WeakMap<
  Target,
  Map<string, { readonly name: string; readonly labels: Labels } | undefined>
>();

async function writeScrape(target: Target, atMs: number, { write }: SampleWriter): Promise<void> {
  const { job, instance, labels = {}, page } = target;
  const own = { ...labels, job, instance };
  const text = await page(atMs);
  write("up", own, text === undefined ? 0 : 1, atMs);
  write("scrape_duration_seconds", own, 0.012 + ((atMs / STEP_MS) % 5) * 0.001, atMs);
  const stored = storedSeries.get(target) ?? new Map();
  storedSeries.set(target, stored);
  for (const line of text?.split("\n") ?? []) {
    const space = line.lastIndexOf(" ");
    const exported = line.slice(0, space);
    if (!stored.has(exported)) stored.set(exported, seriesOf(exported, own));
    const series = stored.get(exported);
    const value = line.slice(space + 1);
    if (series !== undefined && !/^nan$/i.test(value)) write(series.name, series.labels, Number(value), atMs);
  }
}

function seriesOf(exported: string, own: Labels) {
  const [, name = "", inside = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?$/.exec(exported) ?? [];
  if (!USED.some((selector) => selector.name.test(name))) return undefined;
  const pairs = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", text = ""]) => [
    label,
    text,
  ]);
  // An empty label is none.
  const labels = Object.entries({ ...Object.fromEntries(pairs), ...own }).filter(([, text]) => text !== "");
  return { name, labels: Object.fromEntries(labels) };
}

/** Evaluates the recording rules: first those that need no other record. */
async function writeRecords(url: string, situation: Situation, writer: SampleWriter): Promise<void> {
  const known = new Set(GIVEN);
  const isReady = ({ expr }: RecordSpec): boolean => {
    const needed = promqlSelectors(expr(REAL_TIMES));
    return RECORDS.every(({ record }) => known.has(record) || !needed.some(({ name }) => name.test(record)));
  };
  for (;;) {
    const next = RECORDS.filter((record) => !known.has(record.record) && isReady(record));
    if (next.length === 0) break;
    for (const { record, expr, labels = {} } of next)
      for (const { metric, values } of await range(url, expr(REAL_TIMES), situation))
        for (const [seconds, value] of values)
          writer.write(record, { ...withoutName(metric), ...labels }, Number(value), seconds * 1000);
    await writer.flush();
    for (const { record } of next) known.add(record);
  }
  const left = RECORDS.filter(({ record }) => !known.has(record)).map(({ record }) => record);
  if (left.length > 0) throw new Error(`records that need each other: ${left.join(", ")}`);
}

/** Evaluates the alerts as Prometheus does: pending while true, firing after the rule's duration. */
async function writeAlerts(url: string, situation: Situation, writer: SampleWriter): Promise<void> {
  const results = await Promise.all(ALERTS.map((alert) => range(url, alert.expr(REAL_TIMES), situation)));
  ALERTS.forEach((alert, index) => {
    for (const { metric, values } of results[index] ?? [])
      writeAlert(alert, withoutName(metric), values, writer);
  });
}

function writeAlert(spec: AlertSpec, own: Labels, values: readonly Sample[], { write }: SampleWriter): void {
  const { alert, severity, component, name } = spec;
  const labels = { ...own, alertname: alert, severity, component, runbook: name };
  let sinceMs: number | undefined;
  let lastMs = 0;
  for (const [seconds] of values) {
    const atMs = seconds * 1000;
    if (sinceMs === undefined || atMs - lastMs > STEP_MS) sinceMs = atMs;
    lastMs = atMs;
    const isFiring = atMs - sinceMs >= toMinutes(spec.for) * MINUTE_MS;
    write("ALERTS", { ...labels, alertstate: isFiring ? "firing" : "pending" }, 1, atMs);
    write("ALERTS_FOR_STATE", labels, sinceMs / 1000, atMs);
  }
}

function withoutName(metric: Labels): Labels {
  return Object.fromEntries(Object.entries(metric).filter(([label]) => label !== "__name__"));
}

const sample = z.tuple([z.number(), z.string()]);
type Sample = z.output<typeof sample>;
const matrix = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), values: z.array(sample) })),
  }),
});

async function range(url: string, query: string, { endMs, historyMs }: Situation) {
  const response = await fetch(`${url}/api/v1/query_range`, {
    method: "POST",
    body: new URLSearchParams({
      query,
      start: `${(endMs - historyMs) / 1000}`,
      end: `${endMs / 1000}`,
      step: `${STEP_MS / 1000}`,
    }),
  });
  if (!response.ok) throw new Error(`${query}: ${await response.text()}`);
  return matrix.parse(await response.json()).data.result;
}
