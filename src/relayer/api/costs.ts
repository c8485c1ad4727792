import type { JsonObject } from "../../platform/base/json.ts";
import { errorReply, type HttpReply, jsonReply } from "../../platform/http/http-route.ts";
import type { AttemptLog, DailyCost } from "../state/attempt.ts";

/** Days for which costs are kept. */
const MAX_DAYS = 400;

/** `GET /api/costs?from=DAY&to=DAY`: costs by day and owner; both days, counted since 1970, are included. */
export async function costsReply(
  attempts: Pick<AttemptLog, "costs">,
  query: URLSearchParams,
): Promise<HttpReply> {
  const [from, to] = [readDay(query.get("from")), readDay(query.get("to"))];
  if (from === undefined || to === undefined || to < from || to - from > MAX_DAYS)
    return errorReply(400, "bad-range", `from and to are days since 1970-01-01, at most ${MAX_DAYS} apart`);
  return jsonReply(200, (await attempts.costs({ from, to })).map(costJson));
}

function readDay(text: string | null): number | undefined {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function costJson({ day, owner, attempts, included, gas, fee }: DailyCost): JsonObject {
  return { day, owner, attempts, included, gas: `${gas}`, fee: `${fee}` };
}
