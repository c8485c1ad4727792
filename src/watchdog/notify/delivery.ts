import { DAY_MS } from "../../platform/base/time.ts";
import { withDeadline, withTimeout } from "../../platform/base/abort.ts";
import { backoffMs } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { isAtLeast } from "../../platform/monitoring/severity.ts";
import type { Channel, StatePush } from "./channels/channel.ts";
import type { CurrentAlert } from "../alerts/alert-event.ts";
import { ChannelError, postAccepted, type PostJson, safeText } from "./channels/transport.ts";
import type { DeadLetter, Delivery } from "../alerts/outbox.ts";
import type { Secret } from "../../platform/base/secret.ts";

/** The operations that the delivery loops perform on the outbox. */
export interface Outbox {
  /** Waits until a channel has deliveries, then returns the oldest deliveries, all for one validator. Rejects on abort. */
  readonly next: (channel: string, limit: number, signal: AbortSignal) => Promise<readonly Delivery[]>;
  /** Returns a channel's oldest delivery for each alert that is not in `failing`. The returned deliveries may be sent before `failing`. */
  readonly others: (channel: string, failing: readonly Delivery[]) => readonly Delivery[];
  /** Removes deliveries from the outbox and the state file. */
  readonly remove: (done: readonly Delivery[]) => void;
  /** Turns deliveries into dead letters, which are not sent again. */
  readonly bury: (failed: readonly Delivery[], letter: DeadLetter) => void;
}

export interface DeliveryDeps {
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly count: (channel: string, outcome: DeliveryOutcome) => void;
}

/**
 * The outcomes of a delivery attempt. "failed" deliveries will be repeated. "expired" deliveries are too old to be repeated.
 * "rejected" means that the receiver has repeatedly refused the content or no longer exists.
 */
export const DELIVERY_OUTCOMES = ["delivered", "failed", "expired", "rejected"] as const;

export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

const BACKOFF = { minMs: 500, baseMs: 1000, maxMs: 300_000 } as const;

/** Undelivered events become dead letters at this age, because a very late notification is useless. */
const EXPIRE_AFTER_MS = DAY_MS;

/** Content that was refused this many times becomes a dead letter, because the receiver will never accept the content. */
const MAX_REJECTIONS = 5;

/** Maximum delay, in ms, until a new event is first sent during a pause after {@link MAX_REJECTIONS} failures. */
const ARRIVAL_MS = 5000;

/** Maximum number of other alerts' events to try after a failure, until the receiver accepts an event. */
const MAX_TRIES = 5;

/**
 * Delivers one channel's events in order until the signal is aborted. A failed delivery is repeated with backoff for one day, and
 * then becomes a dead letter. Events that arrive within `groupWaitMs` of each other share a message. A failing channel does not
 * delay other channels.
 *
 * An undeliverable event does not delay other alerts for long. After {@link MAX_REJECTIONS} failures, other alerts' events are sent
 * one by one, as long as the receiver accepts them.
 */
