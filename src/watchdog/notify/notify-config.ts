import { z } from "zod";
import { durationField, httpUrlField, issueText } from "../../platform/config/config-fields.ts";
import { parseDurationMs } from "../../platform/config/setting-texts.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { NetworkOptions } from "../../platform/http/remote.ts";
import { type ChannelConfig, channelSchema, STATE_KINDS } from "./channels/channel-kinds.ts";
import { secretUrlField } from "./channels/channel.ts";
import type { DeadManConfig } from "./delivery.ts";
import type { Escalation, NotificationOptions } from "../alerts/notifications.ts";

/** The parsed `notify` section, with the channels, grouping, reminders, escalation and dead-man requests. */
export interface NotifyConfig extends NotificationOptions {
  readonly channels: readonly ChannelConfig[];
  readonly groupWaitMs: number;
  readonly escalation: Escalation;
  /** If true, tests every channel when the watchdog starts. */
  readonly testsAtStart?: boolean;
  readonly deadMan?: DeadManConfig | undefined;
  /** Network settings for HTTP and SMTP receivers; see `WatchdogConfig`. */
  readonly network?: NetworkOptions;
}

const REMINDERS = 'up to ten durations of at least 1s, e.g. "1h, 4h, 24h", or "0s" for none';

/** Schema of reminder intervals, such as "12h" or "1h, 4h, 24h", parsed to ms. The value "0s" turns reminders off. */
const reminder = (initial: string, severity: string) =>
  z
    .string({ error: issueText("is not a string", REMINDERS) })
    .transform((text, context) => {
      if (text.trim() === "0s") return [];
      const parts = text.split(",");
      const times = parts.flatMap((part) => parseDurationMs(part.trim()) ?? []);
      if (times.length === parts.length && times.length <= 10 && times.every((ms) => ms >= 1000))
        return times;
      context.addIssue(issueText("is not a list of valid durations", REMINDERS));
      return z.NEVER;
    })
    .prefault(initial)
    .describe(
      `intervals between reminders for ${severity} alerts. The last interval repeats. 0s turns reminders off`,
    );

const deadMan = z
  .strictObject({
    url: secretUrlField()
      .describe("URL (a secret) that the watchdog requests at every interval while it is working")
      .meta({ example: { env: "ORACLE_WATCHDOG_DEAD_MAN_URL" } }),
    failure_url: secretUrlField()
      .optional()
      .describe("URL (a secret) that the watchdog requests instead while it is not working")
      .meta({ example: { env: "ORACLE_WATCHDOG_DEAD_MAN_FAILURE_URL" } }),
    interval: durationField(1000).prefault("1m").describe("time between requests"),
    deadline: durationField(100).prefault("10s").describe("maximum duration of one request"),
  })
  .transform(
    (file): DeadManConfig => ({
      url: file.url,
      failureUrl: file.failure_url,
      intervalMs: file.interval,
      deadlineMs: file.deadline,
    }),
  );

/** Schema of the section `notify.escalation`. If `steps` is missing or empty, no alert is escalated. */
const escalationSchema = z
  .strictObject({
    min_severity: z
      .enum(SEVERITIES)
      .default("critical")
      .describe("only alerts of this severity or higher are escalated"),
    steps: z
      .array(
        z.strictObject({
          after: durationField(1000).describe(
            "time after the first notification at which this step notifies its channels, unless somebody has acknowledged the alert",
          ),
          channels: z
            .array(z.string())
            .min(1)
            .max(20)
            .describe("channels that this step notifies. These channels receive only escalated alerts"),
        }),
      )
      .max(5)
      .default([])
      .describe("the escalation steps, shortest time first. Without steps, nothing is escalated")
      .meta({ example: [{ after: "15m", channels: ["on-call"] }], commentedOut: true }),
  })
  .prefault({})
  .describe("more channels to notify of unacknowledged alerts. Alertmanager cannot be among these channels")
  .transform(({ min_severity: minSeverity, steps }) => ({
    minSeverity,
    steps: steps.map(({ after, channels }) => ({ afterMs: after, channels })),
  }));

