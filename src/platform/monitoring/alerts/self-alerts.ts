import type { GroupSpec } from "./alert-spec.ts";
import { alertNameOf } from "./alert-name.ts";
import { DAEMON_ALERTS } from "./daemon-alerts.ts";
import { DASHBOARDS } from "./links.ts";
import { PROGRAM_ALERTS } from "./program-alerts.ts";

/** Alerts about the monitoring itself. */
export const SELF_GROUP: GroupSpec = {
  name: "relaywatch.alerts",
  records: [],
  alerts: [...DAEMON_ALERTS, ...PROGRAM_ALERTS].map((alert) => ({
    ...alert,
    alert: alertNameOf(alert.name),
    component: "relaywatch",
    dashboard: DASHBOARDS.process,
    inhibits: alert.inhibits ?? [],
    scope: ["job", "instance"],
  })),
};
