import { z } from "zod";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import type { ComparedPrices } from "../policy/price-comparison.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { Standing } from "../policy/standing.ts";

/** Schema of an {@link AlertEpisode} in JSON. The end of a firing alert is encoded as null. */
export const alertEpisode = z.object({
  /** Name of the condition, such as "sidecar-down". */
  alert: z.string(),
  title: z.string(),
  severity: z.string(),
  /** The time when an evaluation first found the condition active. */
  sinceMs: z.number(),
  firedAtMs: z.number(),
  /** The time when the alert was resolved; undefined while the alert is firing. */
  resolvedAtMs: z
    .number()
    .nullable()
    .transform((atMs) => atMs ?? undefined),
  /** The alert's reason when the alert fired. */
  reason: z.string(),
  /** The reason at the last poll. Absent if the alert is not firing, or if the watchdog is too old to report this field. */
  reasonNow: z.string().exactOptional(),
  /** The reason why no notification was sent when the alert fired; absent if notifications were allowed. */
  quietWhenFired: z.string().exactOptional(),
  /**
   * The reason why a firing alert sends no notifications, e.g. "silenced by …". Absent for alerts that send notifications or are
   * not firing.
   */
  quietNow: z.string().exactOptional(),
  /** The acknowledgement's author and note, such as "kim: new disk", and its time. */
  acknowledged: z.object({ text: z.string(), atMs: z.number() }).exactOptional(),
  /** Names of the alerts that this alert causes. */
  inhibits: z.array(z.string()).readonly(),
});

/** Schema of a pending alert in JSON. A pending alert's condition is active, but the alert is not firing yet. */
export const pendingAlert = alertEpisode
  .pick({ alert: true, title: true, severity: true, sinceMs: true, reason: true })
  // Older watchdogs don't send `inhibits`, so the list is empty by default.
  .extend({ inhibits: alertEpisode.shape.inhibits.default([]) });

/** One occurrence of a validator's alert, from the first active evaluation to the resolution. */
export type AlertEpisode = Readonly<z.output<typeof alertEpisode>>;

/** The chain's planned upgrade, its payments, and price comparisons, as of the last poll. */
export interface ChainFacts {
  /** The chain's planned upgrade; absent if no upgrade is known. */
  readonly upgrade?: UpgradeCountdown;
  readonly compared: ComparedPrices;
  /** Payments for closed months, oldest first; absent if no search for payments was made. */
  readonly payments?: readonly Payment[];
}

/** All data about one validator from which reports are created. */
export interface ValidatorData {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  /** The current month's assessment as of the last poll. */
  readonly assessment: Assessment;
  /** The alerts that have fired, oldest first. */
  readonly alerts: readonly AlertEpisode[];
  /** The pending alerts. Absent if the watchdog is too old to report pending alerts. */
  readonly pending?: readonly Readonly<z.output<typeof pendingAlert>>[];
  /** Other facts about the chain. Absent if the watchdog is too old to report chain facts. */
  readonly chain?: ChainFacts;
  /** Jail state, signing window and comparisons at the last poll. Absent if no chain is read or if the watchdog is too old. */
  readonly standing?: Standing;
}
