import { z } from "zod";
import { unreachable } from "../../../platform/base/errors.ts";
import {
  durationField,
  httpUrlField,
  issueText,
  secretField,
} from "../../../platform/config/config-fields.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, severityField, toSettings } from "./channel.ts";
import type { Channel, ChannelDeps } from "./channel.ts";
import { discord, slack, telegram, webhook } from "./message-channels.ts";
import { createHash } from "node:crypto";
import { wellFormed } from "../../../platform/base/text.ts";
import type { AlertEvent, CurrentAlert } from "../../alerts/alert-event.ts";
import {
  alertMessage,
  clip,
  cutLines,
  eventText,
  linksOf,
  messageText,
  type ReportMessage,
  sinceLine,
  stateLine,
} from "./message.ts";
import type { Mail, MailServer } from "./mail.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { isoTime } from "../../../platform/base/time.ts";
import { costText } from "../../policy/cost-text.ts";
import { alertName } from "../../conditions/condition.ts";

/** An Alertmanager cluster. Every server in the cluster must receive every alert. */
interface Cluster {
  /** Root URLs of all Alertmanagers in the cluster, without trailing slashes. */
  readonly urls: readonly string[];
  readonly authorization?: Secret | undefined;
}

/** Number of push intervals after which an alert expires if it is not pushed again. */
const VALID_PUSHES = 4;

/** The channel for Prometheus Alertmanager, which receives the state of all alerts, because it routes, groups and repeats alerts itself. */
const alertmanager = defineChannel({
  kind: "alertmanager",
  receiver: "Alertmanager",
  about: "Prometheus Alertmanager, through its API version 2",
  schema: z
    .strictObject({
      kind: z.literal("alertmanager"),
      name: COMMON_FIELDS.name,
      min_severity: severityField("info"),
      deadline: COMMON_FIELDS.deadline,
      urls: z
        .array(httpUrlField())
        .min(1)
        .max(10)
        .describe("the root URLs of the cluster's Alertmanagers. Each Alertmanager gets all alerts"),
      authorization: secretField().optional().describe("the Authorization header (a secret)"),
      resend: durationField(1000)
        .prefault("1m")
        .describe("interval at which the watchdog sends the firing alerts again"),
    })
    .transform(({ urls, resend, ...file }) => {
      const roots: Cluster["urls"] = urls.map((url) => url.replace(/\/$/, ""));
      return { ...toSettings({ ...file, reminders: false, resolved: true }), urls: roots, resendMs: resend };
    }),
  example: {
    name: "alertmanager",
    urls: ["http://127.0.0.1:9093"],
    authorization: { env: "ORACLE_WATCHDOG_ALERTMANAGER_AUTHORIZATION" },
  },
  maxEvents: MESSAGE_EVENTS,
  // Send test alerts with an end time, so that Alertmanager resolves the alerts immediately.
  alert: (events, config) =>
    requests(
      config,
      events.map((event) => alertJson({ event, resolvedAtMs: event.atMs }, event.atMs)),
    ),
  state: (config) => ({
    everyMs: config.resendMs,
    requests: (alerts, nowMs) =>
      requests(
        config,
        alerts.map((alert) => alertJson(alert, nowMs + VALID_PUSHES * config.resendMs)),
      ),
  }),
});

function requests({ urls, authorization }: Cluster, body: readonly unknown[]) {
  const headers = authorization === undefined ? {} : { authorization: authorization.reveal() };
  return urls.map((url) => ({ url: `${url}/api/v2/alerts`, headers, body }));
}

