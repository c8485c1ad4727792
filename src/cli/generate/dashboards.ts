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
