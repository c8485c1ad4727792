import { GENERATED, yamlText } from "../../platform/monitoring/alerts/rule-files.ts";
import { dashboardJson } from "../../platform/monitoring/dashboards/build.ts";
import { IBC_RELAYER_ROW } from "../../localnet/monitoring/ibc-relayer-row.ts";
import { FLEET } from "../../watchdog/monitoring/fleet-dashboard.ts";
import { OVERVIEW } from "./overview-dashboard.ts";
import { VALIDATOR_ON_CHAIN } from "../../watchdog/monitoring/chain-dashboard.ts";
import { COSTS } from "../../relayer/monitoring/costs-dashboard.ts";
import { PAID } from "../../watchdog/monitoring/paid-dashboard.ts";
import type { DashboardSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { PROCESS } from "../../platform/monitoring/dashboards/process-dashboard.ts";
import { PAID_RAW } from "../../watchdog/monitoring/raw-dashboard.ts";
import { QUERY } from "../../relayer/monitoring/query-dashboard.ts";
import { RELAYER } from "../../relayer/monitoring/relayer-dashboard.ts";

/** All dashboards. */
export const DASHBOARD_SPECS: readonly DashboardSpec[] = [
  OVERVIEW,
  PAID,
  PAID_RAW,
  VALIDATOR_ON_CHAIN,
  FLEET,
  RELAYER,
  COSTS,
  QUERY,
  { ...PROCESS, rows: [...PROCESS.rows, IBC_RELAYER_ROW] },
];

/** Returns every generated file in `dashboards`, by its path in the repository. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...DASHBOARD_SPECS.map((spec) => [`dashboards/json/${spec.file}`, dashboardJson(spec)] as const),
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
