import { randomUUID } from "node:crypto";
import type { Registry } from "prom-client";
import { counted } from "../platform/base/text.ts";
import type { Clock } from "../platform/base/clock.ts";
import { parseJson, stringifyJson } from "../platform/base/json.ts";
import type { Logger } from "../platform/base/logger.ts";
import { errorReply, type HttpReply, jsonReply, textReply } from "../platform/http/http-route.ts";
import { type ApiRoute, serveRoute } from "../platform/http/route-about.ts";
import { reloadView } from "../platform/http/daemon-control-routes.ts";
import type { ServiceState } from "../platform/process/service-manager.ts";
import type { ReloadStatus } from "../platform/process/reloadable.ts";
import { type AlertStatus, alertStatuses, alertView } from "./alerts/alert-status.ts";
import {
  acknowledgeAlerts,
  type AcknowledgeResult,
  MAX_SILENCES,
  parseSilence,
  silenceView,
  withdrawAcknowledgements,
  withoutExpired,
} from "./alerts/silence.ts";
import { deadLetters, lostDeliveryView, reviveDeadLetters } from "./alerts/outbox.ts";
import type { Escalation } from "./alerts/notifications.ts";
import type { AlertingState } from "./alerts/plan-alerts.ts";
import type { AlertRule } from "./conditions/condition.ts";
import type { ChannelTest } from "./notify/notifier.ts";
import type { AlertState } from "./alerts/alert-state.ts";
import { allStatusText } from "./polling/status-json.ts";
import type { WatchdogStatus } from "./polling/watchdog-status.ts";
import { maintenanceView, type MaintenanceWindow } from "./alerts/maintenance.ts";
import { acknowledgedView, DEAD_LETTER_CHOICE, WATCHDOG_API } from "./watchdog-api.ts";

export interface RoutesDeps {
  readonly statuses: () => readonly WatchdogStatus[];
  /** Returns true while the poll loop is running. */
  readonly isAlive: () => boolean;
  /** Returns each validator's status at its last poll, as JSON. */
  readonly statusTexts: () => readonly string[];
  readonly registry: Registry;
  /** Returns the body of `GET /metrics` in Prometheus text format. */
  readonly metricsPage: () => Promise<string>;
  /** Returns the status of configuration reloads; undefined if this watchdog cannot reload its configuration. */
  readonly reloadStatus: () => ReloadStatus | undefined;
}

/** Creates the HTTP API's read-only routes, which serve the watchdog's status, metrics and health. */
export function createWatchdogRoutes({
  statuses,
  statusTexts,
  isAlive,
  registry,
  metricsPage,
  reloadStatus,
}: RoutesDeps): readonly ApiRoute[] {
  return [
    serveRoute(WATCHDOG_API.status, () => {
      const reloads = reloadStatus();
      const config = reloads === undefined ? null : reloadView.json(reloads);
      return jsonTextReply(allStatusText(statusTexts(), stringifyJson(config)));
    }),
    serveRoute(WATCHDOG_API.validator, ({ params }) => {
      const index = statuses().findIndex(({ validator }) => validator === params["name"]);
      const text = statusTexts()[index];
      if (text !== undefined) return jsonTextReply(text);
      const message = "no validator has this name; GET /api/status lists the validators";
      return errorReply(404, "no-such-validator", message);
    }),
    serveRoute(WATCHDOG_API.metrics, async () => ({
      status: 200,
      headers: { "content-type": registry.contentType },
      body: await metricsPage(),
    })),
    serveRoute(WATCHDOG_API.livez, () =>
      isAlive() ? textReply(200, "ok\n") : errorReply(503, "stuck", "the last poll was too long ago"),
    ),
    serveRoute(WATCHDOG_API.readyz, () =>
      statuses().some(({ polledAtMs }) => polledAtMs === undefined)
        ? errorReply(503, "not-ready", "the first poll has not finished yet")
        : textReply(200, "ok\n"),
    ),
  ];
}