/** Encodes an alert for Alertmanager's API v2. The labels identify the alert, so values that can change are encoded as annotations. */
function alertJson(
  { event: latest, resolvedAtMs, acknowledged }: CurrentAlert,
  validUntilMs: number,
): Readonly<Record<string, unknown>> {
  const event: AlertEvent =
    resolvedAtMs === undefined ? latest : { ...latest, kind: "resolved", atMs: resolvedAtMs };
  const { alert, severity, chainId, validator, runbook } = event;
  return {
    labels: {
      alertname: alertName(alert),
      severity,
      chain_id: chainId,
      validator,
      component: "oracle-watchdog",
    },
    annotations: {
      summary: `${event.title}.`,
      description: `${stateLine(event)} ${sinceLine(event)}`,
      impact: event.impact,
      action: event.action,
      runbook_url: runbook,
      acknowledged,
      dashboard_url: event.dashboard,
      page_url: event.page,
      resolved_summary: resolvedAtMs === undefined ? undefined : stateLine(event),
      cost: event.cost && costText(event.cost),
    },
    // Alertmanager rejects an alert that ends before it starts.
    startsAt: isoTime(Math.min(event.sinceMs, resolvedAtMs ?? validUntilMs)),
    endsAt: isoTime(resolvedAtMs ?? validUntilMs),
  };
}

const SUMMARY_LIMIT = 1024;

const pagerduty = defineChannel({
  kind: "pagerduty",
  receiver: "PagerDuty",
  about: "PagerDuty, through the Events API version 2",
  schema: z
    .strictObject({
      kind: z.literal("pagerduty"),
      ...COMMON_FIELDS,
      // Reminders are off by default, because PagerDuty repeats and escalates alerts on its own.
      reminders: z
        .boolean()
        .default(false)
        .describe("whether to send reminders. PagerDuty escalates without reminders"),
      min_severity: severityField("critical"),
      routing_key: secretField().describe("the service's integration key (a secret)"),
      url: httpUrlField()
        .prefault("https://events.pagerduty.com/v2/enqueue")
        .describe("the URL of the Events API"),
    })
    .transform(({ routing_key: routingKey, ...file }) => ({ ...toSettings(file), routingKey })),
  example: { name: "on-call", routing_key: { env: "ORACLE_WATCHDOG_PAGERDUTY_KEY" } },
  maxEvents: 1,
  words: { gone: /routing[ _]key|integration key|service (?:is )?(?:disabled|not found|deleted)/i },
  alert: (events, { url, routingKey }) =>
    events.map((event) => ({ url, body: pagerdutyBody(event, routingKey.reveal()) })),
});

/** Encodes an event for PagerDuty's API. Because `dedup_key` is the alert's key, two watchdogs for one validator open only one incident. */
function pagerdutyBody(event: AlertEvent, routingKey: string): Readonly<Record<string, unknown>> {
  const { chainId, validator, title, reason } = event;
  const links = linksOf(event).filter(({ href }) => /^https?:/.test(href));
  return {
    routing_key: routingKey,
    event_action: event.kind === "resolved" ? "resolve" : "trigger",
    dedup_key: event.key,
    client: "relaywatch oracle watchdog",
    payload: {
      summary: clip(`${chainId} ${validator}: ${title}: ${reason}`, SUMMARY_LIMIT),
      severity: event.severity,
      timestamp: new Date(event.atMs).toISOString(),
      source: `${chainId}/${validator}`,
      component: "oracle",
      group: chainId,
      class: event.alert,
      custom_details: { text: eventText(event), event_id: event.id },
    },
    ...(links.length === 0 ? {} : { links }),
  };
}

/** A mail address without a display name. Line feeds are excluded, because they would inject header lines. */
const address = z.string().regex(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,190}$/, {
  error: issueText("is not an e-mail address", "name@host"),
});

const SUBJECT_LIMIT = 200;
const MAIL_REPORT_LIMIT = 100_000;
const MAIL_LIMIT = 20_000;

