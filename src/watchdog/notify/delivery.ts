import { backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Notification } from "./notification.ts";
import type { SendNotification } from "./webhook.ts";

/** Queue of pending notifications, oldest first. */
export interface Outbox {
  /** Returns the oldest notification; waits when the queue is empty. Rejects with the reason on abort. */
  readonly next: (signal: AbortSignal) => Promise<Notification>;
  /** Removes a notification from the queue and from the state file. */
  readonly remove: (id: string) => void;
}

export interface DeliveryDeps {
  readonly outbox: Outbox;
  readonly send: SendNotification;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly count: (outcome: DeliveryOutcome) => void;
}

/** Outcomes of one delivery attempt. `expired`: the attempt failed, and the notification is too old for another one. */
export const DELIVERY_OUTCOMES = ["delivered", "failed", "expired"] as const;

/** One of {@link DELIVERY_OUTCOMES}. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

const BACKOFF = { minMs: 500, baseMs: 1000, maxMs: 300_000 } as const;

/** Age at which a notification is dropped. An old alert is no longer useful, and it delays newer notifications. */
const EXPIRE_AFTER_MS = 24 * 3_600_000;

/** Delivers notifications in order until the signal fires. Repeats a failed delivery with backoff for one day. */
export async function runDelivery(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      // The notification stays first in the queue until it is delivered or expired. A failure therefore delays all later
      // ones: a receiver never gets "resolved" before "firing".
      const notification = await deps.outbox.next(signal);
      const outcome = await deliverOnce(notification, deps, signal);
      // Removed after the receiver accepted it, not before: a crash in between repeats the notification with the same id
      // instead of losing it.
      if (outcome !== "failed") deps.outbox.remove(notification.id);
      failures = outcome === "failed" ? failures + 1 : 0;
      deps.count(outcome);
      if (failures > 0) await deps.clock.sleep(backoffMs(failures - 1, BACKOFF, deps.random), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function deliverOnce(
  notification: Notification,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { id } = notification;
  try {
    await deps.send(notification, signal);
    deps.logger.info("notification delivered", { id });
    return "delivered";
  } catch (error) {
    if (signal.aborted) throw error;
    const expired = deps.clock.nowMs() - notification.atMs > EXPIRE_AFTER_MS;
    const reason = safeText(error);
    if (expired) deps.logger.error("notification expired", { id, reason });
    else deps.logger.warn("notification not delivered, retrying", { id, reason });
    return expired ? "expired" : "failed";
  }
}

/** Returns a text without the secret URL: the message of our own errors, only the code or the name of others. */
function safeText(error: unknown): string {
  if (error instanceof CodedError) return errorText(error);
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
