import { untilAborted } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import type { AlertState } from "../alerts/alert-state.ts";
import type { EventChannel } from "./channel.ts";
import { createAlertmanagerTest, type CurrentAlert, runAlertmanager } from "./channels/alertmanager.ts";
import { runDeadMan, type WorkState } from "./dead-man.ts";
import { type DeliveryOutcome, type Outbox, runDelivery } from "./delivery.ts";
import { type PostJson, postJson } from "./http-post.ts";
import { type ChannelConfig, createChannel, type NotifyConfig } from "./notify-config.ts";
import { type SendMail, sendSmtp } from "./send-mail.ts";
import { type ChannelTest, testChannels } from "./test-notification.ts";

export interface NotifyDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly outbox: Outbox;
  /** All alerts that are not inactive. */
  readonly alerts: () => readonly AlertState[];
  /** Resolves when an alert changed. Rejects on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly work: () => WorkState;
  readonly metrics: NotifyMetrics;
  /** Default: HTTP. */
  readonly post?: PostJson;
  /** Default: SMTP. */
  readonly mail?: SendMail;
}

/** What notifying records. */
interface NotifyMetrics {
  readonly recordDelivery: (channel: string, outcome: DeliveryOutcome) => void;
  readonly recordPing: (atMs: number) => void;
}

/** The services that notify, and a test of all channels. */
export interface Notifier {
  readonly services: readonly Service[];
  readonly test: (signal: AbortSignal) => Promise<readonly ChannelTest[]>;
}

/** Creates one service for each channel, so that none delays another, and one for the dead-man requests. */
export function createNotifier(config: NotifyConfig, deps: NotifyDeps): Notifier {
  const { clock, post = postJson, mail = sendSmtp } = deps;
  const all = config.channels.map((one) => createOne(one, config.groupWaitMs, { ...deps, post, mail }));
  const channels = all.map(({ channel }) => channel);
  const test = (reason: string, signal: AbortSignal): Promise<readonly ChannelTest[]> =>
    testChannels(channels, { clock, reason }, signal);
  return {
    services: [
      ...all.map(({ service }) => service),
      ...deadManServices(config, { ...deps, post }),
      ...(config.testsAtStart === true ? [startTest(test, deps.logger)] : []),
    ],
    test: (signal) => test("somebody tests the channels of the oracle watchdog", signal),
  };
}

/** Tests every channel once, and logs those that fail: a channel that cannot be reached shows before the first alert. */
function startTest(
  test: (reason: string, signal: AbortSignal) => Promise<readonly ChannelTest[]>,
  logger: Logger,
): Service {
  const run: Service["run"] = async (signal) => {
    for (const { channel, error } of await test("the oracle watchdog started", signal))
      if (error !== null) logger.error("channel failed its test at the start", { channel, reason: error });
    await untilAborted(signal);
  };
  return { name: "oracle-watchdog test at the start", run };
}

type FullDeps = NotifyDeps & { readonly post: PostJson; readonly mail: SendMail };

function createOne(
  config: ChannelConfig,
  groupWaitMs: number,
  deps: FullDeps,
): { readonly channel: EventChannel; readonly service: Service } {
  const name = `oracle-watchdog channel ${config.name}`;
  const count = deps.metrics.recordDelivery;
  if (config.kind === "alertmanager") {
    const current = (): readonly CurrentAlert[] => currentAlerts(deps.alerts());
    const run: Service["run"] = (signal) => runAlertmanager(config, { ...deps, current, count }, signal);
    return { channel: createAlertmanagerTest(config, deps), service: { name, run } };
  }
  const channel = createChannel(config, deps);
  return {
    channel,
    service: { name, run: (signal) => runDelivery(channel, groupWaitMs, { ...deps, count }, signal) },
  };
}

function deadManServices(
  { deadMan }: NotifyConfig,
  deps: NotifyDeps & { readonly post: PostJson },
): readonly Service[] {
  if (deadMan === undefined) return [];
  const pinged = deps.metrics.recordPing;
  return [
    {
      name: "oracle-watchdog dead-man requests",
      run: (signal) => runDeadMan(deadMan, { ...deps, pinged }, signal),
    },
  ];
}

/** Returns the alerts of which people were notified, with their present reasons. A quiet alert is not among them. */
function currentAlerts(alerts: readonly AlertState[]): readonly CurrentAlert[] {
  return alerts.flatMap(({ notified, phase, quietReason, reason, resolvedAtMs }) => {
    if (notified === undefined || phase === "pending" || (phase === "firing" && quietReason !== undefined))
      return [];
    const event = { ...notified.event, reason };
    return [{ event, ...(resolvedAtMs === undefined ? {} : { resolvedAtMs }) }];
  });
}
