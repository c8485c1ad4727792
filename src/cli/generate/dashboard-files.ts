import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";
import { dashboardJson } from "../../platform/monitoring/dashboards/build.ts";
import { ALERTS } from "./rules.ts";
import { withAlertTitles } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { DASHBOARD_SPECS } from "./dashboards.ts";

const ALERT_TITLES = Object.fromEntries(
  ALERTS.map(({ name, summary }) => [name, summary.replace(/\.$/, "")] as const),
);

/** Returns all generated files in `dashboards`, keyed by their path in the repository. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...DASHBOARD_SPECS.map(
      (spec) => [`dashboards/json/${spec.file}`, dashboardJson(withAlertTitles(spec, ALERT_TITLES))] as const,
    ),
    ["dashboards/provisioning/dashboards.yaml", GENERATED + yamlText(PROVIDERS)],
    ["dashboards/provisioning/datasources.yaml", GENERATED + yamlText(DATA_SOURCES)],
  ]);
}

const PROVIDERS = {
  apiVersion: 1,
  providers: [
    {
      name: "relaywatch",
      folder: "Relaywatch",
      folderUid: "relaywatch",
      type: "file",
      disableDeletion: true,
      allowUiUpdates: false,
      updateIntervalSeconds: 60,
      options: { path: "/var/lib/grafana/dashboards/relaywatch" },
    },
  ],
};

const DATA_SOURCES = {
  apiVersion: 1,
  datasources: [
    {
      name: "Prometheus",
      uid: "relaywatch-prometheus",
      type: "prometheus",
      access: "proxy",
      url: "http://127.0.0.1:9090",
      isDefault: true,
      editable: false,
      jsonData: { httpMethod: "POST", timeInterval: "15s" },
    },
  ],
};
