import { z } from "zod";
import type { Clock } from "../../platform/base/clock.ts";
import {
  durationField,
  isPlainHttpUrl,
  issueText,
  secretField,
} from "../../platform/config/config-fields.ts";
import { SEVERITIES, type Severity } from "../../platform/monitoring/severity.ts";
import type { AlertEvent } from "./alert-event.ts";
import type { PostJson } from "./http-post.ts";
import type { SendMail } from "./send-mail.ts";

/** What all channels have in common. */
export interface ChannelSettings {
  /** Unique. Identifies the channel in the state, the log and the metrics. */
  readonly name: string;
  /** Less severe alerts are not sent. */
  readonly minSeverity: Severity;
  readonly sendReminders: boolean;
  readonly sendResolved: boolean;
  /** Limit for one delivery. */
  readonly deadlineMs: number;
}

/** A receiver of events. */
export interface EventChannel extends ChannelSettings {
  readonly kind: string;
  /** Events of one delivery: many in one message for people, one for programs that identify alerts. */
  readonly maxEvents: number;
  /**
   * Delivers events of one validator, oldest first. Resolves when the receiver accepted all of them. Throws `ChannelError`
   * otherwise; its message contains no secret.
   */
  readonly send: (events: readonly AlertEvent[], signal: AbortSignal) => Promise<void>;
}

export interface ChannelDeps {
  readonly clock: Clock;
  readonly post: PostJson;
  readonly mail: SendMail;
}

/** Events of one message for people. */
export const MESSAGE_EVENTS = 20;

/** Configuration keys of every channel. */
export const COMMON_FIELDS = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
      error: issueText("is not a usable name", "lower-case letters, digits and hyphens"),
    })
    .describe("unique name of the channel"),
  min_severity: z.enum(SEVERITIES).default("warning").describe("less severe alerts are not sent"),
  reminders: z.boolean().default(true).describe("whether reminders are sent"),
  resolved: z.boolean().default(true).describe("whether the end of an alert is sent"),
  deadline: durationField(100).prefault("10s").describe("limit for one request"),
};

/** Parsed values of {@link COMMON_FIELDS}. */
interface CommonValues {
  readonly name: string;
  readonly min_severity: Severity;
  readonly reminders: boolean;
  readonly resolved: boolean;
  readonly deadline: number;
}

export function toSettings(values: CommonValues): ChannelSettings {
  return {
    name: values.name,
    minSeverity: values.min_severity,
    sendReminders: values.reminders,
    sendResolved: values.resolved,
    deadlineMs: values.deadline,
  };
}

/** Field for a secret URL, as a reference to the place that holds it. */
export function secretUrlField() {
  return secretField().refine((secret) => isPlainHttpUrl(secret.reveal()), {
    error: issueText("does not hold a usable URL", "http:// or https://"),
  });
}