/** Returns the state that the watchdog reports to the service manager. Startup is complete once every validator has been polled. */
export function serviceStateOf(statuses: readonly WatchdogStatus[], isAlive: () => boolean): ServiceState {
  const firing = statuses.flatMap(({ validator, alerts }) =>
    alerts.flatMap(({ state, rule }) =>
      state?.phase === "firing" ? [`${validator} ${rule.condition.name}`] : [],
    ),
  );
  const shown = `${firing.slice(0, 3).join(", ")}${firing.length > 3 ? `, and ${firing.length - 3} more` : ""}`;
  const alertText = firing.length === 0 ? "no alert is firing" : `firing: ${shown}`;
  return {
    isStarted: statuses.every(({ polledAtMs }) => polledAtMs !== undefined),
    isAlive: isAlive(),
    text: isAlive()
      ? `${counted(statuses.length, "validator")}; ${alertText}`
      : "the last poll was too long ago",
  };
}

interface AlertRoutesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerting: () => AlertingState;
  /** Stores the new state and returns undefined. If the write fails, the old state remains and the error text is returned. */
  readonly change: (alerting: AlertingState) => string | undefined;
  readonly rules: readonly AlertRule[];
  readonly validators: readonly string[];
  readonly maintenance: readonly MaintenanceWindow[];
  readonly escalation: Escalation;
  /** Sends a test notification to every channel. */
  readonly test: (signal: AbortSignal) => Promise<readonly ChannelTest[]>;
}

export function createAlertRoutes(deps: AlertRoutesDeps): readonly ApiRoute[] {
  const alertsText = createAlertsText(deps);
  const { acknowledge, withdraw, silences, silence, endSilence } = WATCHDOG_API;
  return [
    serveRoute(WATCHDOG_API.alerts, () => jsonTextReply(alertsText())),
    serveRoute(WATCHDOG_API.test, async ({ signal }) => {
      const channels = await deps.test(signal);
      return jsonReply(channels.every(({ error }) => error === null) ? 200 : 502, { channels });
    }),
    serveRoute(acknowledge, ({ body }) =>
      changeAcknowledged(
        acknowledgeAlerts(deps.alerting().alerts, parseBody(body), deps.clock.nowMs()),
        deps,
      ),
    ),
    serveRoute(withdraw, ({ body }) =>
      changeAcknowledged(withdrawAcknowledgements(deps.alerting().alerts, parseBody(body)), deps),
    ),
    ...(["resend", "discard"] as const).map((what) =>
      serveRoute(WATCHDOG_API[what], ({ body }) => changeDeadLetters(what, parseBody(body), deps)),
    ),
    serveRoute(silences, () => jsonReply(200, { silences: silencesJson(deps) })),
    serveRoute(silence, ({ body }) => createSilence(parseBody(body), deps)),
    serveRoute(endSilence, ({ params }) => deleteSilence(params["id"] ?? "", deps)),
  ];
}

/**
 * Returns a function that builds the JSON for `GET /api/alerts`. An alert is encoded again only if its state has changed, because
 * 200 validators have 9,000 alerts. Inactive alerts of one rule share a template with a placeholder for the validator.
 */
function createAlertsText(deps: AlertRoutesDeps): () => string {
  const { alerting, rules, validators, escalation, maintenance } = deps;
  const encode = (one: AlertStatus): string => stringifyJson(alertView.json({ ...one, escalation }));
  const inactive = new Map(
    rules.map((rule) => {
      const text = encode({ rule, validator: NAME, state: undefined });
      return [rule, text.split(JSON.stringify(NAME))] as const;
    }),
  );
  const active = new WeakMap<AlertState, string>();
  const textOf = (one: AlertStatus): string => {
    const { rule, state, validator } = one;
    if (state === undefined) return inactive.get(rule)?.join(JSON.stringify(validator)) ?? encode(one);
    const text = active.get(state) ?? encode(one);
    active.set(state, text);
    return text;
  };
  return () => {
    const texts = alertStatuses(alerting().alerts, rules, validators).map(textOf);
    const others = stringifyJson({
      silences: silencesJson(deps),
      dead_letters: deadLetters(alerting().outbox).map(lostDeliveryView.json),
      maintenance: maintenance.map(maintenanceView.json),
    });
    return `{"alerts":[${texts.join(",")}],${others.slice(1)}`;
  };
}