const email = defineChannel({
  kind: "email",
  receiver: "the mail server",
  about: "e-mail, over SMTP",
  schema: z
    .strictObject({
      kind: z.literal("email"),
      ...COMMON_FIELDS,
      host: z
        .string()
        .regex(/^[A-Za-z0-9.:-]{1,253}$/, {
          error: issueText("is not a host", "a host name or an IP address"),
        })
        .describe("SMTP server"),
      port: z.int().min(1).max(65_535).default(587).describe("the SMTP server's port"),
      security: z
        .enum(["starttls", "tls", "none"])
        .default("starttls")
        .describe("encryption of the connection: starttls, tls (from the start, on port 465), or none"),
      user: z.string().min(1).max(320).optional().describe("user name for the SMTP server"),
      password: secretField().optional().describe("password (a secret)"),
      from: address.describe("sender"),
      to: z.array(address).min(1).max(50).describe("recipients"),
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      path: ["password"],
      error: issueText("must be set together with user", "both or neither"),
    })
    .transform(({ host, port, security, user, password, ...file }) => {
      const server: MailServer = { host, port, security, user, password };
      return { ...toSettings(file), server };
    }),
  example: {
    name: "mail",
    deadline: "30s",
    host: "mail.example",
    user: "watchdog",
    password: { env: "ORACLE_WATCHDOG_MAIL_PASSWORD" },
    from: "watchdog@validator.example",
    to: ["on-call@validator.example"],
  },
  maxEvents: MESSAGE_EVENTS,
  mails: { server: (config) => config, alert: alertMail, report: reportMail },
});

type Sender = Pick<Mail, "from">;

/**
 * Composes the mail about one or more events. Repeated deliveries have the same message id, so that e-mail clients show the mail
 * only once. All messages about an alert form one thread.
 */
function alertMail(events: readonly AlertEvent[], { from }: Sender, to: readonly string[]): Mail {
  const message = alertMessage(events);
  return {
    from,
    to,
    subject: clip(wellFormed(message.subject), SUBJECT_LIMIT),
    text: wellFormed(messageText(message, MAIL_LIMIT)),
    messageId: mailId(events.map(({ id }) => id).join("\n"), from),
    threadId: mailId(events[0]?.key ?? "", from),
  };
}

function reportMail({ id, subject, text }: ReportMessage, { from }: Sender, to: readonly string[]): Mail {
  const messageId = mailId(id, from);
  return { from, to, subject, text: cutLines(text, MAIL_REPORT_LIMIT), messageId, threadId: messageId };
}

/** Returns a message id that depends only on the text and the host in the sender's address. */
function mailId(text: string, from: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return `${hash}@${from.slice(from.lastIndexOf("@") + 1)}`;
}

/** All channel kinds, in the documentation's order. To add a kind, define it here or in a neighbouring file, and add it to this list. */
export const CHANNEL_KINDS = [alertmanager, pagerduty, slack, discord, telegram, email, webhook] as const;

export type ChannelConfig = z.output<(typeof CHANNEL_KINDS)[number]["schema"]>;

const [first, ...others] = CHANNEL_KINDS;
const names = CHANNEL_KINDS.map(({ kind }) => kind).toSorted();

/** Schema of one entry of `notify.channels`, whose `kind` key determines the other keys. */
export const channelSchema = z.discriminatedUnion(
  "kind",
  [first.schema, ...others.map(({ schema }) => schema)],
  {
    error: issueText("is not a channel kind", `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`),
  },
);

/** Names of the channel kinds that accept reports as well as alerts. */
export const REPORT_KINDS: ReadonlySet<string> = new Set(
  CHANNEL_KINDS.filter(({ takesReports }) => takesReports).map(({ kind }) => kind),
);

/** Names of the channel kinds that receive the state of all alerts instead of events. */
export const STATE_KINDS: ReadonlySet<string> = new Set(
  CHANNEL_KINDS.filter(({ takesState }) => takesState).map(({ kind }) => kind),
);

export function createChannel(config: ChannelConfig, deps: ChannelDeps): Channel {
  const [channel] = CHANNEL_KINDS.flatMap((kind) => kind.open(config, deps) ?? []);
  return channel ?? unreachable(`the configuration rejects channels of kind ${config.kind}`);
}
