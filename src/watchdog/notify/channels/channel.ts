import { z } from "zod";
import { durationField, issueText, checkedSecretField } from "../../../platform/config/config-fields.ts";
import { isPlainHttpUrl } from "../../../platform/config/setting-texts.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { SEVERITIES, type Severity } from "../../../platform/monitoring/severity.ts";
import type { AlertEvent, CurrentAlert } from "../../alerts/alert-event.ts";
import type { ReportMessage } from "./message.ts";
import { postAccepted } from "./transport.ts";
import type { JsonPost, PostJson, PostReply, ReceiverWords } from "./transport.ts";
import { type Mail, type MailServer, createMailing, type SendMail } from "./mail.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { ChannelMove, ChannelSettings } from "../../alerts/outbox.ts";

interface KindSettings extends ChannelSettings {
  readonly kind: string;
}

type ChannelRequest = Omit<JsonPost, "signal">;

/** Functions that convert events and reports to e-mails instead of HTTP requests. */
interface Mails<Config> {
  readonly server: (config: Config) => { readonly server: MailServer; readonly to: readonly string[] };
  readonly alert: (events: readonly AlertEvent[], config: Config, to: readonly string[]) => Mail;
  readonly report: (report: ReportMessage, config: Config, to: readonly string[]) => Mail;
}

/** Settings and encoding for a receiver that gets the state of all alerts, because it routes, groups and repeats alerts itself. */
interface StateRequests {
  /** Maximum time between two pushes of the state, in ms. */
  readonly everyMs: number;
  /** Encodes the alerts as one request for each of the receiver's servers. */
  readonly requests: (alerts: readonly CurrentAlert[], nowMs: number) => readonly ChannelRequest[];
}

/** The definition of a channel kind, with its configuration keys and its encoding of events and reports. */
interface ChannelDefinition<Schema extends z.ZodType<KindSettings>> {
  /** Value of the `kind` key in the configuration, such as "slack". */
  readonly kind: string;
  /** The receiver's name in error messages, such as "Slack" or "the webhook". */
  readonly receiver: string;
  /** The receiver and the API used, for the table in the README. */
  readonly about: string;
  /** Schema of the channel's configuration entry, including the keys that all channels share. */
  readonly schema: Schema;
  /** Example values for the configuration file, without `kind`. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Maximum number of events per delivery. The value is 1 for requests that programs read, and higher for messages that people read. */
  readonly maxEvents: number;
  /** Encodes one validator's events, oldest first, as requests. Absent if the channel has `mails`. */
  readonly alert?: (events: readonly AlertEvent[], config: z.output<Schema>) => readonly ChannelRequest[];
  readonly mails?: Mails<z.output<Schema>>;
  /** Encodes a report as a request. Absent if the receiver only accepts alerts. */
  readonly report?: (report: ReportMessage, config: z.output<Schema>) => ChannelRequest;
  /** If present, the receiver gets the state of all alerts at each change, instead of single events. */
  readonly state?: (config: z.output<Schema>) => StateRequests;
  /** Patterns of replies that make another attempt pointless. */
  readonly words?: ReceiverWords;
  /** Detects that a receiver has moved. Absent if receivers of this kind never move. */
  readonly moves?: ReceiverMoves<z.output<Schema>>;
}

/** Handles receivers whose id can change, such as Telegram groups. */
interface ReceiverMoves<Config> {
  readonly idOf: (config: Config) => string;
  readonly withId: (config: Config, id: string) => Config;
  /** Returns the new id in a reply, or undefined if the reply contains no new id. */
  readonly newId: (reply: PostReply) => string | undefined;
  /** Tells the operator which key to change, for example "chat_id is now -1001". */
  readonly advice: (id: string) => string;
}

/** A channel kind that hides its schema behind `open`, so that all kinds have the same type. */
export interface ChannelKind<Schema extends z.ZodType<KindSettings> = z.ZodType<KindSettings>>
  extends Pick<ChannelDefinition<Schema>, "kind" | "about" | "schema" | "example"> {
  readonly takesReports: boolean;
  /** True if the receiver gets the state of all alerts instead of events. */
  readonly takesState: boolean;
  /** Creates the channel. Returns undefined if the configuration is for another kind. */
  readonly open: (config: KindSettings, deps: ChannelDeps) => Channel | undefined;
}

/** A receiver of notifications. Most channels also accept reports. */
export interface Channel extends KindSettings {
  readonly maxEvents: number;
  /**
   * Delivers one validator's events, which must be sorted oldest first. Resolves once the receiver has accepted all events.
   * Otherwise, rejects with a `ChannelError` whose message contains no secrets.
   */
  readonly send: (events: readonly AlertEvent[], signal: AbortSignal) => Promise<void>;
  /** Delivers a report with the same guarantees as `send`. A report that is too long is truncated, with a note at its end. */
  readonly sendReport?: (report: ReportMessage, signal: AbortSignal) => Promise<void>;
  /** If present, the receiver gets the state of all alerts instead of events, and `send` is used only for tests. */
  readonly state?: StatePush;
}

/** The same as {@link StateRequests}, with a function that sends one of the requests. */
export interface StatePush extends StateRequests {
  readonly push: (request: ChannelRequest, signal: AbortSignal) => Promise<void>;
}

export interface ChannelDeps {
  readonly post: PostJson;
  readonly mail: SendMail;
  readonly logger?: Logger;
  /** Stores the new ids of receivers that have moved. If absent, the new ids are lost when the process ends. */
  readonly moves?: StoredMoves;
}

