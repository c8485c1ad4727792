import {
  type AlertCase,
  type AlertSpec,
  placeLabels,
  type SeriesCase,
} from "../../platform/monitoring/alerts/alert-spec.ts";
import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";
import { RULE_FILES } from "./rules.ts";
import { toMinutes } from "../../platform/monitoring/alerts/times.ts";

/** Sampling and evaluation interval: short by default, long for cases that last many hours. */
interface Sampling {
  readonly name: "short" | "long";
  /** Samples per minute. */
  readonly samples: number;
  readonly evaluation: string;
}

const SAMPLINGS: readonly Sampling[] = [
  { name: "short", samples: 4, evaluation: "30s" },
  { name: "long", samples: 1, evaluation: "5m" },
];
const LONG_MINUTES = 120;

/**
 * Returns promtool test files for a rule file's alerts, by name. Each file tests its alert before, during and after its situation.
 */
export function caseFiles(file: string): ReadonlyMap<string, string> {
  const cases = (RULE_FILES.get(file) ?? [])
    .flatMap((group) => group.alerts)
    .filter(isTestable)
    .map((alert) => ({ alert, minutes: minutesOf(alert) }));
  return new Map(
    SAMPLINGS.flatMap((sampling) => {
      const tests = cases.filter(({ minutes }) => minutes.end > LONG_MINUTES === (sampling.name === "long"));
      if (tests.length === 0) return [];
      const content = {
        rule_files: [`../${file}`],
        evaluation_interval: sampling.evaluation,
        tests: tests.map(({ alert, minutes }) => caseYaml(alert, minutes, sampling)),
      };
      return [[file.replace(".rules.", `.${sampling.name}.test.`), GENERATED + yamlText(content)] as const];
    }),
  );
}

type Testable = AlertSpec & { readonly example: AlertCase };

interface Minutes {
  readonly fires: number;
  readonly end: number;
}

function minutesOf({ for: lasting, example }: Testable): Minutes {
  const fires = Math.ceil(toMinutes(lasting) + toMinutes(example.trueAfter ?? "10m"));
  return { fires, end: fires + Math.ceil(toMinutes(example.resolves ?? "15m") + toMinutes(lasting)) };
}

function isTestable(alert: AlertSpec): alert is Testable {
  return alert.example !== undefined && alert.example.fires.length > 0;
}

function caseYaml(alert: Testable, minutes: Minutes, sampling: Sampling) {
  const lasting = toMinutes(alert.for);
  const check = (minute: number, isFiring: boolean) => ({
    eval_time: `${minute}m`,
    expr: `count by (alertname, severity) (ALERTS{alertname="${alert.alert}", alertstate="firing"})`,
    exp_samples: isFiring
      ? [{ labels: `{alertname="${alert.alert}", severity="${alert.severity}"}`, value: 1 }]
      : [],
  });
  return {
    name: alert.alert,
    interval: `${60 / sampling.samples}s`,
    input_series: inputSeries(alert, minutes, sampling),
    promql_expr_test: [
      ...(lasting >= 2 ? [check(Math.floor(lasting - 1), false)] : []),
      check(minutes.fires, true),
      check(minutes.end, false),
    ],
  };
}

function inputSeries(alert: Testable, minutes: Minutes, { samples }: Sampling) {
  const { fires, clears } = alert.example;
  const first = minutes.fires * samples + 1;
  const second = (minutes.end - minutes.fires) * samples;
  const later = new Map(clears.map((one) => [one.series, one]));
  const afterwards = (one: SeriesCase): string => {
    if (one.ends !== undefined) return `_x${second}`;
    const next = later.get(one.series) ?? { series: one.series, ...(one.step && { step: one.step }) };
    return ramp(continued(next, one, minutes.fires), { atMinute: minutes.fires, count: second, samples });
  };
  const series = (one: SeriesCase, values: string) => ({ series: withLabels(one.series, alert), values });
  return [
    ...fires.map((one) =>
      series(one, `${ramp(one, { atMinute: 0, count: first, samples })} ${afterwards(one)}`),
    ),
    ...clears
      .filter(({ series: name }) => !fires.some((one) => one.series === name))
      .map((one) =>
        series(one, `_x${first} ${ramp(one, { atMinute: minutes.fires, count: second, samples })}`),
      ),
  ];
}

/** Returns the series for the second phase. Without a first value, it continues from its last value in the first phase. */
function continued(next: SeriesCase, before: SeriesCase, minutes: number): SeriesCase {
  const { from = 0, step = 0, jump = 0, clock } = before;
  return { ...next, from: next.from ?? (clock ? from : from + jump + step * minutes) };
}

interface Phase {
  readonly atMinute: number;
  readonly count: number;
  /** Per minute. */
  readonly samples: number;
}

/** Formats samples in promtool's notation, for example "0+5x9" for ten samples. Time begins at 0. */
function ramp(
  { from = 0, step = 0, jump = 0, ends, clock }: SeriesCase,
  { atMinute, count, samples }: Phase,
): string {
  const start = clock ? from + atMinute * 60 : from;
  const growth = (clock ? 60 : step) / samples;
  const part = (value: number, length: number): string =>
    `${value}${growth < 0 ? "" : "+"}${growth}x${length - 1}`;
  if (ends !== undefined) return `${part(start, ends * samples)} _x${count - ends * samples}`;
  return jump === 0
    ? part(start, count)
    : `${part(start, samples)} ${part(start + jump + growth * samples, count - samples)}`;
}

/** Replaces `$` with the labels of the alert's target. Labels in the series itself take precedence. */
function withLabels(series: string, { component, name }: AlertSpec, place = name): string {
  const labels = Object.entries(placeLabels(component, place))
    .filter(([label]) => !series.includes(`,${label}="`))
    .map(([label, value]) => `${label}="${value}"`);
  return series.replace("$", labels.join(","));
}
