import { z } from "zod";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import { errorReply, type HttpReply, jsonReply, type RouteRequest } from "../../platform/http/http-route.ts";
import { type ApiRoute, errorOf, getJson, serveRoute } from "../../platform/http/route-about.ts";
import { type BlockCounts, LEDGER_SOURCES, type LedgerEvent } from "../ledger/ledger-view.ts";
import type { LedgerSource, LedgerView, MissRange, MonthRecord, Rollup } from "../ledger/ledger-view.ts";
import { missesWithin } from "../ledger/miss-ranges.ts";
import { assess } from "../policy/assess.ts";
import { alertCost, incidentView, shiftDataFromMs } from "../alerts/incidents.ts";
import { type Cost, costView } from "../policy/cost-text.ts";
import { monthCost } from "../policy/cost.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { chainFacts, encodeChainFacts } from "./chain-facts.ts";
import { monthIncidents } from "./report-blocks.ts";
import { standingJson, standingSchema } from "../policy/standing-json.ts";
import { CURRENCY, CURVES, type Policy, SPECIFIED_POLICY } from "../policy/assessment.ts";
import { alertEpisode, pendingAlert, type ValidatorData } from "./validator-data.ts";

export interface OracleReportSource {
  /** Returns when the last poll ended; undefined before the first poll. */
  readonly polledAtMs: () => number | undefined;
  readonly nowMs: () => number;
  /** Explains since when and why the watchdog has failed to store its state; undefined while storing works. */
  readonly storeProblem: () => string | undefined;
  /** Returns all validators that have been read at least once. */
  readonly validators: () => readonly ValidatorData[];
}

/** Maximum time range of a request, about thirteen months. The limit prevents requests from reading the whole state file. */
const MAX_RANGE_MS = 400 * DAY_MS;

/** Creates the HTTP routes from which report commands read their data. */
export function createReportRoutes(source: OracleReportSource): readonly ApiRoute[] {
  return [
    serveRoute(REPORT_DATA_ROUTE, (request) => reply(request, source)),
    serveRoute(INCIDENTS_ROUTE, () => {
      const nowMs = source.nowMs();
      return jsonReply(200, {
        validators: source.validators().map((data) => incidentsView.json({ data, nowMs })),
      });
    }),
  ];
}

const alertCostView = jsonView<{ readonly alert: string; readonly cost: Cost }>(({ value, part }) => ({
  alert: value(words, ({ alert }) => alert),
  cost: part(costView, ({ cost }) => cost),
}));

/** The JSON view of a month's incidents, with the cost of each firing alert so far. */
const incidentsView = jsonView<{ readonly data: ValidatorData; readonly nowMs: number }>(
  ({ value, part, list }) => ({
    validator: value(words, ({ data }) => data.ledger.validator),
    month: value(words, ({ data }) => data.assessment.month),
    cost: part(costView, ({ data }) => monthCost(data.assessment)),
    incidents: list(incidentView, ({ data, nowMs }) => monthIncidents(data, nowMs)),
    alerts: list(alertCostView, ({ data, nowMs }) =>
      data.alerts.flatMap((one) => {
        if (one.resolvedAtMs !== undefined) return [];
        const cost = alertCost(data, data.assessment, one, nowMs);
        return cost === undefined ? [] : [{ alert: one.alert, cost }];
      }),
    ),
  }),
);

function reply({ query }: RouteRequest, source: OracleReportSource): HttpReply {
  const { polledAtMs, nowMs, storeProblem, validators } = source;
  const now = nowMs();
  const range = rangeOf(query, now);
  if (range === undefined) {
    const text =
      "from and to must be times in ms since 1970, and since a duration in ms; the range is at most 400 days";
    return errorReply(400, "bad-range", text);
  }
  return jsonReply(200, {
    now,
    polled_at: polledAtMs() ?? null,
    store_error: storeProblem() ?? null,
    from: range.fromMs,
    to: range.toMs,
    validators: validators().map((data) => encodeValidatorData(data, range, now)),
  });
}

function rangeOf(query: URLSearchParams, now: number): DataRange | undefined {
  const read = (name: string, absent: number): number => {
    const text = query.get(name);
    if (text === null) return absent;
    return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  };
  const sinceMs = read("since", now - monthStartMs(monthOf(now)));
  const fromMs = read("from", now - sinceMs);
  const toMs = read("to", now);
  return toMs >= fromMs && toMs - fromMs <= MAX_RANGE_MS ? { fromMs, toMs } : undefined;
}

/** A time range in UTC, in ms since the Unix epoch. */
export interface DataRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How far back an assessment reads daily, hourly and minute rollups. */
const ASSESSED = { days: 28 * DAY_MS, hours: 3 * DAY_MS, minutes: 6 * HOUR_MS };

