import { untilAborted, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import type { AlertEvent } from "../alerts/alert-event.ts";
import { eventLinks, type LinkRoots } from "../alerts/event-links.ts";
import { createChannel } from "./channels/channel-kinds.ts";
import type { Channel, StoredMoves } from "./channels/channel.ts";
import { createPostJson, type PostJson, safeText } from "./channels/transport.ts";
import { createSendMail, type SendMail } from "./channels/mail.ts";
import { runDeadMan, runDelivery, runPushes } from "./delivery.ts";
import type { DeadManConfig, DeliveryDeps, DeliveryOutcome, PushDeps, WorkState } from "./delivery.ts";
import type { NotifyConfig } from "./notify-config.ts";

export interface NotifyDeps extends Omit<DeliveryDeps & PushDeps, "count"> {
  /** Stores the new ids of receivers that have moved. If absent, the new ids are lost when the process ends. */
  readonly moves?: StoredMoves;
  readonly work: () => WorkState;
  readonly metrics: NotifyMetrics;
  /** Sends POST requests to receivers, by default over HTTP. */
  readonly post?: PostJson;
  /** Sends the mails of e-mail channels, by default over SMTP. */
  readonly mail?: SendMail;
}

interface NotifyMetrics {
  readonly recordDelivery: (channel: string, outcome: DeliveryOutcome) => void;
  readonly recordPing: (atMs: number) => void;
}

/** The state of a channel's deliveries since the watchdog started. */
export interface ChannelState {
  readonly name: string;
  readonly kind: string;
  /** The time when the receiver last accepted a notification or a test; undefined if nothing has been accepted. */
  readonly acceptedAtMs: number | undefined;
}

/** The services that deliver notifications, and functions that test channels and report their state. */
export interface Notifier {
  readonly services: readonly Service[];
  readonly channels: () => readonly ChannelState[];
  readonly test: (signal: AbortSignal) => Promise<readonly ChannelTest[]>;
}

/** Creates a service for each channel, so that no channel delays another, and a service for the dead-man requests. */
export function createNotifier(config: NotifyConfig, deps: NotifyDeps): Notifier {
  const { deadMan } = config;
  const { clock, post = createPostJson(config.network), mail = createSendMail(config.network) } = deps;
  const acceptedAtMs = new Map<string, number>();
  const count = (channel: string, outcome: DeliveryOutcome): void => {
    if (outcome === "delivered") acceptedAtMs.set(channel, clock.nowMs());
    deps.metrics.recordDelivery(channel, outcome);
  };
  const channels = config.channels.map((one) => createChannel(one, { ...deps, post, mail }));
  const deliver = (channel: Channel, signal: AbortSignal): Promise<void> =>
    channel.state === undefined
      ? runDelivery(channel, config.groupWaitMs, { ...deps, count }, signal)
      : runPushes(channel, channel.state, { ...deps, count }, signal);
  const links = { ...config.links, runbooks: config.runbooks };
  const test = async (reason: string, signal: AbortSignal): Promise<readonly ChannelTest[]> => {
    const results = await testChannels(channels, { clock, reason, links }, signal);
    for (const { channel, error } of results) if (error === null) acceptedAtMs.set(channel, clock.nowMs());
    return results;
  };
  return {
    services: [
      ...channels.map(
        (channel): Service => ({
          name: `oracle-watchdog channel ${channel.name}`,
          run: (signal) => deliver(channel, signal),
        }),
      ),
      ...(deadMan === undefined ? [] : [createDeadMan(deadMan, { ...deps, post })]),
      ...(config.testsAtStart === true ? [startTest(test, deps.logger)] : []),
    ],
    channels: () => channels.map(({ name, kind }) => ({ name, kind, acceptedAtMs: acceptedAtMs.get(name) })),
    test: (signal) => test("somebody is testing the oracle watchdog's channels", signal),
  };
}

/** Creates a service that tests every channel once and logs failures. Operators then notice a broken channel before the first alert. */
function startTest(
  test: (reason: string, signal: AbortSignal) => Promise<readonly ChannelTest[]>,
  logger: Logger,
): Service {
  const run: Service["run"] = async (signal) => {
    for (const { channel, error } of await test("the oracle watchdog started", signal))
      if (error !== null) logger.error("channel failed its startup test", { channel, reason: error });
    await untilAborted(signal);
  };
  return { name: "oracle-watchdog test at the start", run };
}

function createDeadMan(config: DeadManConfig, deps: NotifyDeps & { readonly post: PostJson }): Service {
  const pinged = deps.metrics.recordPing;
  const run: Service["run"] = (signal) => runDeadMan(config, { ...deps, pinged }, signal);
  return { name: "oracle-watchdog dead-man requests", run };
}

/** The result of sending test notifications to one channel. `error` is null if the receiver accepted the test. */
export interface ChannelTest {
  readonly channel: string;
  readonly kind: string;
  readonly error: string | null;
}

interface TestOptions {
  readonly clock: Clock;
  /** The reason for the test notification, phrased to end a sentence. */
  readonly reason: string;
  /** Base URLs of the links in the test notification. */
  readonly links: LinkRoots;
}

/**
 * Sends a firing and a resolved test notification to all channels in parallel. Test notifications are neither stored nor retried.
 * Delivery failures are returned as results instead of being thrown.
 */
export async function testChannels(
  channels: readonly Channel[],
  options: TestOptions,
  signal: AbortSignal,
): Promise<readonly ChannelTest[]> {
  const events = testEvents(options.clock.nowMs(), options);
  return Promise.all(
    channels.map(async ({ name, kind, deadlineMs, maxEvents, send }) => {
      try {
        await withDeadline(`channel ${name}`, deadlineMs, signal, async (inner) => {
          if (maxEvents > 1) return send(events, inner);
          for (const event of events) await send([event], inner);
        });
        return { channel: name, kind, error: null };
      } catch (error) {
        if (signal.aborted) throw error;
        return { channel: name, kind, error: safeText(error) };
      }
    }),
  );
}

/** Creates the "firing" and "resolved" events of a test. Every test has new ids, so that receivers show every test. */
function testEvents(nowMs: number, { reason, links: roots }: TestOptions): readonly AlertEvent[] {
  const about = { alert: "test", validator: "test", chainId: "test", sinceMs: nowMs, atMs: nowMs };
  const firing: AlertEvent = {
    ...about,
    id: `test/${nowMs}/firing`,
    key: `test/${nowMs}`,
    kind: "firing",
    severity: "info",
    title: "Test notification",
    reason: `this is a test: ${reason}`,
    runbook: roots.runbooks || roots.watchdog || "none",
    dashboard: eventLinks(roots, about).dashboard,
    page: roots.watchdog,
    description: "No alert fires.",
    action: "Nothing: if you can read this, the channel works.",
    impact: "None.",
  };
  return [firing, { ...firing, id: `test/${nowMs}/resolved`, kind: "resolved", reason: "the test is over" }];
}
