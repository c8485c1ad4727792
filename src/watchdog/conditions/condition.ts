import { isAtLeast, type Severity } from "../../platform/monitoring/severity.ts";
import type { BlockCounts } from "../ledger/ledger-view.ts";
import type { Assessment } from "../policy/assessment.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import type { SharedKind } from "../policy/standing-texts.ts";
import type { Observation } from "../sources/observation.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { PollHistory } from "./poll-history.ts";
import type { RawRule } from "./raw-metrics.ts";

/** The input to every condition: one poll of one validator, with the block counts and the assessment after the poll. */
export interface ConditionInput {
  readonly observation: Observation;
  /** Data from this and earlier polls, such as when each height last increased. */
  readonly history: PollHistory;
  /** Block counts for the last 5 and 30 minutes, by the result of the oracle call. */
  readonly recent: Readonly<Record<"5m" | "30m", BlockCounts>>;
  /** The current month's assessment; undefined until a block has been counted. */
  readonly assessment: Assessment | undefined;
  /** Pairs that must always have a price, such as "BTC/USD". */
  readonly majorPairs: readonly string[];
  /** Maximum price deviation in percent, by pair. The condition's `max_deviation` applies to pairs that are not in the map. */
  readonly pairDeviations?: ReadonlyMap<string, number> | undefined;
  /** The most recent sidecar prices of other validators on the same chain. Absent if there are no such prices. */
  readonly peers?: readonly SidecarPrices[];
  /** Payments for closed months; absent if the watchdog has not searched for payments. */
  readonly payments?: readonly Payment[] | undefined;
  /** The chain's planned upgrade; absent if no upgrade is known. */
  readonly upgrade?: UpgradeCountdown | undefined;
  /** Notifications from the last day that were never delivered, with the receiver's last reply; absent if there are none. */
  readonly lost?: readonly { readonly channel: string; readonly reason: string }[];
  /** The delay of the poll's start, in ms. The delay grows if the watchdog is overloaded. Absent if not measured. */
  readonly lateMs?: number | undefined;
}

/** The result of evaluating a condition. `unknown` means that the poll does not show whether the condition is active. */
export interface ConditionResult {
  readonly kind: "active" | "clear" | "unknown";
  /** The cause with current values, phrased to end a sentence. */
  readonly reason: string;
  /** A number that shows how bad the condition is. Reminders are sent earlier if this value grows. Absent if badness cannot be measured. */
  readonly badness?: number;
}

/** A configurable limit of a condition, with its unit and default value. */
export interface Threshold {
  readonly unit: "duration" | "percent" | "number";
  /** The default value, in ms for durations. */
  readonly initial: number;
  readonly description: string;
}

export function threshold(unit: Threshold["unit"], initial: number, description: string): Threshold {
  return { unit, initial, description };
}

/**
 * The stored data from which a backtest evaluates a condition for past months. "counts" means hourly block counts. "halts" and
 * "gaps" mean the ledger's events of these kinds. `notStored` names data that is not stored, phrased to complete "the store has no
 * …".
 */
export type PastInput = "counts" | "halts" | "gaps" | { readonly notStored: string };

/** The definition of a condition and its alert. The runbook in `alerts/runbooks` adds further text. */
export interface Condition<Key extends string = string> {
  /**
   * The condition's name in kebab-case. The name must never change, because it identifies the alert in the state, the API, the
   * metrics and the notifications. The configuration section has the same name in snake_case.
   */
  readonly name: string;
  readonly severity: Severity;
  /** Set if nobody can change the outcome any more. The alert then sends a single notification, without reminders or escalation. */
  readonly isSettled?: true;
  /**
   * Set if the condition outlasts its cause and can even start after the cause ends. "minutes" applies to rates over minutes and to
   * nodes that are catching up. "month" applies to the month's result. Absent if the condition only describes the present moment.
   */
  readonly echo?: "minutes" | "month";
  /** A short title, such as "All prices missing". */
  readonly title: string;
  /** Example of a reason that resolves the alert, phrased to complete "Now: …" in `docs/alerts.md`. */
  readonly end: string;
  /** A description of when the alert fires, phrased to complete "fires when …". */
  readonly when: string;
  /** Explains the alert, in full sentences that apply to every validator at any time. */
  readonly description: string;
  /** Describes the missed blocks and the lost pay that the condition causes, in full sentences. */
  readonly impact: string;
  /** Instructions for the operator, in full sentences. */
  readonly action: string;
  /** The time for which the condition must be active before the alert fires, such as "5m". */
  readonly for: string;
  /** The time for which the condition must be clear before the alert is resolved. */
  readonly resolveFor: string;
  /** The condition's thresholds, by their keys in snake_case. */
  readonly thresholds: Readonly<Record<Key, Threshold>>;
  /** Names of the conditions that this condition causes. The caused alerts send no notifications while this alert fires. */
  readonly inhibits: readonly string[];
  readonly past: PastInput;
  /** Adds to the reason of an active result how many other validators also miss votes or commits. Absent if such misses are irrelevant. */
  readonly others?: SharedKind;
  /** The equivalent alert rule on node and sidecar metrics. Absent if no metric shows the condition. */
  readonly raw?: RawRule;
  /** Evaluates the condition for one poll, without side effects. `limit` returns the configured value of a threshold. */
  readonly evaluate: (input: ConditionInput, limit: (key: Key) => number) => ConditionResult;
}