export async function runDelivery(
  channel: Channel,
  groupWaitMs: number,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<void> {
  const { outbox, clock } = deps;
  const { name } = channel;
  const tried = new Set<string>();
  let failures = 0;
  let isSuspect = false;
  /**
   * Sends other alerts' events that are not in `known`, one by one. Gives up after `tries` failures or, once an event has been
   * accepted, at the next failure. Returns true if any event was accepted.
   */
  const sendOthers = async (
    batch: readonly Delivery[],
    known: Set<string>,
    tries: number,
  ): Promise<boolean> => {
    // A message about several alerts can only fail as a whole, so also try the message's own events one by one.
    const isMixed = batch.some(({ event }) => event.key !== batch[0]?.event.key);
    let isAccepted = false;
    for (let left = tries; left > 0; ) {
      const other = outbox.others(name, isMixed ? [] : batch).find(({ event }) => !known.has(event.id));
      if (other === undefined) break;
      known.add(other.event.id);
      if ((await deliverOnce(channel, { batch: [other] }, deps, signal)).outcome === "delivered") {
        outbox.remove([other]);
        isAccepted = true;
      } else left = isAccepted ? 0 : left - 1;
    }
    return isAccepted;
  };
  /** Waits until the next attempt, and sends events that arrive in the interim. */
  const pause = async (batch: readonly Delivery[], pauseMs: number): Promise<void> => {
    const known = new Set(outbox.others(name, []).map(({ event }) => event.id));
    for (let leftMs = pauseMs; leftMs > 0; leftMs -= ARRIVAL_MS) {
      await clock.sleep(Math.min(leftMs, ARRIVAL_MS), signal);
      if (await sendOthers(batch, known, 1)) return;
    }
  };
  while (!signal.aborted) {
    try {
      // Events stay in the outbox until they are delivered or become dead letters. A failure therefore delays all later events of
      // the same alert, so that no receiver gets "resolved" before "firing".
      const batch = await nextBatch(channel, groupWaitMs, deps, signal);
      const attempt = await deliverOnce(channel, { batch, failures }, deps, signal);
      // Remove events only after the receiver has accepted them. If the process crashes before the removal, the events are repeated
      // with the same ids instead of being lost.
      if (attempt.outcome === "delivered") outbox.remove(batch);
      else if (attempt.outcome !== "failed")
        outbox.bury(batch, { atMs: clock.nowMs(), reason: attempt.reason });
      if (attempt.outcome !== "failed") {
        failures = 0;
        isSuspect = false;
        continue;
      }
      failures += 1;
      const pauseMs = Math.max(attempt.retryAfterMs ?? 0, backoffMs(failures - 1, BACKOFF, deps.random));
      const isShared = batch.length > 1 && attempt.isRejection;
      if (attempt.retryAfterMs !== undefined || (failures < MAX_REJECTIONS && !isShared)) {
        await clock.sleep(pauseMs, signal);
        continue;
      }
      if (outbox.others(name, []).every(({ event }) => tried.has(event.id))) tried.clear();
      const isAccepted = await sendOthers(batch, tried, MAX_TRIES);
      // If other events are accepted, retry once without a pause, because the receiver may have recovered.
      const isWell = isAccepted && !isSuspect;
      isSuspect = isAccepted;
      if (!isWell) await pause(batch, pauseMs);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Returns the next events to send together. Delays the first event by up to `groupWaitMs`, so that related events share a message. */
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
  // A negative age means that the clock was set back.
  if (ageMs >= 0 && waitMs > 0) await clock.sleep(waitMs, signal);
  return outbox.next(name, maxEvents, signal);
}

interface Try {
  readonly batch: readonly Delivery[];
  /** Number of consecutive failed attempts before this attempt. If absent, a failure of this attempt is not counted. */
  readonly failures?: number;
}

interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** The reason why the delivery failed; empty after a success. */
  readonly reason: string;
  readonly isRejection: boolean;
  /** The delay that the receiver requested before the next attempt, in ms. */
  readonly retryAfterMs?: number | undefined;
}

async function deliverOnce(
  channel: Channel,
  { batch, failures }: Try,
  { clock, logger, count }: DeliveryDeps,
  signal: AbortSignal,
): Promise<Attempt> {
  const events = batch.map(({ event }) => event);
  const fields = { channel: channel.name, ids: events.map(({ id }) => id) };
  try {
    await withDeadline(`channel ${channel.name}`, channel.deadlineMs, signal, (inner) =>
      channel.send(events, inner),
    );
    logger.info("notification delivered", fields);
    count(channel.name, "delivered");
    return { outcome: "delivered", reason: "", isRejection: false };
  } catch (error) {
    if (signal.aborted) throw error;
    const newestMs = events.at(-1)?.atMs ?? 0;
    const outcome = failures === undefined ? "failed" : outcomeOf(error, failures, clock.nowMs() - newestMs);
    count(channel.name, outcome);
    const reason = safeText(error);
    const detail = { ...fields, reason };
    if (outcome === "failed") logger.warn("notification not delivered, retrying", detail);
    else logger.error(outcome === "expired" ? "notification expired" : "notification rejected", detail);
    const facts = error instanceof ChannelError ? error.facts : undefined;
    const retryAfterMs = facts?.code === "refused" ? facts.retryAfterMs : undefined;
    return { outcome, reason, isRejection: facts?.code === "rejected", retryAfterMs };
  }
}

function outcomeOf(error: unknown, failures: number, ageMs: number): DeliveryOutcome {
  if (ageMs > EXPIRE_AFTER_MS) return "expired";
  const code = error instanceof ChannelError ? error.facts.code : undefined;
  // Don't retry, so that the notifications-lost alert quickly reaches the operator through other channels.
  if (code === "gone") return "rejected";
  return code === "rejected" && failures + 1 >= MAX_REJECTIONS ? "rejected" : "failed";
}

export interface PushDeps extends Pick<DeliveryDeps, "clock" | "logger" | "count"> {
  /** Returns the firing and recently resolved alerts that have sent notifications, with their current reasons. */
  readonly alerts: () => readonly CurrentAlert[];
  /** Resolves once any alert's state has changed. Rejects only on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
}

/**
 * Pushes the state of all alerts to each of a channel's servers, at each change and every `everyMs`, until the signal is aborted.
 * No outbox is needed, because every push contains all alerts and replaces lost pushes. Resolved alerts are pushed until they are
 * removed from the state.
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
      const requests = alerts.length === 0 ? [] : state.requests(alerts, deps.clock.nowMs());
      const pushes = requests.map((request) => (inner: AbortSignal) => state.push(request, inner));
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

/** The settings of a dead man's switch, i.e. a monitor that raises an alarm when it no longer receives requests. */
export interface DeadManConfig {
  readonly url: Secret;
  /** Requested instead of `url` while the watchdog does not work properly. If absent, the watchdog then sends no requests. */
  readonly failureUrl?: Secret | undefined;
  readonly intervalMs: number;
  readonly deadlineMs: number;
}

export interface WorkState {
  /** The reason why the watchdog does not work properly, such as "no node was read for 5 min"; undefined if the watchdog works. */
  readonly problem: string | undefined;
}

export interface DeadManDeps {
  readonly clock: Clock;
  readonly post: PostJson;
  readonly logger: Logger;
  readonly work: () => WorkState;
  /** Records that the monitor accepted a request to `url`. */
  readonly pinged: (atMs: number) => void;
}

/**
 * Sends a request to the monitor at every interval until the signal is aborted. If the watchdog does not work properly, for example
 * because it cannot read any node, the request goes to `failureUrl` or is omitted. The monitor then raises the alarm. Failed
 * requests are not repeated, because the next request follows soon.
 */
export async function runDeadMan(
  config: DeadManConfig,
  deps: DeadManDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await pingOnce(config, deps, signal);
      await deps.clock.sleep(config.intervalMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function pingOnce(config: DeadManConfig, deps: DeadManDeps, signal: AbortSignal): Promise<void> {
  const { problem } = deps.work();
  const url = problem === undefined ? config.url : config.failureUrl;
  if (problem !== undefined)
    deps.logger.warn("no dead-man request, since the work is not being done", { problem });
  if (url === undefined) return;
  try {
    await withDeadline("the dead-man monitor", config.deadlineMs, signal, (inner) =>
      postAccepted(deps.post, "the dead-man monitor", {
        url: url.reveal(),
        body: { status: problem === undefined ? "ok" : "failing", problem: problem ?? null },
        signal: inner,
      }),
    );
    if (problem === undefined) deps.pinged(deps.clock.nowMs());
  } catch (error) {
    if (signal.aborted) throw error;
    deps.logger.warn("dead-man request failed", { reason: safeText(error) });
  }
}
