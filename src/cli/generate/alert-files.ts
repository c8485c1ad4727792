import {
  type AlertCase,
  type AlertSpec,
  placeLabels,
  type SeriesCase,
} from "../../platform/monitoring/alerts/alert-spec.ts";
import { GENERATED, ruleFile, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";
import { RAW_CASE_FILES } from "../../watchdog/monitoring/raw-alerts.ts";
import { ALERTS, RULE_FILES } from "./rules.ts";
import { REAL_TIMES, toMinutes } from "../../platform/monitoring/alerts/times.ts";

/** Returns the generated Prometheus and Alertmanager files in `alerts`, keyed by their path in the repository. */
export function alertFiles(): ReadonlyMap<string, string> {
  return new Map<string, string>([
    ...[...RULE_FILES].map(
      ([name, groups]) => [`alerts/prometheus/${name}`, ruleFile(groups, REAL_TIMES)] as const,
    ),
    ...[...RULE_FILES.keys()].flatMap((name) => [...caseFiles(name)].map(inTests)),
    ...RAW_CASE_FILES.map(inTests),
    ["alerts/prometheus/prometheus.example.yaml", prometheusExample()],
    ["alerts/prometheus/prometheus.localnet.yaml", prometheusLocalnet()],
    ["alerts/alertmanager/alertmanager.example.yaml", alertmanagerExample()],
    ["alerts/alertmanager/alertmanager.localnet.yaml", alertmanagerLocalnet()],
  ]);
}

function inTests([name, content]: readonly [string, string]): readonly [string, string] {
  return [`alerts/prometheus/tests/${name}`, content];
}

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** Returns the inhibition rules: while an alert fires, no notifications are sent for the alerts that it causes. */
export function inhibitRules(): readonly InhibitRule[] {
  const targets = new Map(ALERTS.map((one) => [one.name, one]));
  const causes = new Map(ALERTS.filter(({ inhibits }) => inhibits.length > 0).map((one) => [one.alert, one]));
  return [
    // If you load both the rules on raw metrics and the watchdog's rules, a raw-metrics alert notifies you only while the
    // watchdog's alert with the same name does not fire.
    {
      source_matchers: ['component = "oracle-watchdog"'],
      target_matchers: ['component = "oracle-raw"'],
      equal: ["alertname", "chain_id", "validator"],
    },
    ...[...causes.values()].flatMap(({ alert, inhibits, scope }) => {
      const effects = inhibits.flatMap((name) => targets.get(name) ?? []);
      // Problems on one connection do not affect other connections. Alerts about the whole relayer have no connection label.
      const isOfConnection = (effect: AlertSpec): boolean =>
        scope.includes("connection_id") && effect.scope.includes("connection_id");
      const rule = (group: readonly AlertSpec[], equal: readonly string[]): readonly InhibitRule[] =>
        group.length === 0
          ? []
          : [
              {
                source_matchers: [`alertname = "${alert}"`],
                target_matchers: [`alertname =~ "${group.map((effect) => effect.alert).join("|")}"`],
                equal,
              },
            ];
      return [
        ...rule(effects.filter(isOfConnection), scope),
        ...rule(
          effects.filter((effect) => !isOfConnection(effect)),
          scope.filter((label) => label !== "connection_id"),
        ),
      ];
    }),
  ];
}

const DEAD_MAN = 'alertname = "RelaywatchDeadMan"';

/** Returns an Alertmanager configuration with receivers for paging, tickets, a chat, and a service that monitors the monitoring. */
function alertmanagerExample(): string {
  return (
    GENERATED +
    yamlText({
      route: {
        receiver: "chat",
        // Send a single notification for alerts that fire together.
        group_by: ["component", "chain_id", "validator", "instance"],
        group_wait: "15s",
        group_interval: "1m",
        repeat_interval: "4h",
        routes: [
          {
            matchers: [DEAD_MAN],
            receiver: "dead-man",
            group_wait: "0s",
            group_interval: "1m",
            repeat_interval: "1m",
          },
          { matchers: ['severity = "critical"'], receiver: "page", repeat_interval: "1h" },
          { matchers: ['severity = "warning"'], receiver: "ticket", repeat_interval: "12h" },
        ],
      },
      inhibit_rules: inhibitRules(),
      receivers: [
        {
          name: "page",
          pagerduty_configs: [
            {
              routing_key_file: secret("pagerduty-key"),
              severity: "{{ .CommonLabels.severity }}",
              description:
                "{{ .CommonLabels.chain_id }} {{ .CommonLabels.validator }}{{ .CommonLabels.instance }}: {{ (index .Alerts 0).Annotations.summary }}",
            },
          ],
        },
        {
          name: "ticket",
          webhook_configs: [{ url: "http://127.0.0.1:9095/tickets", send_resolved: true }],
        },
        {
          name: "chat",
          slack_configs: [
            {
              api_url_file: secret("slack-url"),
              channel: "#oncall",
              send_resolved: true,
              title: "{{ .CommonLabels.alertname }} ({{ .Status }})",
              text: "{{ range .Alerts }}{{ .Annotations.description }} {{ .Annotations.runbook_url }}\n{{ end }}",
            },
          ],
        },
        {
          name: "dead-man",
          webhook_configs: [{ url: "https://dead-man.example/ping", send_resolved: false }],
        },
      ],
    })
  );
}

/** Returns an Alertmanager configuration for a localnet. Alerts appear on Alertmanager's web page, but nobody is notified. */
function alertmanagerLocalnet(): string {
  return (
    GENERATED +
    yamlText({
      route: {
        receiver: "page",
        // A critical alert must not wait for the next notification of a group of warnings.
        group_by: ["component", "severity", "instance", "validator"],
        group_wait: "5s",
        group_interval: "10s",
        routes: [{ matchers: [DEAD_MAN], receiver: "dead-man", group_wait: "0s", repeat_interval: "1m" }],
      },
      inhibit_rules: inhibitRules(),
      receivers: [{ name: "page" }, { name: "dead-man" }],
    })
  );
}

/** Returns a Prometheus configuration for one validator, one relayer, Prometheus and Alertmanager. */
function prometheusExample(): string {
  return prometheusConfig({ chainId: "neutron-1", interval: "15s", own: "127.0.0.1:9090", more: [] });
}

/**
 * Returns the Prometheus configuration for a localnet and its IBC relayer. Prometheus's default port is not available, because
 * the localnet's gRPC server uses it.
 */
function prometheusLocalnet(): string {
  const more = [job("localnet", "127.0.0.1:9997")];
  return prometheusConfig({ chainId: "local-1", interval: "5s", own: "127.0.0.1:9091", more });
}

interface PrometheusPlace {
  readonly chainId: string;
  readonly interval: string;
  /** Address at which Prometheus scrapes itself. */
  readonly own: string;
  readonly more: readonly ReturnType<typeof job>[];
}

function prometheusConfig({ chainId, interval, own, more }: PrometheusPlace): string {
  const validator = { validator: "default", chain_id: chainId };
  return (
    GENERATED +
    yamlText({
      global: { scrape_interval: interval, evaluation_interval: interval },
      rule_files: [...RULE_FILES.keys()],
      alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:9093"] }] }] },
      scrape_configs: [
        job("oracle-watchdog", "127.0.0.1:9998"),
        job("icq-relayer", "127.0.0.1:9999"),
        job("oracle-node", "127.0.0.1:26660", validator),
        job("oracle-sidecar", "127.0.0.1:8002", validator),
        job("prometheus", own),
        job("alertmanager", "127.0.0.1:9093"),
        ...more,
      ],
    })
  );
}

function job(name: string, target: string, labels?: Readonly<Record<string, string>>) {
  return {
    job_name: name,
    static_configs: [{ targets: [target], ...(labels === undefined ? {} : { labels }) }],
  };
}

function secret(file: string): string {
  return `/etc/alertmanager/secrets/${file}`;
}

/** Sampling and evaluation intervals: short by default, but long for test cases that last many hours. */
interface Sampling {
  readonly name: "short" | "long";
  /** Number of samples per minute in each test series. */
  readonly samples: number;
  readonly evaluation: string;
}

const SAMPLINGS: readonly Sampling[] = [
  { name: "short", samples: 4, evaluation: "30s" },
  { name: "long", samples: 1, evaluation: "5m" },
];
const LONG_MINUTES = 120;

/**
 * Returns promtool test files, by name, for the alerts in a rule file. Each test evaluates an alert before, during and after a
 * situation in which the alert fires.
 */
function caseFiles(file: string): ReadonlyMap<string, string> {
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

/** Returns a series for a test's second phase, which continues from the first phase's last value unless it has its own first value. */
function continued(next: SeriesCase, before: SeriesCase, minutes: number): SeriesCase {
  const { from = 0, step = 0, jump = 0, clock } = before;
  return { ...next, from: next.from ?? (clock ? from : from + jump + step * minutes) };
}

interface Phase {
  readonly atMinute: number;
  readonly count: number;
  /** Number of samples per minute in each test series. */
  readonly samples: number;
}

/** Formats a series' samples in promtool's notation, such as "0+5x9" for ten samples. With `clock`, values advance in seconds. */
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

/** Replaces `$` with the labels of the alert's target, except for labels that the series already contains. */
function withLabels(series: string, { component, name }: AlertSpec, place = name): string {
  const labels = Object.entries(placeLabels(component, place))
    .filter(([label]) => !series.includes(`,${label}="`))
    .map(([label, value]) => `${label}="${value}"`);
  return series.replace("$", labels.join(","));
}
