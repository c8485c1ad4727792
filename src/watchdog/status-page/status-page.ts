import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { errorReply, getRoute, type HttpReply, type HttpRoute } from "../../platform/http/http-route.ts";
import type { PastAlert } from "../alerts/alert-state.ts";
import { type LedgerView, recentBlocks } from "../ledger/ledger-view.ts";
import { type Freshness, whyBlind } from "../polling/freshness.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { type Assessment, type Policy, policyOf } from "../policy/assessment.ts";
import { type ExplainingAlert, type IncidentSource, incidentSourceOf } from "../alerts/miss-causes.ts";
import { presentOf, publicJson, publicValidator } from "./public-status.ts";
import type { OpenAlert, Present, PublicStatus, PublicValidator } from "./public-status.ts";
import { firstDayMs, joinHistories, NO_HISTORY, readHistory, startOfDay } from "./public-days.ts";
import type { PublicHistory } from "./public-days.ts";
import { PUBLIC_PAGE_POLICY, publicPage } from "./public-page.ts";
import type { ShownValidator, StatusPageConfig } from "./status-page-config.ts";

export interface StatusPageDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a validator's counts from memory, or undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** Returns the counts from memory plus older counts from disk. May throw, e.g. if the disk is failing. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alertHistory: () => readonly PastAlert[];
  /** Maximum time that normally passes between the ends of two polls. */
  readonly pollMs: number;
  readonly intervalMs: number;
}

export interface StatusPage {
  /** Records a validator's status after a poll, for the next rendering. */
  readonly update: (status: WatchdogStatus) => void;
  readonly routes: readonly HttpRoute[];
}

/** Time after which browsers reload the page. */
const RELOAD_MS = MINUTE_MS;

/** Maximum time for which caches may store the page. */
const MAX_CACHED_MS = MINUTE_MS;

interface Entry {
  readonly status: WatchdogStatus;
  readonly past: PublicHistory;
}

/**
 * Creates a route for the page and a route for the same content as JSON. The page is rendered on request. A
 * rendered page is cached until the next poll. Data from before yesterday is read during a poll, at most once per hour.
 */
export function createStatusPage(config: StatusPageConfig, deps: StatusPageDeps): StatusPage {
  const { clock, pollMs, intervalMs } = deps;
  const entries = new Map<string, Entry>();
  const pasts = createPasts(deps);
  const isShown = new Set(config.validators.map(({ name }) => name));
  const shown = config.validators.map((one) => ({ one, rendered: createLast<PublicValidator>() }));
  const whole = createLast<{ readonly page: string; readonly json: string }>();
  const read = (): { readonly page: string; readonly json: string } => {
    const nowMs = clock.nowMs();
    const validators = shown.map(({ one, rendered }) => {
      const entry = entries.get(one.name);
      return rendered(keyOf(entry, pollMs, nowMs), () => toPublic(one, entry, { config, deps, nowMs }));
    });
    return whole(validators, () => {
      const times = config.validators.map(({ name }) => entries.get(name)?.status.polledAtMs ?? Number.NaN);
      const asOfMs = Math.min(...times);
      const status: PublicStatus = {
        title: config.title,
        asOfMs: Number.isFinite(asOfMs) ? asOfMs : undefined,
        staleMs: pollMs + RELOAD_MS + MAX_CACHED_MS,
        validators,
      };
      return {
        page: publicPage(status, { reloadSeconds: RELOAD_MS / 1000 }),
        json: `${stringifyJson(publicJson(status))}\n`,
      };
    });
  };
  const cachedSeconds = Math.max(1, Math.floor(Math.min(intervalMs, MAX_CACHED_MS) / 1000));
  return {
    update: (status) => {
      if (isShown.has(status.validator)) entries.set(status.validator, { status, past: pasts(status) });
    },
    routes: [
      getRoute("/", () => safely(() => reply("text/html; charset=utf-8", read().page, cachedSeconds), deps)),
      getRoute("/status.json", () =>
        safely(() => reply("application/json; charset=utf-8", read().json, cachedSeconds), deps),
      ),
    ],
  };
}

