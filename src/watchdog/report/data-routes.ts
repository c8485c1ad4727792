import {
  errorReply,
  type HttpReply,
  type HttpRoute,
  jsonReply,
  type RouteRequest,
} from "../../platform/http/http-route.ts";
import { monthOf, monthStartMs } from "../ledger/month.ts";
import { type DataRange, encodeValidatorData } from "./data-json.ts";
import type { ValidatorData } from "./validator-data.ts";

/** A watchdog whose data reports read. */
export interface OracleReportSource {
  /** End of its last poll; undefined before the first one. */
  readonly polledAtMs: () => number | undefined;
  readonly nowMs: () => number;
  /** Since when its state is not stored, and why, for people; undefined while it is. */
  readonly storeProblem: () => string | undefined;
  /** All validators that were read at least once. */
  readonly validators: () => readonly ValidatorData[];
}

/** Longest range of one request: thirteen months, so that a request cannot ask for everything at once. */
const MAX_RANGE_MS = 400 * 86_400_000;

/**
 * Creates `GET /api/report-data`: what reports read of all validators, for `relaywatch report` and the other commands. The
 * range is `?from=MS&to=MS`, `?since=MS` before the watchdog's present, or else its present month so far.
 */
export function createReportRoutes(source: OracleReportSource): readonly HttpRoute[] {
  return [{ method: "GET", path: "/api/report-data", handle: (request) => reply(request, source) }];
}

function reply({ query }: RouteRequest, source: OracleReportSource): HttpReply {
  const { polledAtMs, nowMs, storeProblem, validators } = source;
  const now = nowMs();
  const range = rangeOf(query, now);
  if (range === undefined) {
    const text = "from and to must be times in ms since 1970, since a time in ms, of at most 400 days";
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
