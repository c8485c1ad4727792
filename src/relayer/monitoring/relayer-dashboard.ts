import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  BAD_ABOVE_ZERO,
  type DashboardSpec,
  PROCESSES,
  query,
  ruleAlerts,
  stat,
  table,
  upOrDown,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { ANNOTATIONS, BALANCE_LASTS, CHAINS, CONNECTIONS, M, PLACE, RELAYERS } from "./relayer-parts.ts";
import { ACTIVE_ROWS } from "./relayer-active-rows.ts";
import { SAFE_ROW } from "./relayer-safe-row.ts";

export const RELAYER: DashboardSpec = {
  uid: DASHBOARDS.relayer,
  pages: ["relayer"],
  file: "icq-relayer.json",
  title: "ICQ relayer",
  description: "Is it active? Is it current? Is it safe? The ICQ costs dashboard has the fees.",
  variables: [...RELAYERS, CONNECTIONS, CHAINS],
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "Is anything wrong?",
      panels: [
        stat("Ready", [query(`min by (instance) (${M}_ready{${PROCESSES}})`, "{{instance}}")], {
          description: "Whether GET /readyz reports no problem.",
          unit: "none",
          states: upOrDown("ready", "not ready"),
        }),
        stat("Overdue queries", [query(`sum(${M}_overdue_queries{${PLACE}})`, "overdue")], {
          description:
            "Queries overdue by more than health.overdue_blocks, even though a result could have been delivered.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
        }),
        stat("Latest query", [query(`max(${M}_most_late_seconds{${PLACE}})`, "late")], {
          description: "Time since the most delayed query's result was due.",
          unit: "s",
        }),
        stat(
          "Light client left",
          [
            query(
              `min((${M}_client_expiry_timestamp_seconds{${PLACE}} - time()) / ${M}_client_trusting_period_seconds{${PLACE}})`,
              "left",
            ),
          ],
          {
            description:
              "Share of the trusting period left before the first light client expires unless it is updated. The relayer updates it at a third; alerts fire at a fifth (health.client_expires_soon) and at a twentieth.",
            unit: "percentunit",
            colors: [
              ["red", undefined],
              ["yellow", 0.05],
              ["green", 0.2],
            ],
          },
        ),
        { ...BALANCE_LASTS, width: 4 },
        stat("Dead letters", [query(`max(${M}_dead_letters{${PROCESSES}})`, "dead letters")], {
          description: "Remote transactions that are not resent automatically.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
        }),
        table("Problems", [`max by (instance, code, connection_id) (${M}_problems{${PROCESSES}}) > 0`], {
          description: "Current problems, as reported by GET /readyz.",
          unit: "none",
          width: 24,
          height: 3,
          isList: true,
          emptyText: "GET /readyz reports no problem",
          columns: [
            { label: "code", title: "Problem" },
            {
              label: "connection_id",
              title: "Connection",
              leadsTo: { dashboard: DASHBOARDS.query, variable: "connection" },
              width: 110,
            },
            { label: "instance", title: "Instance", width: 110 },
          ],
        }),
        ruleAlerts('component="icq-relayer",job=~"$job"', [
          { label: "connection_id", title: "Connection", width: 110 },
          { label: "endpoint", title: "Endpoint", width: 200 },
          { label: "instance", title: "Instance", width: 110 },
        ]),
      ],
    },
    ...ACTIVE_ROWS,
    SAFE_ROW,
  ],
};
