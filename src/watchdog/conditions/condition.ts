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

/** Input of all conditions: one poll of one validator, and what the ledger and the policy say after it. */
export interface ConditionInput {
  readonly observation: Observation;
  /** What earlier polls showed, and this one. */
  readonly history: PollHistory;
  /** Blocks of the last minutes by result of their oracle call. */
  readonly recent: Readonly<Record<"5m" | "30m", BlockCounts>>;
  /** Undefined before the first counted block. */
  readonly assessment: Assessment | undefined;
  /** Pairs that the chain needs most: "BTC/USD". */
  readonly majorPairs: readonly string[];
  /** Own limit of the deviation of a pair's price, percent. A pair that is absent has that of the condition. */
  readonly pairDeviations?: ReadonlyMap<string, number>;
  /** Sidecars of other validators of the same chain, as last read. Absent: none. */
  readonly peers?: readonly SidecarPrices[];
  /** Payments of closed months. Absent: none was searched. */
  readonly payments?: readonly Payment[] | undefined;
  /** The planned upgrade of the chain. Absent: none is known. */
  readonly upgrade?: UpgradeCountdown | undefined;
  /** Notifications of the last day that were never delivered. Absent: none. */
  readonly lost?: readonly LostNotification[];
  /** How much later than planned the poll began, ms. Grows when the watchdog has more work than time. Absent: not measured. */
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
  /** Cause with current values, as the last part of a sentence. */
  readonly reason: string;
  /** The measured number. Reminders come earlier when it grows. Absent for conditions without a degree. */
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
 * The part of a condition's input that is stored, so that a past month can be evaluated. "counts": blocks by hour. "halts", "gaps":
 * events. `notStored` says what is missing, as the last part of "the store has no …".
 */
export type PastInput = "counts" | "halts" | "gaps" | { readonly notStored: string };

/** One entry of the table of conditions. What is said about an alert derives from its entry, and from its runbook in `alerts/runbooks`. */
export interface Condition<Key extends string = string> {
  /**
   * Kebab-case. Identifies the alert in the state, the API, the metrics and the notifications, so it must not change. Its
   * configuration section has the same name in snake_case.
   */
  readonly name: string;
  readonly severity: Severity;
  /** What is over and cannot be changed any more: people are notified once, without reminders. */
  readonly isSettled?: true;
  /**
   * It goes on for a while after its cause has ended, and can begin then: a rate over minutes, a node that catches up, or the "month".
   * Absent: it is measured at the moment.
   */
  readonly echo?: "minutes" | "month";
  /** A few words: "All prices missing". */
  readonly title: string;
  /** An example of what is measured when the alert ends, as the last part of "Now: …". It is in `docs/alerts.md`. */
  readonly end: string;
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
  /** Its reason says whether other validators miss these too, as far as it is known. Absent: they have nothing to do with it. */
  readonly others?: SharedKind;
  /** Absent: node and sidecar have no metric that shows the condition. */
  readonly raw?: RawRule;
  /** Pure. `limit` returns the value of a threshold. */
  readonly evaluate: (input: ConditionInput, limit: (key: Key) => number) => ConditionResult;
}

type Entry<Key extends string> = Partial<Condition<Key>> &
  Omit<Condition<Key>, "resolveFor" | "thresholds" | "inhibits">;

/** Returns the entry, with its threshold keys checked by the compiler. Absent: resolved after 30 s, no threshold, causes no other. */
export function condition<Key extends string = never>(entry: Entry<Key>): Condition {
  return { resolveFor: "30s", thresholds: {}, inhibits: [], ...entry };
}

/** A result that the condition holds. */
export function active(reason: string, badness?: number): ConditionResult {
  return { kind: "active", reason, ...(badness === undefined ? {} : { badness }) };
}

/** A result that the condition does not hold. */
export function clear(reason: string): ConditionResult {
  return { kind: "clear", reason };
}

/** A result that the watchdog cannot see whether the condition holds. */
export function cannotSee(reason: string): ConditionResult {
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