/** Writes error texts only to the log, because an error text may contain addresses and paths. */
function safely(handle: () => HttpReply, { logger }: Pick<StatusPageDeps, "logger">): HttpReply {
  try {
    return handle();
  } catch (error) {
    logger.error("the status page cannot be rendered", { reason: errorText(error) });
    return errorReply(503, "not-available", "the page is not available at present");
  }
}

function reply(contentType: string, body: string, cachedSeconds: number): HttpReply {
  return {
    status: 200,
    headers: {
      "content-type": contentType,
      "content-security-policy": PUBLIC_PAGE_POLICY,
      "cache-control": `public, max-age=${cachedSeconds}`,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-site",
    },
    body,
  };
}

/** Returns a function that caches its last value. The value is only created again if an element of the key has changed. */
function createLast<T>(): (key: readonly unknown[], create: () => T) => T {
  let last: { readonly key: readonly unknown[]; readonly value: T } | undefined;
  return (key, create) => {
    const isSame = last?.key.length === key.length && last.key.every((part, index) => part === key[index]);
    if (last === undefined || !isSame) last = { key, value: create() };
    return last.value;
  };
}

/**
 * Returns the cache key for a validator. The key changes with each poll and each day. Once polls have stopped, the key changes
 * every minute.
 */
function keyOf(entry: Entry | undefined, pollMs: number, nowMs: number): readonly unknown[] {
  if (entry === undefined) return [];
  const polledAtMs = entry.status.polledAtMs ?? 0;
  const isOld = nowMs - polledAtMs > pollMs;
  return [entry.status, isOld ? Math.floor(nowMs / MINUTE_MS) : -1, startOfDay(nowMs)];
}

interface PublicContext {
  readonly config: StatusPageConfig;
  readonly deps: StatusPageDeps;
  readonly nowMs: number;
}

function toPublic(shown: ShownValidator, entry: Entry | undefined, context: PublicContext): PublicValidator {
  const { config, deps, nowMs } = context;
  const ledger = deps.ledger(shown.name);
  const { status, past = NO_HISTORY } = entry ?? {};
  const recent =
    status === undefined || ledger === undefined
      ? NO_HISTORY
      : readHistory(incidentSourceOf(status, ledger, deps.alertHistory()), cutOf(nowMs), nowMs + 1);
  return publicValidator({
    shown,
    hasAmounts: config.hasAmounts,
    ledger,
    history: joinHistories(past, recent, policyOf(status?.assessment).quietMs, nowMs),
    present: presentNow(status, ledger, { nowMs, pollMs: deps.pollMs }),
    assessment: status?.assessment,
    seenAtMs: status && seenAt(status, ledger, nowMs),
    nowMs,
  });
}

/** Returns the start of yesterday (UTC). All later counts are in memory. */
function cutOf(nowMs: number): number {
  return startOfDay(nowMs) - DAY_MS;
}

/**
 * Creates a function that returns the history before yesterday. The cache expires after an hour, because backfills can change the
 * history.
 */
function createPasts(deps: StatusPageDeps): (status: WatchdogStatus) => PublicHistory {
  const known = new Map<string, Readonly<{ cutMs: number; atMs: number; past: PublicHistory }>>();
  return (status) => {
    const { validator } = status;
    const nowMs = deps.clock.nowMs();
    const cutMs = cutOf(nowMs);
    const found = known.get(validator);
    if (found?.cutMs === cutMs && nowMs >= found.atMs && nowMs - found.atMs < HOUR_MS) return found.past;
    const read = (ledger: LedgerView | undefined): PublicHistory =>
      ledger === undefined
        ? NO_HISTORY
        : readHistory(incidentSourceOf(status, ledger, deps.alertHistory()), firstDayMs(nowMs), cutMs);
    try {
      const past = read(deps.storedLedger(validator));
      known.set(validator, { cutMs, atMs: nowMs, past });
      return past;
    } catch {
      // Fall back to the data in memory, because the page is needed most during a failure, for example of the disk.
      return found?.past ?? read(deps.ledger(validator));
    }
  };
}

