import type { ProblemCode } from "../health/problems.ts";
import type { AlertCase, SeriesCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

/** A relayer alert's definition, without the fields that are derived from its name. */
export interface RelayerCondition {
  readonly name: string;
  readonly severity: "critical" | "warning";
  readonly title: string;
  readonly description: string;
  readonly impact: string;
  /** Codes of the problems that the alert reports. */
  readonly problems?: readonly ProblemCode[];
  /** The alert's PromQL expression, which by default selects the alert's `problems`. */
  readonly expr?: (times: Times) => string;
  readonly for: string;
  readonly inhibits?: readonly string[];
  /**
   * Labels that this alert shares with the alerts that it causes. The default is `job` and `instance`, plus `connection_id` if the
   * alert's first problem belongs to a connection.
   */
  readonly scope?: readonly string[];
  /** Example for the alert's tests. The default example uses the metric for the first problem. */
  readonly example?: AlertCase;
}

/** Prefix of the relayer's metric names. */
export const M = "relaywatch_relayer";

/** The connection label used in examples. */
export const CONNECTION = 'connection_id="connection-0"';

/** Returns an example's series, for example "relaywatch_relayer_role{$,role=\"leader\"}". */
function seriesOf(metric: string, labels?: string): string {
  return `${M}_${metric}{$${labels === undefined ? "" : `,${labels}`}}`;
}

/** Returns an example's series with its first value. */
export function at(metric: string, from: number, labels?: string): SeriesCase {
  return { series: seriesOf(metric, labels), from };
}

/** Returns an example's counter with its increase per minute. */
export function rises(metric: string, step: number, labels?: string): SeriesCase {
  return { series: seriesOf(metric, labels), step };
}

/** Returns an example in which a series first has a bad value and then a good value. */
export function turns(metric: string, bad: number, good: number, labels?: string): AlertCase {
  return { fires: [at(metric, bad, labels)], clears: [at(metric, good, labels)] };
}

/** Labels that identify an alert about one connection. */
export const CONNECTION_SCOPE = ["job", "instance", "connection_id"] as const;

/** {@link CONNECTION_SCOPE} as a PromQL `by` clause. */
export const BY_CONNECTION = `by (${CONNECTION_SCOPE.join(", ")})`;

/**
 * Excludes processes without the lease, because a standby reads the leading process's results only occasionally and would wrongly
 * report late results.
 */
export const NO_STANDBY = 'unless on (job, instance) relaywatch_relayer_role{role=~"standby|unknown"} == 1';

export const STALE = "Contracts keep reading older values until the problem is fixed.";

/** Names of the alerts that also fire if another problem keeps results from being produced or sent. */
export const LATE = ["relayer-queries-overdue", "relayer-standing-still", "relayer-cycle-failed"] as const;
