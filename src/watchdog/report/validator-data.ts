import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import type { ChainFacts } from "./chain-facts.ts";
import type { Standing } from "../policy/standing.ts";

/** One occurrence of a validator's alert, from the first active evaluation to its end. */
export interface AlertEpisode {
  /** Name of the condition: "sidecar-down". */
  readonly alert: string;
  readonly title: string;
  readonly severity: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  readonly firedAtMs: number;
  /** Undefined while the alert is firing. */
  readonly resolvedAtMs: number | undefined;
  /** When it fired. */
  readonly reason: string;
  /** The reason as of the last poll. Present only for firing alerts. */
  readonly reasonNow?: string;
  /** Why nobody was notified when the alert fired; absent if notifications were allowed. */
  readonly quietWhenFired?: string;
  /** Why a firing alert sends no notifications now: "silenced by …", "maintenance: …", "muted by …". Absent for other alerts. */
  readonly quietNow?: string;
  /** Who is working on the alert, e.g. "kim: new disk", and since when. */
  readonly acknowledged?: { readonly text: string; readonly atMs: number };
  /** Names of the alerts that this alert causes. */
  readonly inhibits: readonly string[];
}

/** An alert whose condition is active but which is not firing yet. */
type PendingAlert = Pick<AlertEpisode, "alert" | "title" | "severity" | "sinceMs" | "reason">;

/** Input to reports on one validator. */
export interface ValidatorData {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  /** The current month. */
  readonly assessment: Assessment;
  /** Alerts that have fired, oldest first. */
  readonly alerts: readonly AlertEpisode[];
  /** Absent if an older watchdog does not report pending alerts. */
  readonly pending?: readonly PendingAlert[];
  /** Absent if an older watchdog does not report these facts. */
  readonly chain?: ChainFacts;
  /** The standing as of the last poll. Absent if the chain is not read or an older watchdog does not report it. */
  readonly standing?: Standing;
}
