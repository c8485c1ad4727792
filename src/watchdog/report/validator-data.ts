import { z } from "zod";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import type { ComparedPrices } from "../policy/price-comparison.ts";
import type { UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { Standing } from "../policy/standing.ts";

/** JSON of an {@link AlertEpisode}. An alert that is firing has the end null. */
export const alertEpisode = z.object({
  /** Name of the condition: "sidecar-down". */
  alert: z.string(),
  title: z.string(),
  severity: z.string(),
  /** First evaluation that found the condition active. */
  sinceMs: z.number(),
  firedAtMs: z.number(),
  /** Undefined while the alert is firing. */
  resolvedAtMs: z
    .number()
    .nullable()
    .transform((atMs) => atMs ?? undefined),
  /** When it fired. */
  reason: z.string(),
  /** The reason as of the last poll. Present only for firing alerts; absent if the watchdog is older. */
  reasonNow: z.string().exactOptional(),
  /** Why no notification was sent when the alert fired; absent if notifications were allowed. */
  quietWhenFired: z.string().exactOptional(),
  /** Why a firing alert sends no notifications now: "silenced by …", "maintenance: …", "muted by …". Absent for other alerts. */
  quietNow: z.string().exactOptional(),
  /** Who is working on the alert, e.g. "kim: new disk", and since when. */
  acknowledged: z.object({ text: z.string(), atMs: z.number() }).exactOptional(),
  /** Names of the alerts that this alert causes. */
  inhibits: z.array(z.string()),
});

/** JSON of an alert whose condition is active but which is not firing yet. */
export const pendingAlert = alertEpisode.pick({
  alert: true,
  title: true,
  severity: true,
  sinceMs: true,
  reason: true,
});

/** One occurrence of a validator's alert, from the first active evaluation to its end. */
export interface AlertEpisode extends Readonly<Omit<z.output<typeof alertEpisode>, "inhibits">> {
  readonly inhibits: readonly string[];
}

/** Other facts about the chain as of the last poll: the planned upgrade, and its prices compared with the sidecars' prices. */
export interface ChainFacts {
  /** The planned upgrade. Absent if none is known. */
  readonly upgrade?: UpgradeCountdown;
  readonly compared: ComparedPrices;
  /** Payments for closed months, oldest first. Absent if no search for payments was made. */
  readonly payments?: readonly Payment[];
}

/** Input to reports on one validator. */
export interface ValidatorData {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  /** The current month. */
  readonly assessment: Assessment;
  /** Alerts that have fired, oldest first. */
  readonly alerts: readonly AlertEpisode[];
  /** Absent if an older watchdog does not report pending alerts. */
  readonly pending?: readonly z.output<typeof pendingAlert>[];
  /** Absent if an older watchdog does not report these facts. */
  readonly chain?: ChainFacts;
  /** The standing as of the last poll. Absent if the chain is not read or an older watchdog does not report it. */
  readonly standing?: Standing;
}
