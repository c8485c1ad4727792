import type { ProblemCode } from "../health/problems.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

/** An alert of the relayer, without what follows from its name. */
export interface RelayerCondition {
  readonly name: string;
  readonly severity: "critical" | "warning";
  readonly title: string;
  readonly description: string;
  readonly impact: string;
  /** Codes of the problems that it stands for. */
  readonly problems?: readonly ProblemCode[];
  /** Absent: the metric of the problems. */
  readonly expr?: (times: Times) => string;
  readonly for: string;
  readonly inhibits?: readonly string[];
  /** Labels in common with the alerts that it causes. By default those of its first problem: job, instance, and its connection. */
  readonly scope?: readonly string[];
  /** Absent: the metric of the first problem. */
  readonly example?: AlertCase;
}

/** Labels of alerts about one connection. */
export const CONNECTION_SCOPE = ["job", "instance", "connection_id"] as const;

/** The same, as PromQL. */
export const BY_CONNECTION = `by (${CONNECTION_SCOPE.join(", ")})`;

/** A process without the lease reads others' results only now and then, so it is not late. */
export const NO_STANDBY = 'unless on (job, instance) relaywatch_relayer_role{role=~"standby|unknown"} == 1';

/** What it costs when results are late. */
export const STALE = "Contracts read older values until this is repaired.";

/** Alerts that follow when results cannot be made or sent. */
export const LATE = ["relayer-queries-overdue", "relayer-standing-still", "relayer-cycle-failed"] as const;
