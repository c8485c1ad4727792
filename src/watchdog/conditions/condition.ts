import type { Severity } from "../../platform/monitoring/severity.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Assessment } from "../policy/assessment.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import type { SharedKind } from "../policy/standing-texts.ts";
import type { Observation } from "../sources/observation.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { RawRule } from "./raw-metrics.ts";
import type { PollHistory } from "./poll-history.ts";

/** Input for all conditions: one poll of one validator, and the resulting state of the ledger and the policy. */
export interface ConditionInput {
  readonly observation: Observation;
  /** What earlier polls and this one showed. */
  readonly history: PollHistory;
  /** Recent blocks, by the result of their oracle call. */
  readonly recent: Readonly<Record<"5m" | "30m", BlockCounts>>;
  /** Undefined until the first block has been counted. */
  readonly assessment: Assessment | undefined;
  /** Pairs that the chain needs most, e.g. "BTC/USD". */
  readonly majorPairs: readonly string[];
  /** Price deviation limits for individual pairs, percent. For any other pair, the condition's limit applies. */
  readonly pairDeviations?: ReadonlyMap<string, number>;
  /** Sidecars of other validators on the same chain, as last read. Absent if there are none. */
  readonly peers?: readonly SidecarPrices[];
  /** Payments for closed months. Absent if payments were not searched. */
  readonly payments?: readonly Payment[] | undefined;
  /** The chain's planned upgrade. Absent if none is known. */
  readonly upgrade?: UpgradeCountdown | undefined;
  /** Notifications from the last day that were never delivered. Absent if there are none. */
  readonly lost?: readonly LostNotification[];
  /**
   * How much later than planned the poll started, ms. Grows when the watchdog has more work than time. Absent if not measured.
   */
  readonly lateMs?: number | undefined;
}

/** A notification that a channel never delivered. */
interface LostNotification {
  readonly channel: string;
  /** Error of the last attempt, in the receiver's words. */
  readonly reason: string;
}

/** Result of one evaluation. `unknown`: the poll does not show whether the condition holds. */
export interface ConditionResult {
  readonly kind: "active" | "clear" | "unknown";
  /** Cause with current values, phrased as the end of a sentence. */
  readonly reason: string;
  /** The measured number. Reminders are sent earlier as it grows. Absent if the condition has no degree. */
  readonly badness?: number;
}

/** A number in a condition that can be configured. */
export interface Threshold {
  readonly unit: "duration" | "percent" | "number";
  /** Durations in ms. */
  readonly initial: number;
  readonly description: string;
}

/**
 * The part of a condition's input that is stored, so that a past month can be evaluated. "counts": blocks per hour. "halts",
 * "gaps": events. `notStored` says what is missing, phrased to complete "the store has no …".
 */
export type PastInput = "counts" | "halts" | "gaps" | { readonly notStored: string };

/** An entry in the condition table. Everything said about an alert comes from its entry and its runbook in `alerts/runbooks`. */
export interface Condition<Key extends string = string> {
  /**
   * Kebab-case. Identifies the alert in the state, the API, the metrics and the notifications, so it must not change. Its
   * configuration section has the same name in snake_case.
   */
  readonly name: string;
  readonly severity: Severity;
  /** The condition is over and can no longer be changed: people are notified once, without reminders. */
  readonly isSettled?: true;
  /**
   * The condition outlasts its cause for a while, and can start during that time: a rate over minutes, a node that is catching
   * up, or the "month". Absent if it is measured at this moment.
   */
  readonly echo?: "minutes" | "month";
  /** A few words: "All prices missing". */
  readonly title: string;
  /** Example of what is measured when the alert ends, phrased to complete "Now: …". Appears in `docs/alerts.md`. */
  readonly end: string;
  /** When the alert fires, phrased to complete "fires when …". */
  readonly when: string;
  /** What it means, in full sentences. Does not depend on the validator or the time. */
  readonly description: string;
  /** What it costs, in blocks and in pay, in full sentences. */
  readonly impact: string;
  /** What the operator should do, in full sentences. */
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
  /** If present, the reason says whether other validators have these misses too, if known. Absent if they are irrelevant. */
  readonly others?: SharedKind;
  /** Absent if no metric of the node or sidecar shows the condition. */
  readonly raw?: RawRule;
  /** Pure. `limit` returns the value of a threshold. */
  readonly evaluate: (input: ConditionInput, limit: (key: Key) => number) => ConditionResult;
}

type Entry<Key extends string> = Partial<Condition<Key>> &
  Omit<Condition<Key>, "resolveFor" | "thresholds" | "inhibits">;

/**
 * Returns the entry, with its threshold keys checked by the compiler. By default, an alert is resolved after 30 s, has no
 * thresholds and causes no other alerts.
 */
export function condition<Key extends string = never>(entry: Entry<Key>): Condition {
  return { resolveFor: "30s", thresholds: {}, inhibits: [], ...entry };
}

/** Result: the condition holds. */
export function active(reason: string, badness?: number): ConditionResult {
  return { kind: "active", reason, ...(badness === undefined ? {} : { badness }) };
}

/** Result: the condition does not hold. */
export function clear(reason: string): ConditionResult {
  return { kind: "clear", reason };
}

/** Result: the watchdog cannot see whether the condition holds. */
export function cannotSee(reason: string): ConditionResult {
  return { kind: "unknown", reason };
}

/**
 * The alert's name in Prometheus and Alertmanager: "OracleAllPricesMissing", and "OracleCallsFailing" for oracle-calls-failing.
 */
export function alertName(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Oracle" ? words.join("") : `Oracle${words.join("")}`;
}

/** File name of the alert's runbook in `alerts/runbooks`, e.g. "all-prices-missing.md". */
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