/** Placeholder that is replaced with the validator's name. A real name cannot equal the placeholder, which contains spaces. */
const NAME = "name of a validator";

/** Creates a reply from text that is already encoded as JSON. */
function jsonTextReply(text: string): HttpReply {
  return { ...jsonReply(200, null), body: `${text}\n` };
}

function changeDeadLetters(
  what: "resend" | "discard",
  body: unknown,
  { alerting, change, logger }: AlertRoutesDeps,
): HttpReply {
  const choice = DEAD_LETTER_CHOICE.safeParse(body);
  if (!choice.success)
    return errorReply(400, "bad-choice", "expected an object with optional ids and channels");
  const state = alerting();
  const { outbox, count } = reviveDeadLetters(state.outbox, choice.data, what);
  const problem = change({ ...state, outbox });
  if (problem !== undefined) return notStored(`the dead letters were not changed`, problem);
  logger.info(`dead letters: ${what}`, { count });
  return jsonReply(200, { [what === "resend" ? "resent" : "discarded"]: count });
}

function silencesJson({ alerting, clock }: AlertRoutesDeps): readonly unknown[] {
  return withoutExpired(alerting().silences, clock.nowMs()).map(silenceView.json);
}

function createSilence(body: unknown, deps: AlertRoutesDeps): HttpReply {
  const { alerting, change, clock, logger, rules, validators } = deps;
  const nowMs = clock.nowMs();
  const state = alerting();
  const open = withoutExpired(state.silences, nowMs);
  if (open.length >= MAX_SILENCES)
    return errorReply(
      409,
      "too-many-silences",
      `limit of ${MAX_SILENCES} silences reached; delete some first`,
    );
  const known = { alerts: rules.map(({ condition }) => condition.name), validators };
  const silence = parseSilence(body, known, { id: randomUUID(), nowMs });
  if ("refused" in silence) return errorReply(400, "bad-silence", silence.refused);
  const problem = change({ ...state, silences: [...open, silence] });
  if (problem !== undefined) return notStored("the silence was not created", problem);
  logger.info("silence created", silenceView.json(silence));
  return jsonReply(201, silenceView.json(silence));
}

/** Stores the alerts after somebody acknowledges an alert or withdraws an acknowledgement. */
function changeAcknowledged(
  result: AcknowledgeResult,
  { alerting, change, logger }: AlertRoutesDeps,
): HttpReply {
  if ("refused" in result) return errorReply(400, "not-acknowledged", result.refused);
  const problem = change({ ...alerting(), alerts: result.alerts });
  if (problem !== undefined) return notStored("nothing was acknowledged", problem);
  const alerts = result.changed.map(acknowledgedView.json);
  for (const one of alerts)
    logger.info(one["acknowledged"] === null ? "acknowledgement withdrawn" : "alert acknowledged", one);
  return jsonReply(200, { alerts });
}

function deleteSilence(id: string, { alerting, change, logger }: AlertRoutesDeps): HttpReply {
  const state = alerting();
  const silences = state.silences.filter((silence) => silence.id !== id);
  if (silences.length === state.silences.length)
    return errorReply(
      404,
      "no-such-silence",
      "there is no silence with this id; GET /api/silences lists them",
    );
  const problem = change({ ...state, silences });
  if (problem !== undefined) return notStored("the silence was not deleted", problem);
  logger.info("silence deleted", { id });
  return jsonReply(200, { deleted: id });
}

/** Refuses a change that could not be stored, because every confirmed change must survive a restart. */
function notStored(what: string, problem: string): HttpReply {
  const text = `${what}: a restart would undo the change, because ${problem}; repair the disk with state_dir and try again`;
  return errorReply(503, "not-stored", text);
}

/** Parses a request body as JSON. Returns undefined for invalid JSON, which the request's schema then rejects. */
function parseBody(body: Uint8Array): unknown {
  return parseJson(new TextDecoder().decode(body));
}
