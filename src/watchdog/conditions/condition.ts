import type { Severity } from "../../platform/monitoring/severity.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Assessment } from "../policy/assessment.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import type { SharedKind } from "../policy/standing-texts.ts";
import type { Observation, Seen } from "../sources/observation.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { RawRule } from "./raw-metrics.ts";
import type { PollHistory } from "./poll-history.ts";

/** Input to all conditions: one poll of one validator, and the resulting state of the ledger and the policy. */
export interface ConditionInput {
  readonly observation: Observation;
  /** Results of previous polls and this one. */
  readonly history: PollHistory;
  /** Counts of recent blocks, by the result of their oracle call. */
  readonly recent: Readonly<Record<"5m" | "30m", BlockCounts>>;
  /** Undefined until the first block has been counted. */
  readonly assessment: Assessment | undefined;
  /** The pairs that matter most to the chain, e.g. "BTC/USD". */
  readonly majorPairs: readonly string[];
  /** Price deviation limits for individual pairs, in percent. The condition's own limit applies to all other pairs. */
  readonly pairDeviations?: ReadonlyMap<string, number> | undefined;
  /** Sidecars of other validators on the same chain, as last read. Absent if there are none. */
  readonly peers?: readonly SidecarPrices[];
  /** Payments for closed months. Absent if no search for payments was made. */
  readonly payments?: readonly Payment[] | undefined;
  /** The chain's planned upgrade. Absent if none is known. */
  readonly upgrade?: UpgradeCountdown | undefined;
  /** Notifications from the last day that were never delivered, with the receiver's last reply. Absent if there are none. */
  readonly lost?: readonly { readonly channel: string; readonly reason: string }[];
  /** How late the poll started compared with its schedule, in ms. Grows if the watchdog is overloaded. Absent if not measured. */
  readonly lateMs?: number | undefined;
}

/** Result of one evaluation. `unknown` means that the poll does not show whether the condition holds. */
export interface ConditionResult {
  readonly kind: "active" | "clear" | "unknown";
  /** The cause with current values, phrased to end a sentence. */
  readonly reason: string;
  /** The measured value. Reminders are sent earlier as it grows. Absent if the condition has no degree. */
  readonly badness?: number;
}

/** A configurable number in a condition. */
export interface Threshold {
  readonly unit: "duration" | "percent" | "number";
  /** Durations in ms. */
  readonly initial: number;
  readonly description: string;
}

/** Returns a threshold with its default value. */
export function threshold(unit: Threshold["unit"], initial: number, description: string): Threshold {
  return { unit, initial, description };
}

/**
 * The part of a condition's input that is stored, so that past months can be evaluated. "counts": blocks per hour. "halts",
 * "gaps": events. `notStored` names the missing data, phrased to complete "the store has no …".
 */
export type PastInput = "counts" | "halts" | "gaps" | { readonly notStored: string };

/** An entry in the condition table. All texts about an alert come from its entry and from its runbook in `alerts/runbooks`. */
export interface Condition<Key extends string = string> {
  /**
   * Name in kebab-case. Identifies the alert in the state, the API, the metrics and the notifications, so it must never change.
   * The configuration section has the same name in snake_case.
   */
  readonly name: string;
  readonly severity: Severity;
  /** The outcome is final and can no longer be influenced: people are notified once, without reminders. */
  readonly isSettled?: true;
  /**
   * The condition outlasts its cause for a while, and can start during that time: a rate over minutes, a node that is catching
   * up, or a result for the "month". Absent if the condition is measured at this moment.
   */
  readonly echo?: "minutes" | "month";
  /** A short title: "All prices missing". */
  readonly title: string;
  /** Example measurement when the alert ends, phrased to complete "Now: …". Shown in `docs/alerts.md`. */
  readonly end: string;
  /** When the alert fires, phrased to complete "fires when …". */
  readonly when: string;
  /** Meaning of the alert, in full sentences. Depends on neither the validator nor the time. */
  readonly description: string;
  /** Cost of the condition in blocks and in pay, in full sentences. */
  readonly impact: string;
  /** Advice for the operator, in full sentences. */
  readonly action: string;
  /** How long the condition must be active before the alert fires: "5m". */
  readonly for: string;
  /** How long the condition must be clear before the alert is resolved. */
  readonly resolveFor: string;
  /** Keys in snake_case. */
  readonly thresholds: Readonly<Record<Key, Threshold>>;
  /** Names of the conditions that this one causes. While this one fires, they send no notifications. */
  readonly inhibits: readonly string[];
  readonly past: PastInput;
  /** If present, the reason mentions whether other validators also have these misses, if known. Absent if others are irrelevant. */
  readonly others?: SharedKind;
  /** Absent if no metric of the node or sidecar shows the condition. */
  readonly raw?: RawRule;
  /** Evaluates the condition. Pure. `limit` returns the value of a threshold. */
  readonly evaluate: (input: ConditionInput, limit: (key: Key) => number) => ConditionResult;
}

type Entry<Key extends string> = Partial<Condition<Key>> &
  Omit<Condition<Key>, "resolveFor" | "thresholds" | "inhibits">;

/**
 * Returns the entry after the compiler has checked its threshold keys. By default, a condition has no thresholds, causes no other
 * alerts, and its alert is resolved after 30 s.
 */
export function condition<Key extends string = never>(entry: Entry<Key>): Condition {
  return { resolveFor: "30s", thresholds: {}, inhibits: [], ...entry };
}

/** Returns a result: the condition holds. */
export function active(reason: string, badness?: number): ConditionResult {
  return { kind: "active", reason, ...(badness === undefined ? {} : { badness }) };
}

/** Returns a result: the condition does not hold. */
export function clear(reason: string): ConditionResult {
  return { kind: "clear", reason };
}

/** Returns a result: the watchdog cannot see whether the condition holds. */
export function cannotSee(reason: string): ConditionResult {
  return { kind: "unknown", reason };
}

/** Returns an active or clear result with the same reason. */
export function resultOf(isActive: boolean, reason: string, badness?: number): ConditionResult {
  return isActive ? active(reason, badness) : clear(reason);
}

/** Returns a source's reading; undefined if the poll could not read the source. */
export function valueOf<T>(seen: Seen<T> | undefined): T | undefined {
  return seen?.state === "up" ? seen.value : undefined;
}

/** Returns the alert's name in Prometheus and Alertmanager, e.g. "OracleCallsFailing" for oracle-calls-failing. */
export function alertName(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Oracle" ? words.join("") : `Oracle${words.join("")}`;
}

/** Returns the file name of the alert's runbook in `alerts/runbooks`, e.g. "all-prices-missing.md". */
export function runbookFile(name: string): string {
  return `${name}.md`;
}

/** A condition with its configured values. */
export interface AlertRule {
  readonly condition: Condition;
  readonly severity: Severity;
  readonly forMs: number;
  readonly resolveForMs: number;
  /** The value of each threshold. */
  readonly limits: Readonly<Record<string, number>>;
}
