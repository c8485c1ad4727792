import { ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  alertList,
  type ColorSteps,
  type PanelSpec,
  PROCESSES,
  processVariables,
  query,
  type QuerySpec,
  restartsOf,
  SEVERITY_COLORS,
  SINCE_WIDTH,
  stateCode,
  STATE_WIDTH,
  type StateSpec,
  type VariableSpec,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

/** PromQL label matchers for the chain and validator chosen in the dashboard's variables. */
export const PLACE = `${PROCESSES},chain_id=~"$chain",validator=~"$validator"`;
/** The same as {@link PLACE}, for metrics without a chain label. */
export const VALIDATOR = `${PROCESSES},validator=~"$validator"`;

/** Returns PromQL that selects one of the watchdog's metrics for the selected validators. `more` adds label matchers. */
export function metric(name: string, more = ""): string {
  return `oracle_watchdog_${name}{${PLACE}${more === "" ? "" : `,${more}`}}`;
}

/** Returns a list with one query for a panel. The legend of each series is the value of the given label. */
export function seriesBy(label: string, expr: string): readonly QuerySpec[] {
  return [query(expr, `{{${label}}}`)];
}

/** Returns colour thresholds that begin with `lowest`. Each colour in `from` applies at and above its value. */
export function steps(lowest: string, from: Readonly<Record<string, number>>): ColorSteps {
  return [[lowest, undefined], ...Object.entries(from)];
}

/** Returns a dashboard's filter variables. The choices come from the labels of `source`, which is a metric that every process exports. */
export function variablesOf(source: string): readonly VariableSpec[] {
  return [
    ...processVariables(source),
    { name: "chain", label: "Chain", metric: `${source}{${PROCESSES}}`, from: "chain_id" },
    {
      name: "validator",
      label: "Validator",
      metric: `${source}{${PROCESSES},chain_id=~"$chain"}`,
      from: "validator",
    },
  ];
}

/** The tier's name while the month has too few blocks. */
export const TOO_EARLY = "too early";
/** The codes, names and colours of the tiers in the label of `oracle_watchdog_month_tier`. */
const TIER_CODES: readonly StateSpec[] = [
  [1, "none", "red"],
  [2, "proportional", "yellow"],
  [3, "full", "green"],
];
export const TIER_STATES: readonly StateSpec[] = [[0, TOO_EARLY, "blue"], ...TIER_CODES];
export const TIER_COLORS = Object.fromEntries(TIER_STATES.map(([, tier, color]) => [tier, color]));

/** Returns PromQL that is 1 if a month has enough counted blocks for a tier, and 0 otherwise. */
export function isMeasured(place = PLACE): string {
  const blocks = `max by (chain_id, validator, result) (oracle_watchdog_month_blocks{${place},result=~"good|bad"})`;
  return `(sum by (chain_id, validator) (${blocks}) >= bool ${ENOUGH_BLOCKS})`;
}

/** Returns PromQL for the code of each validator's tier, as defined in {@link TIER_STATES}. */
export function tierCode(): string {
  const selector = { metric: "oracle_watchdog_month_tier", selector: PLACE, label: "tier" };
  const code = stateCode({ ...selector, by: "chain_id, validator", states: TIER_CODES });
  return `${code} * ${isMeasured()}`;
}

/** Returns PromQL for the remaining fraction of the misses that a boundary allows this month. */
export function allowanceLeft(boundary: string, place = PLACE): string {
  if (boundary === "full")
    return `min by (chain_id, validator) (1 - oracle_watchdog_allowance_used_ratio{${place}})`;
  const headroom = `oracle_watchdog_headroom_blocks{${place},boundary="${boundary}"}`;
  const bad = `oracle_watchdog_month_blocks{${place},result="bad"}`;
  return `min by (chain_id, validator) (${headroom} / ignoring(boundary) (${headroom} + ignoring(boundary, result) ${bad}))`;
}

/**
 * Colours for {@link allowanceLeft}. In a 30-day month, a tenth of the allowance covers three days of losses at the allowed rate.
 */
export const ALLOWANCE_COLORS = steps("red", { yellow: 0.1, green: 0.5 });

/** Returns PromQL for the number of validators that would not be paid in full if the month ended now. Omits months with too few blocks. */
export function belowFullPay(place = PLACE): string {
  const below = `max by (chain_id, validator) (oracle_watchdog_month_tier{${place},tier=~"proportional|none"})`;
  return `sum(${below} * ${isMeasured(place)})`;
}

export const VARIABLES = variablesOf("oracle_watchdog_alert_firing");

/** The same as {@link VARIABLES}, for a dashboard that only shows one validator at a time. */
export const ONE_VALIDATOR: readonly VariableSpec[] = VARIABLES.map((one) =>
  one.name === "validator" ? { ...one, single: true } : one,
);

/** A link from a validator's name to the dashboard that shows the validator's month. */
export const TO_PAID = { dashboard: DASHBOARDS.paid, variable: "validator" } as const;

/** The annotations for restarts and alerts on the watchdog's dashboards. */
export const ANNOTATIONS = {
  restarts: restartsOf(PROCESSES),
  alerts: `max by (alert, validator) (${metric("alert_firing")}) > 0`,
};

/** A list of the firing alerts, followed by alerts that notify nobody (muted, silenced or in maintenance) and by pending alerts. */
export const ALERTS_TABLE: PanelSpec = alertList(
  ["firing", "muted", "pending"],
  (state, severity) =>
    `max by (state, severity, alert, validator, chain_id) (${metric("alert_since_timestamp_seconds", `state="${state}",severity="${severity}"`)})`,
  {
    description:
      "Firing alerts first, causes before consequences; then alerts that notify nobody (muted, silenced or in maintenance), then pending ones. The name links to the runbook.",
    columns: [
      {
        label: "state",
        title: "State",
        colors: { firing: "red", muted: "text", pending: "yellow" },
        width: STATE_WIDTH,
      },
      { label: "severity", title: "Severity", colors: SEVERITY_COLORS, width: STATE_WIDTH },
      { label: "alert", title: "Alert", leadsTo: "runbook" },
      { label: "validator", title: "Validator", leadsTo: TO_PAID, width: 200 },
      { label: "chain_id", title: "Chain", width: 150 },
      { label: "Value", title: "Since", unit: "dateTimeFromNow", width: SINCE_WIDTH },
    ],
  },
);