type Entry<Key extends string> = Partial<Condition<Key>> &
  Omit<Condition<Key>, "resolveFor" | "thresholds" | "inhibits">;

/**
 * Creates a condition with compiler-checked threshold keys. By default, a condition has no thresholds, causes no other alerts, and
 * must be clear for 30 s before its alert is resolved.
 */
export function condition<Key extends string = never>(entry: Entry<Key>): Condition {
  return { resolveFor: "30s", thresholds: {}, inhibits: [], ...entry };
}

export function active(reason: string, badness?: number): ConditionResult {
  return { kind: "active", reason, ...(badness === undefined ? {} : { badness }) };
}

export function clear(reason: string): ConditionResult {
  return { kind: "clear", reason };
}

/** Returns a result of kind "unknown", for a poll that does not show whether the condition is active. */
export function cannotSee(reason: string): ConditionResult {
  return { kind: "unknown", reason };
}

/** Returns an active or clear result with the given reason; a clear result has no badness. */
export function resultOf(isActive: boolean, reason: string, badness?: number): ConditionResult {
  return isActive ? active(reason, badness) : clear(reason);
}

/** Returns the alert's name in Prometheus and Alertmanager, such as "OracleCallsFailing" for oracle-calls-failing. */
export function alertName(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Oracle" ? words.join("") : `Oracle${words.join("")}`;
}

/** Returns the file name of the alert's runbook in `alerts/runbooks`, such as "all-prices-missing.md". */
export function runbookFile(name: string): string {
  return `${name}.md`;
}

/** A condition with its configured severity, durations and thresholds. */
export interface AlertRule {
  readonly condition: Condition;
  readonly severity: Severity;
  readonly forMs: number;
  readonly resolveForMs: number;
  /** The configured thresholds, by key. */
  readonly limits: Readonly<Record<string, number>>;
}

/** The alerts about the month's result that fire because of missed blocks. */
export const LOSS_ALERTS = [
  "any-reward-fast-burn",
  "any-reward-at-risk",
  "any-reward-headroom-low",
  "any-reward-rate-low",
  "any-reward-slow-burn",
  "full-reward-fast-burn",
  "full-reward-at-risk",
  "full-reward-headroom-low",
  "full-reward-rate-low",
  "full-reward-slow-burn",
] as const;

/** The alerts about votes, signatures and the month's result that fire if the node does not participate in consensus. */
export const VOTE_ALERTS = ["oracle-calls-failing", "jail-near", "jail-risk", ...LOSS_ALERTS] as const;

/**
 * The time after a cause's end during which its consequences cannot start firing, because consequences often clear a little later
 * than their cause. `alerts.grace` overrides this value, except in the rules on raw metrics.
 */
export const GRACE_MS = 300_000;

const byRules = new WeakMap<readonly AlertRule[], ReadonlyMap<string, readonly AlertRule[]>>();

/**
 * Returns the rules that cause each alert, keyed by condition name. A cause never mutes a more severe alert, because a ticket must
 * not suppress a page. Caches the result for each list of rules, because every poll uses the same list.
 */
export function causesByAlert(rules: readonly AlertRule[]): ReadonlyMap<string, readonly AlertRule[]> {
  const stored = byRules.get(rules);
  if (stored !== undefined) return stored;
  const causes = new Map(
    rules.map(({ condition: { name }, severity }) => [
      name,
      rules.filter((cause) => cause.condition.inhibits.includes(name) && isAtLeast(cause.severity, severity)),
    ]),
  );
  byRules.set(rules, causes);
  return causes;
}
