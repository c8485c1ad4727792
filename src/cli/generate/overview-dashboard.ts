import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  BAD_ABOVE_ZERO,
  type DashboardSpec,
  PROCESSES,
  processVariables,
  query,
  restartsOf,
  ruleAlerts,
  stat,
  upOrDown,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { M as R } from "../../relayer/monitoring/relayer-condition.ts";
import { BALANCE_LASTS } from "../../relayer/monitoring/relayer-parts.ts";
import {
  ALLOWANCE_COLORS,
  allowanceLeft,
  belowFullPay,
  TO_PAID,
} from "../../watchdog/monitoring/oracle-parts.ts";

const W = "oracle_watchdog";
const NO_WATCHDOG = "No watchdog is scraped";
const NO_RELAYER = "No relayer is scraped";

const OURS = 'component!="",alertname!="RelaywatchDeadMan"';
/** PromQL that excludes muted alerts: rules cannot tell which alerts have another alert as their cause, but the watchdog can. */
const NOT_MUTED = ` unless on (validator, runbook) label_replace(${W}_alert_since_timestamp_seconds{state="muted"}, "runbook", "$1", "alert", "(.+)")`;
/**
 * PromQL expression for the number of firing alerts. Without loaded rules, the expression has no value: the dead man's alert always
 * fires where the rules are loaded.
 */
const FIRING_ALERTS = `count(count by (runbook, validator, connection_id, instance) (ALERTS{${OURS},alertstate="firing"}${NOT_MUTED})) or 0 * count(ALERTS{alertname="RelaywatchDeadMan"})`;

export const OVERVIEW: DashboardSpec = {
  uid: DASHBOARDS.overview,
  pages: ["watchdog", "relayer"],
  file: "overview.json",
  title: "Overview",
  description:
    "Are the validators paid in full? Are the results of interchain queries current? The links lead to the details.",
  variables: processVariables("relaywatch_build_info"),
  range: "hours",
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component!="",alertstate="firing",alertname!="RelaywatchDeadMan"}',
  rows: [
    {
      title: "Now",
      panels: [
        stat("Below full pay so far", [query(belowFullPay(PROCESSES), "validators")], {
          description:
            "Validators whose month would not be paid in full if it ended now. Early in a month, one hour is enough; the allowance shows whether full pay is still possible.",
          unit: "none",
          leadsTo: DASHBOARDS.fleet,
          colors: BAD_ABOVE_ZERO,
          emptyText: NO_WATCHDOG,
          width: 5,
        }),
        stat("Least allowance left", [query(`min(${allowanceLeft("full", PROCESSES)})`, "full pay")], {
          description:
            "The share of this month's allowed misses that is left, for the validator with the least left.",
          unit: "percentunit",
          leadsTo: DASHBOARDS.fleet,
          decimals: 0,
          colors: ALLOWANCE_COLORS,
          emptyText: NO_WATCHDOG,
          width: 5,
        }),
        stat("Lowest rate", [query(`min(${W}_month_success_ratio{${PROCESSES}})`, "of the month")], {
          description: "The lowest success rate of any validator this month.",
          unit: "percentunit",
          leadsTo: DASHBOARDS.fleet,
          decimals: 3,
          emptyText: NO_WATCHDOG,
          width: 5,
        }),
        stat(
          "Nodes without a reading",
          [query(`sum(1 - max by (validator, node) (${W}_source_up{${PROCESSES},source="node"}))`, "nodes")],
          {
            description: "Nodes whose metrics page the watchdog could not read at the last poll.",
            unit: "none",
            leadsTo: DASHBOARDS.fleet,
            colors: BAD_ABOVE_ZERO,
            emptyText: NO_WATCHDOG,
            width: 5,
          },
        ),
        stat("Firing alerts", [query(FIRING_ALERTS, "firing")], {
          description:
            "Firing alerts from the rules, except those that the watchdog mutes because of their cause.",
          unit: "none",
          leadsTo: DASHBOARDS.overview,
          colors: BAD_ABOVE_ZERO,
          emptyText: "No rules are loaded",
          width: 4,
        }),
        stat("Relayers ready", [query(`min(${R}_ready{${PROCESSES}})`, "ready")], {
          description: "Ready if no relayer reports a problem.",
          unit: "none",
          leadsTo: DASHBOARDS.relayer,
          states: upOrDown("ready", "not ready"),
          emptyText: NO_RELAYER,
          width: 5,
        }),
        stat("Overdue queries", [query(`sum(${R}_overdue_queries{${PROCESSES}})`, "overdue")], {
          description:
            "Queries that are overdue by more than health.overdue_blocks although the relayer could have delivered a result.",
          unit: "none",
          leadsTo: DASHBOARDS.relayer,
          colors: BAD_ABOVE_ZERO,
          emptyText: NO_RELAYER,
          width: 5,
        }),
        stat("Latest query", [query(`max(${R}_most_late_seconds{${PROCESSES}})`, "late")], {
          description: "Time since the most delayed query's result was due.",
          unit: "s",
          leadsTo: DASHBOARDS.query,
          emptyText: NO_RELAYER,
          width: 5,
        }),
        { ...BALANCE_LASTS, leadsTo: DASHBOARDS.costs, width: 5 },
        stat("Targets down", [query(`count(up{${PROCESSES}} == 0) or 0 * count(up{${PROCESSES}})`, "down")], {
          description: "Targets of these jobs that Prometheus cannot scrape.",
          unit: "none",
          leadsTo: DASHBOARDS.process,
          colors: BAD_ABOVE_ZERO,
          emptyText: "Nothing is scraped",
          width: 4,
        }),
      ],
    },
    {
      title: "What is wrong?",
      panels: [
        {
          ...ruleAlerts(
            OURS,
            [
              { label: "validator", title: "Validator", leadsTo: TO_PAID, width: 120 },
              {
                label: "connection_id",
                title: "Connection",
                leadsTo: { dashboard: DASHBOARDS.relayer, variable: "connection" },
                width: 110,
              },
              { label: "job", title: "Job", width: 130 },
              { label: "instance", title: "Instance", width: 120 },
            ],
            NOT_MUTED,
          ),
          height: 6,
        },
      ],
    },
  ],
};