/** Stores the new id of each receiver that has moved, by channel name. */
export interface StoredMoves {
  readonly moveOf: (channel: string) => ChannelMove | undefined;
  readonly setMove: (channel: string, move: ChannelMove) => void;
}

/** Maximum number of events in one message that people read. */
export const MESSAGE_EVENTS = 20;

export function defineChannel<Schema extends z.ZodType<KindSettings>>(
  definition: ChannelDefinition<Schema>,
): ChannelKind<Schema> {
  const { kind, about, schema, example } = definition;
  // The kind determines the configuration's schema, so only compare the kind.
  const isOwn = (config: KindSettings): config is z.output<Schema> => config.kind === kind;
  return {
    kind,
    about,
    schema,
    example,
    takesReports: definition.report !== undefined || definition.mails !== undefined,
    takesState: definition.state !== undefined,
    open: (config, deps) => {
      if (!isOwn(config)) return undefined;
      const { maxEvents, mails } = definition;
      const sending =
        mails === undefined ? openRequests(definition, config, deps) : openMails(mails, config, deps);
      return { ...config, maxEvents, ...sending };
    },
  };
}

type Sending = Pick<Channel, "send" | "sendReport" | "state">;

function openMails<Config extends ChannelSettings>(
  { server, alert, report }: Mails<Config>,
  config: Config,
  { mail }: ChannelDeps,
): Sending {
  const to = server(config);
  const { deadlineMs } = config;
  const alerts = createMailing<AlertEvent>(to, (events, own) => alert(events, config, own), mail);
  const reports = createMailing<ReportMessage>(
    to,
    ([first], own) => report(first ?? unreachable("a mail without a report"), config, own),
    mail,
  );
  return {
    send: (events, signal) => alerts(events, { deadlineMs, signal }),
    sendReport: (message, signal) => reports([message], { deadlineMs, signal }),
  };
}

function openRequests<Schema extends z.ZodType<KindSettings>>(
  { receiver, alert, report, words, moves, state }: ChannelDefinition<Schema>,
  config: z.output<Schema>,
  { post, logger, moves: stored }: ChannelDeps,
): Sending {
  const { name } = config;
  let moved: string | undefined;
  /**
   * Returns the configuration. If the receiver has moved, the new id replaces the configured id, unless the operator has changed
   * the configured id since.
   */
  const present = (): z.output<Schema> => {
    if (moves === undefined) return config;
    const known = stored?.moveOf(name);
    const id = moved ?? (known?.from === moves.idOf(config) ? known.to : undefined);
    return id === undefined ? config : moves.withId(config, id);
  };
  /** Sends the requests. If the receiver reports a new id, stores the new id and sends the requests again. */
  const withMove = async (
    requests: (config: z.output<Schema>) => readonly ChannelRequest[],
    signal: AbortSignal,
  ): Promise<void> => {
    let next: string | undefined;
    const watched: PostJson = async (call) => {
      const reply = await post(call);
      next = moves?.newId(reply) ?? next;
      return reply;
    };
    const sendAll = async (): Promise<void> => {
      await Promise.all(
        requests(present()).map((request) => postAccepted(watched, receiver, { ...request, signal }, words)),
      );
    };
    try {
      await sendAll();
    } catch (error) {
      if (moves === undefined || next === undefined || next === moves.idOf(present())) throw error;
      logger?.warn("the receiver has moved; set this in the configuration", {
        channel: name,
        advice: moves.advice(next),
      });
      moved = next;
      stored?.setMove(name, { from: moves.idOf(config), to: next });
      await sendAll();
    }
  };
  return {
    send: (events, signal) => withMove((own) => alert?.(events, own) ?? [], signal),
    ...(report && { sendReport: (message, signal) => withMove((own) => [report(message, own)], signal) }),
    ...(state && {
      state: {
        ...state(config),
        push: (request, signal) => postAccepted(post, receiver, { ...request, signal }, words),
      },
    }),
  };
}

/** Schema of a channel's `min_severity` key, which defaults to `initial`. */
export const severityField = (initial: Severity) =>
  z.enum(SEVERITIES).default(initial).describe("the lowest severity that is sent");

/** Schemas of the configuration keys that all kinds of channels share. */
export const COMMON_FIELDS = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
      error: issueText("is not a valid name", "lower-case letters, digits and hyphens"),
    })
    .describe("the channel's unique name"),
  min_severity: severityField("warning"),
  reminders: z.boolean().default(true).describe("send reminders"),
  resolved: z.boolean().default(true).describe("whether to send a message when an alert ends"),
  deadline: durationField(100).prefault("10s").describe("maximum duration of one request"),
};

type CommonValues = z.output<z.ZodObject<typeof COMMON_FIELDS>>;

/** Converts the values of {@link COMMON_FIELDS} to {@link ChannelSettings}. All other keys remain unchanged. */
export function toSettings<Values extends CommonValues>(values: Values) {
  const { min_severity: minSeverity, reminders, resolved, deadline, ...own } = values;
  return { ...own, minSeverity, sendReminders: reminders, sendResolved: resolved, deadlineMs: deadline };
}

/** Schema of a secret URL, configured as a reference to a file or an environment variable. */
export function secretUrlField() {
  return checkedSecretField(isPlainHttpUrl, issueText("does not contain a valid URL", "http:// or https://"));
}
