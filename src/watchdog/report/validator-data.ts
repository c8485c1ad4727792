import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import type { ChainFacts } from "./chain-facts.ts";
import type { Standing } from "../policy/standing.ts";

/** One of a validator's alerts, from its first active evaluation to its end. */
export interface AlertEpisode {
  /** Name of the condition: "sidecar-down". */
  readonly alert: string;
  readonly title: string;
  readonly severity: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  readonly firedAtMs: number;
  /** Undefined while the alert fires. */
  readonly resolvedAtMs: number | undefined;
  /** When it fired. */
  readonly reason: string;
  /** Reason as of the last poll. Only for a firing alert. */
  readonly reasonNow?: string;
  /** Why nobody was notified when it fired; absent if it could notify. */
  readonly quietWhenFired?: string;
  /** Why it does not notify now: "silenced by …", "maintenance: …", "muted by …". Only for a firing alert. */
  readonly quietNow?: string;
  /** Who is working on it, e.g. "kim: new disk", and since when. */
  readonly acknowledged?: { readonly text: string; readonly atMs: number };
  /** Names of the alerts that it causes. */
  readonly inhibits: readonly string[];
}

/** An alert whose condition is active but which does not fire yet. */
type PendingAlert = Pick<AlertEpisode, "alert" | "title" | "severity" | "sinceMs" | "reason">;

/** Input for reports on one validator. */
export interface ValidatorData {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  /** The current month. */
  readonly assessment: Assessment;
  /** Alerts that have fired, oldest first. */
  readonly alerts: readonly AlertEpisode[];
  /** Absent if an older watchdog does not report it. */
  readonly pending?: readonly PendingAlert[];
  /** Absent if an older watchdog does not report it. */
  readonly chain?: ChainFacts;
  /** As of the last poll. Absent if the chain is not read, or if an older watchdog does not report it. */
  readonly standing?: Standing;
}
