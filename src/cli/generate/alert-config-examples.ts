import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";
import { ALERTS, RULE_FILES } from "./rules.ts";

export interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** Returns the inhibition rules. While an alert fires, the alerts that it causes send no notifications. */
export function inhibitRules(): readonly InhibitRule[] {
  const targets = new Map(ALERTS.map((one) => [one.name, one]));
  const causes = new Map(ALERTS.filter(({ inhibits }) => inhibits.length > 0).map((one) => [one.alert, one]));
  return [
    // The rules on raw metrics can be loaded together with the watchdog's rules. The raw rules notify while the watchdog does not.
    {
      source_matchers: ['component = "oracle-watchdog"'],
      target_matchers: ['component = "oracle-raw"'],
      equal: ["alertname", "chain_id", "validator"],
    },
    ...[...causes.values()].flatMap(({ alert, inhibits, scope }) => {
      const effects = inhibits.flatMap((name) => targets.get(name) ?? []);
      // One connection's problems do not affect another. An alert about the whole relayer has no connection.
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

/** Returns an Alertmanager configuration with receivers for pages, tickets, a chat, and a monitor of the monitoring itself. */
export function alertmanagerExample(): string {
  return (
    GENERATED +
    yamlText({
      route: {
        receiver: "chat",
        // Send one notification for alerts that fire together.
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

/** Returns an Alertmanager configuration for a localnet. Alertmanager's page shows the alerts, but nobody is notified. */
export function alertmanagerLocalnet(): string {
  return (
    GENERATED +
    yamlText({
      route: {
        receiver: "page",
        // A critical alert must not wait for the next message about a group of warnings.
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

/** Returns a Prometheus configuration for one validator, one relayer, and Prometheus and Alertmanager themselves. */
export function prometheusExample(): string {
  return prometheusConfig({ chainId: "neutron-1", interval: "15s", own: "127.0.0.1:9090", more: [] });
}

/**
 * Returns the Prometheus configuration for a localnet and its IBC relayer. The localnet's gRPC server uses Prometheus's usual port.
 */
export function prometheusLocalnet(): string {
  const more = [job("localnet", "127.0.0.1:9997")];
  return prometheusConfig({ chainId: "local-1", interval: "5s", own: "127.0.0.1:9091", more });
}

interface PrometheusPlace {
  readonly chainId: string;
  readonly interval: string;
  /** Prometheus's own address. */
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
