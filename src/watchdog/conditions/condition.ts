import type { Severity } from "../../platform/monitoring/severity.ts";
import type { RunbookBody } from "../../platform/monitoring/alerts/runbook-spec.ts";
import type { ConditionInput } from "./condition-input.ts";
import type { RawRule } from "./raw-metrics.ts";

/** Result of one evaluation. `unknown`: the poll does not show whether the condition holds. */
export interface Verdict {
  readonly kind: "active" | "clear" | "unknown";
  /** Cause with current values, as the last part of a sentence. */
  readonly reason: string;
  /** The judged number. Reminders come earlier when it grows. Absent for conditions without a degree. */
  readonly badness?: number;
}

/** A number of a condition that the configuration can change. */
export interface Threshold {
  readonly unit: "duration" | "percent" | "number";
  /** Durations in ms. */
  readonly initial: number;
  readonly description: string;
}

/**
 * What the store keeps of a condition's input, so that a past month can be judged. "counts": blocks by hour. "halts", "gaps":
 * events. `notKept` says what is missing, as the last part of "the store keeps no …".
 */
export type PastInput = "counts" | "halts" | "gaps" | { readonly notKept: string };

/** One entry of the table of conditions. Everything that says something about an alert derives from its entry. */
export interface Condition<Key extends string = string> {
  /**
   * Kebab-case. Identifies the alert in the state, the API, the metrics and the notifications, so it must not change. Its
   * configuration section has the same name in snake_case.
   */
  readonly name: string;
  readonly severity: Severity;
  /** A few words: "All prices missing". */
  readonly title: string;
  /** When the alert fires, as the last part of "fires when …". */
  readonly when: string;
  /** What it means, in full sentences. The same for every validator and every time. */
  readonly description: string;
  /** What it costs, in blocks and in pay, in full sentences. */
  readonly impact: string;
  /** What the operator does, in full sentences. */
  readonly action: string;
  /** How long the condition must be active before the alert fires: "5m". */
  readonly for: string;
  /** How long it must be clear before the alert is resolved. */
  readonly resolveFor: string;
  /** Keys in snake_case. */
  readonly thresholds: Readonly<Record<Key, Threshold>>;
  /** Names of the conditions that this one causes. While it fires, they do not notify. */
  readonly inhibits: readonly string[];
  readonly past: PastInput;
  readonly runbook: RunbookBody;
  /** Absent: node and sidecar have no metric that shows the condition. */
  readonly raw?: RawRule;
  /** Pure. `limit` returns the value of a threshold. */
  readonly judge: (input: ConditionInput, limit: (key: Key) => number) => Verdict;
}

/** Returns the entry, with its threshold keys checked by the compiler. */
export function condition<Key extends string>(entry: Condition<Key>): Condition {
  return entry;
}

/** A verdict that the condition holds. */
export function active(reason: string, badness?: number): Verdict {
  return { kind: "active", reason, ...(badness === undefined ? {} : { badness }) };
}

/** A verdict that the condition does not hold. */
export function clear(reason: string): Verdict {
  return { kind: "clear", reason };
}

/** A verdict that the watchdog cannot see whether the condition holds. */
export function cannotSee(reason: string): Verdict {
  return { kind: "unknown", reason };
}

/** Name of the alert in Prometheus and Alertmanager: "OracleAllPricesMissing", and "OracleCallsFailing" for oracle-calls-failing. */
export function alertName(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Oracle" ? words.join("") : `Oracle${words.join("")}`;
}

/** File name of the alert's runbook in `alerts/runbooks`, "all-prices-missing.md". */
export function runbookFile(name: string): string {
  return `${name}.md`;
}

/** A condition with its configured values. */
export interface AlertRule {
  readonly condition: Condition;
  readonly severity: Severity;
  readonly forMs: number;
  readonly resolveForMs: number;
  /** Value of each threshold. */
  readonly limits: Readonly<Record<string, number>>;
}
