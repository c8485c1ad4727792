import { z } from "zod";
import type { Secret } from "../../../platform/base/secret.ts";
import { isoTime } from "../../../platform/base/time.ts";
import { secretField } from "../../../platform/config/config-fields.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";
import { costView } from "../../policy/cost-text.ts";
import { COMMON_FIELDS, defineChannel, MESSAGE_EVENTS, secretUrlField, toSettings } from "./channel.ts";
import { alertMessage, cutLines, messageText } from "./message.ts";

/** Maximum text length: Discord refuses `content` longer than 2,000 characters. */
const TEXT_LIMIT = 2000;
const REPORT_LIMIT = 100_000;

/** Generic webhook: a JSON document with all fields, including the texts that Discord (`content`) and Slack (`text`) show. */
export const webhook = defineChannel({
  kind: "webhook",
  receiver: "the webhook",
  about: "any JSON receiver",
  schema: z
    .strictObject({
      kind: z.literal("webhook"),
      ...COMMON_FIELDS,
      url: secretUrlField().describe("receives JSON; a secret"),
      authorization: secretField().optional().describe("value of the Authorization header; a secret"),
    })
    .transform(toSettings),
  example: {
    name: "webhook",
    url: { env: "ORACLE_WATCHDOG_WEBHOOK_URL" },
    authorization: { env: "ORACLE_WATCHDOG_WEBHOOK_AUTHORIZATION" },
  },
  maxEvents: MESSAGE_EVENTS,
  alert: (events, config) => {
    const text = messageText(alertMessage(events), TEXT_LIMIT);
    const body = { version: 2, alerts: events.map(eventJson), content: text, text };
    // The newest event identifies the delivery: after a failure, the same events are sent again, possibly with newer events.
    return [{ ...endpoint(config, events.at(-1)?.id ?? ""), body }];
  },
  report: ({ id, subject, text }, config) => ({
    ...endpoint(config, id),
    body: { version: 2, report: id, subject, text: cutLines(text, REPORT_LIMIT) },
  }),
});

function endpoint(
  { url, authorization }: { readonly url: Secret; readonly authorization?: Secret | undefined },
  idempotencyKey: string,
) {
  const headers = {
    "idempotency-key": idempotencyKey,
    ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
  };
  return { url: url.reveal(), headers };
}

/** Encodes one event as JSON. Times are in ISO 8601; blocks are strings. */
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
    since: isoTime(event.sinceMs),
    at: isoTime(event.atMs),
    reason: event.reason,
    description: event.description,
    action: event.action,
    impact: event.impact,
    runbook: event.runbook,
    dashboard: event.dashboard ?? null,
    page: event.page ?? null,
    cost: event.cost === undefined ? null : costView.json(event.cost),
  };
}
