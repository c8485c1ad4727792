import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import type { ChainFacts } from "./chain-facts.ts";
import type { Standing } from "../policy/standing.ts";

/** An alert of one validator from its first active evaluation to its end. */
export interface AlertEpisode {
  /** Name of the condition: "sidecar-down". */
  readonly alert: string;
  readonly title: string;
  readonly severity: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  readonly firedAtMs: number;
  /** Undefined while it fires. */
  readonly resolvedAtMs: number | undefined;
  /** When it fired. */
  readonly reason: string;
  /** At the last poll. Only of one that fires. */
  readonly reasonNow?: string;
  /** Why nobody was notified when it fired; absent when it could notify. */
  readonly quietWhenFired?: string;
  /** Why it does not notify now: "silenced by …", "maintenance: …", "muted by …". Only of one that fires. */
  readonly quietNow?: string;
  /** Who works on it: "kim: new disk", and since when. */
  readonly acknowledged?: { readonly text: string; readonly atMs: number };
  /** Names of the alerts that it causes. */
  readonly inhibits: readonly string[];
}

/** An alert whose condition is active, and which does not fire yet. */
type PendingAlert = Pick<AlertEpisode, "alert" | "title" | "severity" | "sinceMs" | "reason">;

/** Input of reports on one validator. */
export interface ValidatorData {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  /** The current month. */
  readonly assessment: Assessment;
  /** Alerts that fired, oldest first. */
  readonly alerts: readonly AlertEpisode[];
  /** Absent: an older watchdog does not say it. */
  readonly pending?: readonly PendingAlert[];
  /** Absent: an older watchdog does not say it. */
  readonly chain?: ChainFacts;
  /** At the last poll. Absent: the chain is not read, or an older watchdog does not say it. */
  readonly standing?: Standing;
}