/** Encodes a validator's data in the range, and all data needed to compute the assessment at `nowMs`. */
export function encodeValidatorData(data: ValidatorData, range: DataRange, nowMs: number): JsonObject {
  const { ledger, policy, assessment, alerts, pending = [], chain, standing } = data;
  const beginMs = shiftDataFromMs(range.fromMs);
  const since = (beforeMs: number): [number, number] => [
    Math.min(beginMs, nowMs - beforeMs),
    Math.max(range.toMs, nowMs + 1),
  ];
  return {
    validator: ledger.validator,
    chain_id: ledger.chainId ?? null,
    now: nowMs,
    block_time_ms: assessment.blockTimeMs ?? null,
    policy: encodePolicy(policy),
    months: ofSources((source) => ledger.months(source).map(encodeMonth)),
    days: ofSources((source) => ledger.days(...since(ASSESSED.days), source).map(encodeRollup)),
    hours: ledger.hours(...since(ASSESSED.hours)).map(encodeRollup),
    minutes: ledger.minutes(...since(ASSESSED.minutes)).map(encodeRollup),
    misses: ledger.misses(beginMs, range.toMs).map(encodeMisses),
    events: ledger.events(beginMs - HOUR_MS, range.toMs).map(({ kind, fromMs, toMs, node, text }) => ({
      kind,
      from: fromMs,
      to: toMs,
      text,
      ...(node === undefined ? {} : { node }),
    })),
    alerts: alerts.map((alert) => ({ ...alert, resolvedAtMs: alert.resolvedAtMs ?? null })),
    pending,
    ...(chain === undefined ? {} : { chain: encodeChainFacts(chain) }),
    ...(standing === undefined ? {} : { standing: standingJson(standing) }),
  };
}

function ofSources(encode: (source: LedgerSource) => JsonObject[string]): JsonObject {
  return Object.fromEntries(LEDGER_SOURCES.map((source) => [source, encode(source)]));
}

/** Decodes the output of {@link encodeValidatorData}. Throws a `ZodError` for invalid values. */
export function parseValidatorData(value: unknown): ValidatorData {
  const wire = wireData.parse(value);
  const ledger = toView(wire);
  const { policy, now: nowMs, block_time_ms: blockTimeMs, alerts, pending, chain, standing } = wire;
  return {
    ledger,
    policy,
    assessment: assess({ ledger, nowMs, policy, blockTimeMs: blockTimeMs ?? undefined }),
    alerts,
    ...(pending === undefined ? {} : { pending }),
    ...(chain === undefined ? {} : { chain }),
    ...(standing === undefined ? {} : { standing }),
  };
}

/** Encodes a range of misses as `[from ms, to ms, good, bad]`, followed by the first and last height if known. */
function encodeMisses({ fromMs, toMs, blocks, good, bad }: MissRange): readonly (number | string)[] {
  const heights = blocks === undefined ? [] : [String(blocks.from), String(blocks.to)];
  return [fromMs, toMs, String(good), String(bad), ...heights];
}

function encodePolicy(policy: Policy): JsonObject {
  const { curve, least, leastSigned, fullRewardCents, source, currency, quietMs } = policy;
  return {
    curve,
    least: [String(least.full), String(least.none)],
    least_signed: [String(leastSigned.full), String(leastSigned.none)],
    full_reward_cents: String(fullRewardCents),
    source,
    quiet_ms: quietMs,
    ...(currency === undefined ? {} : { currency }),
  };
}

/**
 * Encodes a rollup as `[start, good, bad, unknown]`, followed by the same counts for estimated blocks and, if any, for backfilled
 * blocks. The encoding is compact, because a month has up to 744 hours.
 */
function encodeRollup({ startMs, counts, estimated, backfilled }: Rollup): readonly (number | string)[] {
  const filled = backfilled === undefined ? [] : encodeCounts(backfilled);
  return [startMs, ...encodeCounts(counts), ...encodeCounts(estimated), ...filled];
}

function encodeCounts({ good, bad, unknown }: BlockCounts): readonly string[] {
  return [String(good), String(bad), String(unknown)];
}

function encodeMonth(record: MonthRecord): JsonObject {
  const { month, counts, estimated, backfilled, coveredFromMs, finalized } = record;
  return {
    month,
    counts: encodeCounts(counts),
    estimated: encodeCounts(estimated),
    ...(backfilled === undefined ? {} : { backfilled: encodeCounts(backfilled) }),
    covered_from: coveredFromMs,
    ...(finalized === undefined ? {} : { seal: { at: finalized.atMs, hash: finalized.hash } }),
  };
}

const integer = z
  .string()
  .regex(/^-?\d{1,40}$/)
  .transform(BigInt);
const counts = z
  .tuple([integer, integer, integer])
  .transform(([good, bad, unknown]): BlockCounts => ({ good, bad, unknown }));
