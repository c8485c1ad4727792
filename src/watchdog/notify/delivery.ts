import { backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Notice } from "./notification.ts";
import type { SendNotice } from "./webhook.ts";

/** The notices that wait, oldest first. */
export interface Outbox {
  /** The oldest one, waiting until there is one; rejects on abort. */
  readonly next: (signal: AbortSignal) => Promise<Notice>;
  /** Forgets a notice, durably. */
  readonly remove: (id: string) => void;
}

/** What delivery needs. */
export interface DeliverDeps {
  readonly outbox: Outbox;
  readonly send: SendNotice;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly count: (outcome: DeliveryOutcome) => void;
}

/** What came of one try, or of giving up. */
export type DeliveryOutcome = "delivered" | "failed" | "given-up";

const BACKOFF = { minMs: 500, baseMs: 1000, maxMs: 300_000 } as const;

/** A notice of yesterday helps nobody. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/**
 * Delivers notices in their order until the signal fires, each until it is taken or a day old. One that was taken is
 * forgotten at once; only a crash in between can repeat it, with the same id.
 */
export async function runDelivery(deps: DeliverDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const notice = await deps.outbox.next(signal);
      const outcome = await deliverOnce(notice, deps, signal);
      if (outcome !== "failed") deps.outbox.remove(notice.id);
      failures = outcome === "failed" ? failures + 1 : 0;
      deps.count(outcome);
      if (failures > 0) await deps.clock.sleep(backoffMs(failures - 1, BACKOFF, deps.random), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function deliverOnce(notice: Notice, deps: DeliverDeps, signal: AbortSignal): Promise<DeliveryOutcome> {
  const { id } = notice;
  try {
    await deps.send(notice, signal);
    deps.logger.info("notice delivered", { id });
    return "delivered";
  } catch (error) {
    if (signal.aborted) throw error;
    const tooOld = deps.clock.nowMs() - notice.atMs > GIVE_UP_AFTER_MS;
    const reason = safeText(error);
    if (tooOld) deps.logger.error("notice given up", { id, reason });
    else deps.logger.warn("notice not delivered, will be tried again", { id, reason });
    return tooOld ? "given-up" : "failed";
  }
}

/** Messages of our own errors; of others only name and code, since theirs may hold the secret URL. */
function safeText(error: unknown): string {
  if (error instanceof CodedError) return errorText(error);
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
