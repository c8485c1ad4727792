import { DAY_MS } from "../../platform/base/time.ts";
import { withDeadline, withTimeout } from "../../platform/base/abort.ts";
import { backoffMs } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { isAtLeast } from "../../platform/monitoring/severity.ts";
import type { Channel, CurrentAlert, StatePush } from "./channels/channel.ts";
import { ChannelError, safeText } from "./channels/transport.ts";
import type { Delivery } from "./outbox.ts";

/** Outbox of all channels, as one delivery loop uses it. */
export interface Outbox {
  /** Returns the oldest deliveries of a channel, of one validator; waits while there is none. Rejects on abort. */
  readonly next: (channel: string, limit: number, signal: AbortSignal) => Promise<readonly Delivery[]>;
  /** Removes deliveries from the outbox and from the state file. */
  readonly remove: (done: readonly Delivery[]) => void;
}

export interface DeliveryDeps {
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly count: (channel: string, outcome: DeliveryOutcome) => void;
}

/**
 * Outcomes of one delivery attempt. "failed": it is repeated. "expired": it failed, and is too old for another attempt.
 * "rejected": the receiver refused the content again and again.
 */
export const DELIVERY_OUTCOMES = ["delivered", "failed", "expired", "rejected"] as const;

/** One of {@link DELIVERY_OUTCOMES}. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

const BACKOFF = { minMs: 500, baseMs: 1000, maxMs: 300_000 } as const;

/** Age at which an event is dropped. An old alert is no longer useful, and it delays newer ones. */
const EXPIRE_AFTER_MS = DAY_MS;

/** Attempts after which content that the receiver refuses is dropped: nothing will make it acceptable. */
const MAX_REJECTIONS = 5;

/**
 * Delivers the events of one channel in order until the signal fires. Repeats a failed delivery with backoff for one day.
 * Events that come within `groupWaitMs` of each other share a message. A failing channel does not delay the others.
 */
export async function runDelivery(
  channel: Channel,
  groupWaitMs: number,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      // The events stay in the outbox until they are delivered or expired. A failure therefore delays all later ones of
      // this channel: a receiver never gets "resolved" before "firing".
      const batch = await nextBatch(channel, groupWaitMs, deps, signal);
      const attempt = await deliverOnce(channel, { batch, failures }, deps, signal);
      // Removed after the receiver accepted it, not before: a crash in between repeats the events with the same ids
      // instead of losing them.
      if (attempt.outcome !== "failed") deps.outbox.remove(batch);
      failures = attempt.outcome === "failed" ? failures + 1 : 0;
      deps.count(channel.name, attempt.outcome);
      if (failures === 0) continue;
      const pauseMs = Math.max(attempt.retryAfterMs ?? 0, backoffMs(failures - 1, BACKOFF, deps.random));
      await deps.clock.sleep(pauseMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Returns the next events, after the time in which related ones can join them. */
async function nextBatch(
  { name, maxEvents }: Channel,
  groupWaitMs: number,
  { outbox, clock }: DeliveryDeps,
  signal: AbortSignal,
): Promise<readonly Delivery[]> {
  const first = await outbox.next(name, maxEvents, signal);
  if (maxEvents === 1) return first;
  const ageMs = clock.nowMs() - (first[0]?.event.atMs ?? 0);
  const waitMs = groupWaitMs - ageMs;
  // An age below zero: the clock was set back.
  if (ageMs >= 0 && waitMs > 0) await clock.sleep(waitMs, signal);
  return outbox.next(name, maxEvents, signal);
}

interface Try {
  readonly batch: readonly Delivery[];
  /** Failed attempts directly before this one. */
  readonly failures: number;
}

interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** Time that the receiver asked to wait for. */
  readonly retryAfterMs?: number;
}

async function deliverOnce(
  channel: Channel,
  { batch, failures }: Try,
  { clock, logger }: DeliveryDeps,
  signal: AbortSignal,
): Promise<Attempt> {
  const events = batch.map(({ event }) => event);
  const fields = { channel: channel.name, ids: events.map(({ id }) => id) };
  try {
    await withDeadline(`channel ${channel.name}`, channel.deadlineMs, signal, (inner) =>
      channel.send(events, inner),
    );
    logger.info("notification delivered", fields);
    return { outcome: "delivered" };
  } catch (error) {
    if (signal.aborted) throw error;
    const newestMs = events.at(-1)?.atMs ?? 0;
    const outcome = outcomeOf(error, failures, clock.nowMs() - newestMs);
    const detail = { ...fields, reason: safeText(error) };
    if (outcome === "failed") logger.warn("notification not delivered, retrying", detail);
    else logger.error(outcome === "expired" ? "notification expired" : "notification rejected", detail);
    const facts = error instanceof ChannelError ? error.facts : undefined;
    const wait = facts?.code === "refused" ? facts.retryAfterMs : undefined;
    return { outcome, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  }
}

function outcomeOf(error: unknown, failures: number, ageMs: number): DeliveryOutcome {
  if (ageMs > EXPIRE_AFTER_MS) return "expired";
  const isRejection = error instanceof ChannelError && error.facts.code === "rejected";
  return isRejection && failures + 1 >= MAX_REJECTIONS ? "rejected" : "failed";
}

export interface PushDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Notified alerts that fire, and those that were resolved in the last minutes. */
  readonly alerts: () => readonly CurrentAlert[];
  /** Resolves when an alert changed. Rejects on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly count: (channel: string, outcome: DeliveryOutcome) => void;
}

/**
 * Pushes the state of all alerts to every server of a channel, at each change and every `everyMs`, until the signal fires. A
 * push is complete, so a lost one needs no outbox: the next one repeats it. The receiver gets the end of an alert for as long
 * as the alert is in the state.
 */
export async function runPushes(
  channel: Channel,
  state: StatePush,
  deps: PushDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const alerts = deps.alerts().filter(({ event }) => isAtLeast(event.severity, channel.minSeverity));
      const pushes = alerts.length === 0 ? [] : state.pushes(alerts, deps.clock.nowMs());
      await Promise.all(pushes.map((push) => pushOnce(channel, { push, size: alerts.length }, deps, signal)));
      await withTimeout(state.everyMs, deps.clock, signal, deps.changed);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function pushOnce(
  { name, deadlineMs }: Channel,
  { push, size }: { readonly push: (signal: AbortSignal) => Promise<void>; readonly size: number },
  { logger, count }: PushDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withDeadline(`channel ${name}`, deadlineMs, signal, push);
    count(name, "delivered");
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn("alerts not pushed, repeating", { channel: name, alerts: size, reason: safeText(error) });
    count(name, "failed");
  }
}
