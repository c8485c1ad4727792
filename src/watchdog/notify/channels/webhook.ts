import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import { secretField } from "../../../platform/config/config-fields.ts";
import type { AlertEvent } from "../alert-event.ts";
import {
  type ChannelDeps,
  type ChannelSettings,
  COMMON_FIELDS,
  type EventChannel,
  MESSAGE_EVENTS,
  secretUrlField,
  toSettings,
} from "../channel.ts";
import { postAccepted } from "../http-post.ts";
import { alertMessage, messageText } from "../message.ts";

/** Generic webhook: a JSON document with all fields, and texts that Discord (`content`) and Slack (`text`) show. */
export interface WebhookConfig extends ChannelSettings {
  readonly kind: "webhook";
  readonly url: Secret;
  /** Value of the header `Authorization`. */
  readonly authorization?: Secret;
}

/** Keys of a webhook channel. */
export const webhookFields = z
  .strictObject({
    kind: z.literal("webhook"),
    ...COMMON_FIELDS,
    url: secretUrlField().describe("receives JSON; a secret"),
    authorization: secretField().optional().describe("value of the header Authorization; a secret"),
  })
  .transform(
    (file): WebhookConfig => ({
      kind: "webhook",
      ...toSettings(file),
      url: file.url,
      ...(file.authorization === undefined ? {} : { authorization: file.authorization }),
    }),
  );

/** Longest text: Discord refuses `content` of more than 2,000 characters. */
const TEXT_LIMIT = 2000;

/** Creates the channel. The header `idempotency-key` is the id of the newest event. */
export function createWebhook(config: WebhookConfig, { post }: ChannelDeps): EventChannel {
  return {
    ...config,
    maxEvents: MESSAGE_EVENTS,
    send: (events, signal) =>
      postAccepted(post, "the webhook", {
        url: config.url.reveal(),
        headers: {
          "idempotency-key": events.at(-1)?.id ?? "",
          ...(config.authorization === undefined ? {} : { authorization: config.authorization.reveal() }),
        },
        body: webhookBody(events),
        signal,
      }),
  };
}

/** Encodes events as the body of a webhook request. */
function webhookBody(events: readonly AlertEvent[]): Readonly<Record<string, unknown>> {
  const text = messageText(alertMessage(events), TEXT_LIMIT);
  return { version: 2, alerts: events.map(eventJson), content: text, text };
}

/** Encodes one event as JSON. Times are ISO 8601, blocks are strings. */
function eventJson(event: AlertEvent): Readonly<Record<string, unknown>> {
  return {
    id: event.id,
    key: event.key,
    alert: event.alert,
    kind: event.kind,
    severity: event.severity,
    chain_id: event.chainId,
    validator: event.validator,
    title: event.title,
    since: new Date(event.sinceMs).toISOString(),
    at: new Date(event.atMs).toISOString(),
    reason: event.reason,
    description: event.description,
    action: event.action,
    impact: event.impact,
    runbook: event.runbook,
    cost: { blocks: event.cost.blocks.toString(), pay: event.cost.pay ?? null },
  };
}