export const notifySchema = z
  .strictObject({
    channels: z
      .array(channelSchema)
      .max(20)
      .default([])
      .describe("the notification channels. If there are none, notifications go only to the log"),
    group_wait: durationField(0)
      .prefault("10s")
      .describe("time during which a validator's new alerts are collected into one message"),
    reminders: z
      .strictObject({
        critical: reminder("1h, 4h, 8h, 24h", "critical"),
        warning: reminder("12h, 24h", "warning"),
        info: reminder("0s", "info"),
      })
      .prefault({})
      .describe(
        "when to send reminders for firing alerts, by severity. If an alert worsens by half, its reminder is sent after a quarter of the interval",
      ),
    escalation: escalationSchema,
    runbooks: httpUrlField()
      .optional()
      .describe(
        "URL of the folder with the runbooks; default: the runbooks that the watchdog serves at links.watchdog, or only file names if links.watchdog is unset",
      )
      .meta({ example: "https://validator.example/runbooks/" }),
    test_at_start: z
      .boolean()
      .default(false)
      .describe("if true, the watchdog sends a test notification to every channel at startup"),
    dead_man: deadMan
      .optional()
      .describe(
        "a monitor that raises an alarm when the watchdog's requests stop. The watchdog sends requests only while it reads the node, counts blocks and stores its state",
      ),
  })
  .prefault({})
  .superRefine(refuseEscalation)
  .superRefine((file, context) => {
    const names = file.channels.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      const path = ["channels", index, "name"];
      context.addIssue({ code: "custom", path, message: issueText("is a duplicate", "a unique name") });
    }
  })
  .transform(
    (file): NotifyConfig => ({
      channels: file.channels,
      groupWaitMs: file.group_wait,
      reminders: file.reminders,
      escalation: toEscalation(file.escalation, file.channels),
      runbooks: file.runbooks === undefined ? "" : file.runbooks.replace(/\/?$/, "/"),
      ...(file.test_at_start ? { testsAtStart: true } : {}),
      deadMan: file.dead_man,
    }),
  );

type EscalationConfig = z.output<typeof escalationSchema>;

/** Adds an issue for each escalation step that names an unknown or unsuitable channel, or that is not later than the previous step. */
function refuseEscalation(
  file: { readonly channels: readonly ChannelConfig[]; readonly escalation: EscalationConfig },
  context: z.RefinementCtx,
): void {
  const { steps } = file.escalation;
  const usable = file.channels.filter(({ kind }) => !STATE_KINDS.has(kind)).map(({ name }) => name);
  for (const [index, { afterMs, channels }] of steps.entries()) {
    const path = ["escalation", "steps", index];
    if (index > 0 && afterMs <= (steps[index - 1]?.afterMs ?? 0))
      context.addIssue({
        code: "custom",
        path: [...path, "after"],
        message: issueText("is not later than the previous step", "a longer time"),
      });
    for (const [at, name] of channels.entries())
      if (!usable.includes(name))
        context.addIssue({
          code: "custom",
          path: [...path, "channels", at],
          message: issueText(
            "is not a channel for escalation",
            `a notify channel of a kind other than ${[...STATE_KINDS].join(", ")}${usable.length === 0 ? "" : `: ${usable.join(", ")}`}`,
          ),
        });
  }
}

/** Replaces the channel names in the escalation steps with the channels' settings. */
function toEscalation(
  { minSeverity, steps }: EscalationConfig,
  channels: readonly ChannelConfig[],
): Escalation {
  return {
    minSeverity,
    steps: steps.map((step) => ({
      afterMs: step.afterMs,
      channels: channels.filter(({ name }) => step.channels.includes(name)),
    })),
  };
}