const least = z.tuple([integer, integer]).transform(([full, none]) => ({ full, none }));
const six = [integer, integer, integer, integer, integer, integer] as const;
/** Decodes a rollup. Older watchdogs never send backfilled counts, and newer watchdogs omit them if there are none. */
const rollup = z
  .union([z.tuple([z.number(), ...six]), z.tuple([z.number(), ...six, integer, integer, integer])])
  .transform(
    ([startMs, good, bad, unknown, ...rest]): Rollup => ({
      startMs,
      counts: { good, bad, unknown },
      estimated: { good: rest[0], bad: rest[1], unknown: rest[2] },
      ...(rest.length === 6 ? { backfilled: { good: rest[3], bad: rest[4], unknown: rest[5] } } : {}),
    }),
  );
const missRange = z
  .union([
    z.tuple([z.number(), z.number(), integer, integer]),
    z.tuple([z.number(), z.number(), integer, integer, integer, integer]),
  ])
  .transform(
    ([fromMs, toMs, good, bad, ...heights]): MissRange => ({
      fromMs,
      toMs,
      ...(heights.length === 0 ? {} : { blocks: { from: heights[0], to: heights[1] } }),
      good,
      bad,
    }),
  );
const month = z
  .object({
    month: z.string(),
    counts,
    estimated: counts,
    backfilled: counts.exactOptional(),
    covered_from: z.number(),
    seal: z.object({ at: z.number(), hash: z.string() }).exactOptional(),
  })
  .transform(
    ({ covered_from: coveredFromMs, seal, ...rest }): MonthRecord => ({
      ...rest,
      coveredFromMs,
      ...(seal === undefined ? {} : { finalized: { atMs: seal.at, hash: seal.hash } }),
    }),
  );
const policy = z
  .object({
    curve: z.enum(CURVES),
    least,
    least_signed: least,
    full_reward_cents: integer,
    source: z.enum(["specification", "configuration", "chain"]),
    // Older watchdogs don't send `quiet_ms`, so default to the specified policy's value.
    quiet_ms: z.number().default(SPECIFIED_POLICY.quietMs),
    currency: z.string().regex(CURRENCY).exactOptional(),
  })
  .transform(
    ({ least_signed, full_reward_cents, quiet_ms, ...rest }): Policy => ({
      ...rest,
      quietMs: quiet_ms,
      leastSigned: least_signed,
      fullRewardCents: full_reward_cents,
    }),
  );
const event = z
  .object({
    // Accept unknown event kinds from newer watchdogs, because the events' texts can still be shown.
    kind: z.custom<LedgerEvent["kind"]>((kind) => typeof kind === "string"),
    from: z.number(),
    to: z.number(),
    text: z.string(),
    node: z.string().exactOptional(),
  })
  .transform(({ from: fromMs, to: toMs, ...rest }): LedgerEvent => ({ ...rest, fromMs, toMs }));
const bySource = <T extends z.ZodType>(item: T) =>
  z.object({ calls: z.array(item), votes: z.array(item), revenue: z.array(item) });
const wireData = z.object({
  validator: z.string(),
  chain_id: z.string().nullable(),
  now: z.number(),
  block_time_ms: z.number().nullable(),
  policy,
  months: bySource(month),
  days: bySource(rollup),
  hours: z.array(rollup),
  minutes: z.array(rollup),
  // Older watchdogs don't send `misses`, so the list is empty by default.
  misses: z.array(missRange).default([]),
  events: z.array(event),
  alerts: z.array(alertEpisode),
  pending: z.array(pendingAlert).exactOptional(),
  chain: chainFacts.exactOptional(),
  standing: standingSchema.exactOptional(),
});

export const INCIDENTS_ROUTE = getJson(
  "/api/incidents",
  "the month's incidents with their costs, and the cost of each firing alert so far",
  z.strictObject({ validators: z.array(incidentsView.schema) }),
);

export const REPORT_DATA_ROUTE = getJson(
  "/api/report-data",
  "the data for `relaywatch report`: counts, events and alerts in a time range, by default the current month",
  z.strictObject({
    now: z.number(),
    polled_at: z.number().nullable(),
    store_error: z.string().nullable(),
    from: z.number(),
    to: z.number(),
    validators: z.array(wireData),
  }),
  {
    query: { from: "ms since 1970", to: "ms since 1970", since: "ms before now" },
    replies: { 400: errorOf("an invalid range, or one of more than 400 days") },
  },
);

function toView(wire: z.output<typeof wireData>): LedgerView {
  return {
    validator: wire.validator,
    chainId: wire.chain_id ?? undefined,
    months: (source = "calls") => wire.months[source],
    days: (fromMs, toMs, source = "calls") => within(wire.days[source], fromMs, toMs),
    hours: (fromMs, toMs) => within(wire.hours, fromMs, toMs),
    minutes: (fromMs, toMs) => within(wire.minutes, fromMs, toMs),
    misses: (fromMs, toMs) => missesWithin(wire.misses, fromMs, toMs),
    events: (fromMs, toMs) => wire.events.filter((one) => one.toMs >= fromMs && one.fromMs < toMs),
  };
}

export function within(rollups: readonly Rollup[], fromMs: number, toMs: number): readonly Rollup[] {
  return rollups.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
}
