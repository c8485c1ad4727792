import { z } from "zod";
import { reloadView } from "../platform/http/daemon-control-routes.ts";
import { errorOf, getJson, getText, jsonOf, postJson } from "../platform/http/route-about.ts";
import type { RouteDefinition } from "../platform/http/route-about.ts";
import { acknowledgeRequest, silenceRequest, silenceView, withdrawRequest } from "./alerts/silence.ts";
import type { AlertState } from "./alerts/alert-state.ts";
import { acknowledgementView, alertView } from "./alerts/alert-status.ts";
import { maintenanceView } from "./alerts/maintenance.ts";
import { lostDeliveryView } from "./alerts/outbox.ts";
import { jsonView, words } from "../platform/http/json-view.ts";
import { statusView } from "./polling/status-json.ts";

/** An alert in the reply to a request that acknowledges alerts or withdraws acknowledgements. */
export const acknowledgedView = jsonView<AlertState>(({ value, partOrNull }) => ({
  validator: value(words, ({ validator }) => validator),
  name: value(words, ({ alert }) => alert),
  acknowledged: partOrNull(acknowledgementView, ({ acknowledged }) => acknowledged),
}));

const acknowledgedAlerts = z.strictObject({ alerts: z.array(acknowledgedView.schema) });

const notStored = errorOf("the state could not be stored, so nothing changed");
const refused = (what: string) => ({ 400: errorOf(what), 503: notStored });

const tests = z.strictObject({
  channels: z.array(z.strictObject({ channel: words, kind: words, error: words.nullable() })),
});

/** Schema of the request body that selects dead letters. */
export const DEAD_LETTER_CHOICE = z.strictObject({
  ids: z.array(words).max(1000).optional(),
  channels: z.array(words).max(100).optional(),
});

const deadLetters = (name: string, does: string, reply: z.ZodType): RouteDefinition => {
  const summary = `${does}: all, or only the given \`ids\` and \`channels\``;
  const more = { body: DEAD_LETTER_CHOICE, replies: refused("invalid body") };
  return postJson(`/api/alerts/dead-letters/${name}`, summary, reply, more);
};

const createSilence: RouteDefinition = {
  method: "POST",
  path: "/api/silences",
  guarded: true,
  about: {
    summary: "creates a silence",
    body: silenceRequest,
    replies: {
      201: jsonOf(silenceView.schema),
      ...refused("invalid body"),
      409: errorOf("too many silences"),
    },
  },
};

const endSilence: RouteDefinition = {
  method: "DELETE",
  path: "/api/silences/:id",
  guarded: true,
  about: {
    summary: "deletes a silence",
    replies: {
      200: jsonOf(z.strictObject({ deleted: words })),
      404: errorOf("no such silence"),
      503: notStored,
    },
  },
};

/** Definitions of the watchdog's HTTP API routes. The routes from which report commands read are in `report/report-data.ts`. */
export const WATCHDOG_API = {
  status: getJson(
    "/api/status",
    "the status of the first validator and of all validators (`validators`), and the configuration's reload status (`config`)",
    z.strictObject({
      ...statusView.schema.shape,
      validators: z.array(statusView.schema),
      config: reloadView.schema.nullable(),
    }),
  ),
  validator: getJson(
    "/api/validators/:name",
    "one validator's month, rate, tier, assessment (reward, headroom by boundary, forecast, rotation), state on the chain, prices, payments, alerts and sources",
    statusView.schema,
    { replies: { 404: errorOf("no such validator") } },
  ),
  metrics: getText("/metrics", "[metrics](metrics.md#oracle-watchdog) for Prometheus"),
  livez: getText("/livez", "200 while the poll loop runs; 503 while it hangs", {
    replies: { 503: errorOf("the last poll was too long ago") },
  }),
  readyz: getText("/readyz", "503 until the first poll has finished", {
    replies: { 503: errorOf("the first poll has not finished yet") },
  }),
  alerts: getJson(
    "/api/alerts",
    "all alerts with their states, texts and thresholds; silences, maintenance windows and dead letters",
    z.strictObject({
      alerts: z.array(alertView.schema),
      silences: z.array(silenceView.schema),
      dead_letters: z.array(lostDeliveryView.schema),
      maintenance: z.array(maintenanceView.schema),
    }),
  ),
  test: postJson("/api/alerts/test", "sends a test notification to every channel", tests, {
    replies: { 502: jsonOf(tests, "a channel rejected it") },
  }),
  acknowledge: postJson(
    "/api/alerts/ack",
    "acknowledges the selected firing alerts; an empty list selects all",
    acknowledgedAlerts,
    { body: acknowledgeRequest, replies: refused("invalid body, or no such firing alert") },
  ),
  withdraw: postJson(
    "/api/alerts/unack",
    "withdraws the acknowledgements of the selected alerts; an empty list selects all",
    acknowledgedAlerts,
    {
      body: withdrawRequest,
      replies: refused("invalid body, or no such acknowledged alert"),
    },
  ),
  resend: deadLetters("resend", "sends dead letters again", z.strictObject({ resent: z.int() })),
  discard: deadLetters("discard", "drops dead letters", z.strictObject({ discarded: z.int() })),
  silences: getJson(
    "/api/silences",
    "all silences",
    z.strictObject({ silences: z.array(silenceView.schema) }),
  ),
  silence: createSilence,
  endSilence,
};
