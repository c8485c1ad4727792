import { jsonView, words } from "../../platform/http/json-view.ts";
import type { AlertEvent } from "./alert-event.ts";
import { isAtLeast, type Severity } from "../../platform/monitoring/severity.ts";

export interface ChannelSettings {
  /** Unique name that identifies the channel in state, logs and metrics. */
  readonly name: string;
  /** Alerts below this severity are not sent. */
  readonly minSeverity: Severity;
  readonly sendReminders: boolean;
  readonly sendResolved: boolean;
  /** Time limit for one delivery attempt, in ms. */
  readonly deadlineMs: number;
}

/** The configured id of a receiver that has moved, and its new id. */
export interface ChannelMove {
  readonly from: string;
  readonly to: string;
}

/** An event queued for one channel, and stored until the channel accepts the event. */
export interface Delivery {
  readonly channel: string;
  readonly event: AlertEvent;
  /** Set once the watchdog has given up on the delivery. The event is then only sent again on request. */
  readonly dead?: DeadLetter;
}

/** Records when and why the watchdog gave up on delivering an event. */
export interface DeadLetter {
  /** Wall-clock time of the last delivery attempt. */
  readonly atMs: number;
  /** Error text of the last delivery attempt, with all secrets redacted. */
  readonly reason: string;
}

export type LostDelivery = Delivery & { readonly dead: DeadLetter };

/** Returns the deliveries that the watchdog has given up on, oldest first. */
export function deadLetters(outbox: readonly Delivery[]): readonly LostDelivery[] {
  return outbox.flatMap((one) => (one.dead === undefined ? [] : [{ ...one, dead: one.dead }]));
}

export const lostDeliveryView = jsonView<LostDelivery>(({ value, time }) => ({
  channel: value(words, ({ channel }) => channel),
  id: value(words, ({ event }) => event.id),
  alert: value(words, ({ event }) => event.alert),
  validator: value(words, ({ event }) => event.validator),
  kind: value(words, ({ event }) => event.kind),
  at: time(({ event }) => event.atMs),
  reason: value(words, ({ event }) => event.reason),
  failed_at: time(({ dead }) => dead.atMs),
  error: value(words, ({ dead }) => dead.reason),
}));

/** Selects dead letters by event id and by channel name. If a field is absent, every id or every channel matches. */
export interface DeadLetterChoice {
  readonly ids?: readonly string[] | undefined;
  readonly channels?: readonly string[] | undefined;
}

/** Queues the selected dead letters again, or drops them. Returns the new outbox and the number of selected dead letters. */
export function reviveDeadLetters(
  outbox: readonly Delivery[],
  { ids, channels }: DeadLetterChoice,
  what: "resend" | "discard",
): { readonly outbox: readonly Delivery[]; readonly count: number } {
  const chosen = deadLetters(outbox).filter(
    ({ channel, event }) => (channels?.includes(channel) ?? true) && (ids?.includes(event.id) ?? true),
  );
  const rest = withoutDeliveries(outbox, chosen);
  const again = chosen.map(({ channel, event }): Delivery => ({ channel, event }));
  return { outbox: what === "resend" ? [...again, ...rest] : rest, count: chosen.length };
}

/** Maximum number of pending deliveries per channel. */
const MAX_DELIVERIES = 200;

/** Maximum number of dead letters per channel; the oldest are dropped. */
const MAX_DEAD_LETTERS = 20;

function wants(channel: ChannelSettings, { severity, kind }: AlertEvent): boolean {
  if (kind === "reminder" && !channel.sendReminders) return false;
  if (kind === "resolved" && !channel.sendResolved) return false;
  return isAtLeast(severity, channel.minSeverity);
}

/**
 * Adds the events to the outbox for every channel that should receive them. Events already in the outbox are not added again. If a
 * channel has too many pending events, reminders are dropped first, followed by the oldest events.
 */
export function enqueue(
  outbox: readonly Delivery[],
  events: readonly AlertEvent[],
  channels: readonly ChannelSettings[],
): readonly Delivery[] {
  if (events.length === 0) return outbox;
  const known = new Set(outbox.map(deliveryKey));
  const added = events.flatMap((event) =>
    channels
      .filter((channel) => wants(channel, event))
      .map(({ name }): Delivery => ({ channel: name, event }))
      .filter((delivery) => !known.has(deliveryKey(delivery))),
  );
  const all = [...outbox, ...added];
  return channels.reduce<readonly Delivery[]>((rest, { name }) => bounded(rest, name), all);
}

/** Returns a channel's pending deliveries, oldest first. */
export function pendingDeliveries(outbox: readonly Delivery[], channel: string): readonly Delivery[] {
  return outbox.filter((delivery) => delivery.channel === channel && delivery.dead === undefined);
}

/**
 * Returns a channel's oldest pending delivery for each alert that is not in `failing`. Alerts of validators that are not in
 * `failing` come first.
 */
export function otherDeliveries(
  outbox: readonly Delivery[],
  channel: string,
  failing: readonly Delivery[],
): readonly Delivery[] {
  const known = new Set(failing.map(({ event }) => event.key));
  const own = new Set(failing.map(({ event }) => event.validator));
  return pendingDeliveries(outbox, channel)
    .filter(({ event: { key } }) => !known.has(key) && known.add(key))
    .toSorted((a, b) => Number(own.has(a.event.validator)) - Number(own.has(b.event.validator)));
}

/** Turns the `failed` deliveries into dead letters. */
export function buryDeliveries(
  outbox: readonly Delivery[],
  failed: readonly Delivery[],
  dead: DeadLetter,
): readonly Delivery[] {
  const keys = new Set(failed.map(deliveryKey));
  const buried = outbox
    .filter((delivery) => delivery.dead === undefined && keys.has(deliveryKey(delivery)))
    .map((delivery): Delivery => ({ ...delivery, dead }));
  const [channel] = failed.map((one) => one.channel);
  const letters = [...outbox.filter((one) => one.channel === channel && one.dead !== undefined), ...buried];
  const dropped = letters.slice(0, -MAX_DEAD_LETTERS);
  return withoutDeliveries([...withoutDeliveries(outbox, failed), ...buried], dropped);
}

/** Returns up to `limit` of a channel's oldest pending deliveries, all for the same validator. */
export function nextDeliveries(
  outbox: readonly Delivery[],
  channel: string,
  limit: number,
): readonly Delivery[] {
  const own = pendingDeliveries(outbox, channel);
  const first = own[0]?.event;
  if (first === undefined) return [];
  return own
    .filter(({ event }) => event.validator === first.validator && event.chainId === first.chainId)
    .slice(0, limit);
}

/** Returns the outbox without the given deliveries, which are matched by channel and event. */
export function withoutDeliveries(
  outbox: readonly Delivery[],
  done: readonly Delivery[],
): readonly Delivery[] {
  const keys = new Set(done.map(deliveryKey));
  return outbox.filter((delivery) => !keys.has(deliveryKey(delivery)));
}

function deliveryKey({ channel, event }: Delivery): string {
  return `${channel} ${event.id}`;
}

function bounded(outbox: readonly Delivery[], channel: string): readonly Delivery[] {
  const pending = pendingDeliveries(outbox, channel);
  const excess = pending.length - MAX_DELIVERIES;
  if (excess <= 0) return outbox;
  const reminders = pending.filter(({ event }) => event.kind === "reminder");
  const others = pending.filter(({ event }) => event.kind !== "reminder");
  return withoutDeliveries(outbox, [...reminders, ...others].slice(0, excess));
}
