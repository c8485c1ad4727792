import type { Observation } from "../observation.ts";
import type { PricesState } from "./prices-state.ts";

/** Input of all conditions: one poll of one validator. */
export interface ConditionInput {
  readonly observation: Observation;
  readonly prices: PricesState;
  readonly chainId: string | undefined;
}

/** Result of one evaluation. `unknown`: the poll does not show whether the condition holds. */
export interface Verdict {
  readonly kind: "active" | "clear" | "unknown";
  /** Cause with current values, as the last part of a sentence. Shown with the alert. */
  readonly reason: string;
}

/** An alert: its condition and its texts. */
export interface AlertCondition {
  /**
   * Kebab-case. Identifies the alert in the state file, the API, the metrics and the webhook, so it must not change. Its
   * configuration key is the same name in snake_case.
   */
  readonly id: string;
  readonly severity: "critical" | "warning";
  /** A few words for the page and the command line, such as "All prices missing". */
  readonly title: string;
  /** Default of the configuration key `for`, such as "5m": the alert fires when its condition is active for longer. */
  readonly defaultFor: string;
  /** Description of the configuration key `for`. */
  readonly forDescription: string;
  readonly evaluate: (input: ConditionInput) => Verdict;
  /** First part of the notification's summary; the chain id precedes it, and the verdict's reason follows. */
  readonly firingSummary: (minutes: number) => string;
  readonly resolvedSummary: (minutes: number) => string;
  /** What the operator should do while the alert fires, in full sentences. */
  readonly action: string;
}

/** A condition with its configured time. */
export interface AlertRule {
  readonly condition: AlertCondition;
  /** How long the condition must be active before the alert fires. */
  readonly forMs: number;
}
