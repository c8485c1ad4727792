import { alertName } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import type { AlertSpec, GroupSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { CALL_RECORDS, MONTH_RECORDS } from "./raw-records.ts";

/** The conditions that the metrics of node and sidecar alone show, for an installation without the watchdog. */
export const RAW_GROUPS: readonly GroupSpec[] = [
  { name: "oracle-raw.calls", records: CALL_RECORDS, alerts: [] },
  { name: "oracle-raw.month", interval: "1m", records: MONTH_RECORDS, alerts: [] },
  {
    name: "oracle-raw.alerts",
    records: [],
    alerts: CONDITIONS.flatMap((condition): readonly AlertSpec[] => {
      const { name, severity, title, description, impact, inhibits, runbook, raw } = condition;
      if (raw === undefined) return [];
      return [
        {
          name,
          alert: alertName(name),
          component: "oracle-raw",
          severity,
          summary: `${title}.`,
          description: `{{ $labels.validator }} on {{ $labels.chain_id }}: ${raw.value} ${description}`,
          impact,
          expr: raw.expr,
          for: raw.for ?? condition.for,
          dashboard: DASHBOARDS.paidRaw,
          inhibits,
          scope: ["chain_id", "validator"],
          runbook,
          example: raw.example,
        },
      ];
    }),
  },
];
