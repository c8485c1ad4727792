import type { JsonObject } from "../../base/json.ts";
import { errorReply, type HttpReply, jsonReply } from "../../ops/http-reply.ts";
import type { HttpRoute, RouteRequest } from "../../ops/http-route.ts";
import { type Attempt, type AttemptLog, type DailyCost, MAX_ATTEMPTS_READ } from "../state/attempt.ts";

/**
 * Creates `GET /api/attempts?since=MS&until=MS&limit=N`, newest first, and `GET /api/costs?from=DAY&to=DAY`, in days since
 * 1970.
 */
export function attemptRoutes(log: Pick<AttemptLog, "find" | "costs">): readonly HttpRoute[] {
  return [
    { method: "GET", path: "/api/attempts", handle: (request) => attemptsReply(request, log) },
    { method: "GET", path: "/api/costs", handle: (request) => costsReply(request, log) },
  ];
}

async function attemptsReply({ query }: RouteRequest, log: Pick<AttemptLog, "find">): Promise<HttpReply> {
  const [sinceMs, untilMs, limit] = [
    readNumber(query, "since", 0),
    readNumber(query, "until", Number.MAX_SAFE_INTEGER),
    readNumber(query, "limit", MAX_ATTEMPTS_READ),
  ];
  if (sinceMs === undefined || untilMs === undefined || limit === undefined || limit === 0) {
    return errorReply(
      400,
      "bad-range",
      "since and until must be times in ms since 1970, limit a number above 0",
    );
  }
  const attempts = await log.find({ sinceMs, untilMs, limit });
  return jsonReply(200, { attempts: attempts.map(attemptJson) });
}

async function costsReply({ query }: RouteRequest, log: Pick<AttemptLog, "costs">): Promise<HttpReply> {
  const from = readNumber(query, "from", undefined);
  const to = readNumber(query, "to", undefined);
  if (from === undefined || to === undefined || to < from || to - from > MAX_DAYS) {
    return errorReply(400, "bad-range", `from and to must be days since 1970, at most ${MAX_DAYS} apart`);
  }
  return jsonReply(200, { costs: (await log.costs({ from, to })).map(costJson) });
}

/** Days for which costs are kept. */
const MAX_DAYS = 400;

function readNumber(query: URLSearchParams, name: string, absent: number | undefined): number | undefined {
  const text = query.get(name);
  if (text === null) return absent;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function attemptJson(attempt: Attempt): JsonObject {
  return {
    query_id: `${attempt.queryId}`,
    connection_id: attempt.connectionId,
    owner: attempt.owner,
    type: attempt.type,
    started_at: new Date(attempt.startedAtMs).toISOString(),
    due_height: `${attempt.dueHeight}`,
    remote_height: `${attempt.remoteHeight}`,
    tx_hash: attempt.txHash ?? null,
    outcome: attempt.outcome,
    reason: attempt.reason ?? null,
    local_height: attempt.localHeight === undefined ? null : `${attempt.localHeight}`,
    gas: `${attempt.gas}`,
    fee: `${attempt.fee}`,
    simulations: attempt.simulations,
  };
}

function costJson({ day, owner, attempts, included, gas, fee }: DailyCost): JsonObject {
  return { day, owner, attempts, included, gas: `${gas}`, fee: `${fee}` };
}