/** Returns when this process last read a node. If no node has been read, returns when the last counted minute ended. */
function seenAt(
  { sources }: WatchdogStatus,
  ledger: LedgerView | undefined,
  nowMs: number,
): number | undefined {
  const times = sources.flatMap(({ name, lastSuccessMs }) =>
    name === "node" && lastSuccessMs !== undefined ? [lastSuccessMs] : [],
  );
  if (times.length > 0) return Math.max(...times);
  const minute = ledger?.minutes(0, nowMs).at(-1);
  return minute && Math.min(nowMs, minute.startMs + MINUTE_MS);
}

function presentNow(
  status: WatchdogStatus | undefined,
  ledger: LedgerView | undefined,
  fresh: Freshness,
): Present {
  const alerts = (status?.alerts ?? []).flatMap(({ rule, state }): readonly OpenAlert[] => {
    if (state === undefined || state.phase === "resolved") return [];
    const { alert, phase, sinceMs } = state;
    return [{ alert, severity: rule.severity, phase, sinceMs }];
  });
  return presentOf({
    isBlind: status === undefined || whyBlind(status, fresh) !== undefined,
    alerts,
    recent: recentBlocks(ledger, fresh.nowMs),
    least: policyOf(status?.assessment).least,
  });
}

interface ExportedValidator extends IncidentSource {
  readonly policy: Policy;
  /** The current month's assessment as of the last poll. */
  readonly assessment: Assessment;
  readonly alerts: readonly (ExplainingAlert & Pick<OpenAlert, "severity">)[];
  /** The pending alerts. Absent if the watchdog is too old to report pending alerts. */
  readonly pending?: readonly (ExplainingAlert & Omit<OpenAlert, "phase">)[];
}

/** A watchdog's data, as returned by its API. */
interface ExportedState {
  readonly nowMs: number;
  /** The time when the last poll ended; undefined before the first poll. */
  readonly polledAtMs: number | undefined;
  readonly validators: readonly ExportedValidator[];
}

/** Maximum age of a last poll that still describes the current state. */
const STALE_MS = 2 * MINUTE_MS;

/** Age at which the data in an exported file is marked as old, because exported files should be replaced regularly. */
const FILE_STALE_MS = 15 * MINUTE_MS;

export function exportedStatus(config: StatusPageConfig, state: ExportedState): PublicStatus {
  const data = new Map(state.validators.map((one) => [one.ledger.validator, one]));
  return {
    title: config.title,
    asOfMs: state.polledAtMs,
    staleMs: FILE_STALE_MS,
    validators: config.validators.map((shown) => exported(shown, data.get(shown.name), config, state)),
  };
}

/** Creates the public data for one validator. `data` is undefined if the watchdog does not report the validator. */
function exported(
  shown: ShownValidator,
  data: ExportedValidator | undefined,
  { hasAmounts }: StatusPageConfig,
  { nowMs, polledAtMs = 0 }: ExportedState,
): PublicValidator {
  const { ledger, assessment } = data ?? {};
  const minute = ledger?.minutes(0, nowMs + 1).at(-1);
  const alerts = openAlerts(data);
  const isNodeUnseen = alerts.some(
    ({ alert, phase }) => phase === "firing" && /^cannot-see-(votes|node)$/.test(alert),
  );
  return publicValidator({
    shown,
    hasAmounts,
    ledger,
    history: data === undefined ? NO_HISTORY : readHistory(data, firstDayMs(nowMs), nowMs + 1),
    present: presentOf({
      isBlind: data === undefined || isNodeUnseen || nowMs - polledAtMs > STALE_MS,
      alerts,
      recent: recentBlocks(ledger, nowMs),
      least: policyOf(data).least,
    }),
    assessment,
    seenAtMs: minute && Math.min(minute.startMs + MINUTE_MS, polledAtMs),
    nowMs,
  });
}

function openAlerts({ alerts, pending = [] }: Partial<ExportedValidator> = {}): readonly OpenAlert[] {
  const firing = (alerts ?? []).filter(({ resolvedAtMs }) => resolvedAtMs === undefined);
  return [
    ...firing.map((alert): OpenAlert => ({ ...alert, phase: "firing" })),
    ...pending.map((alert): OpenAlert => ({ ...alert, phase: "pending" })),
  ];
}
