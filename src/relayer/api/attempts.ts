import type { JsonObject } from "../../platform/base/json.ts";
import { errorReply, type HttpReply, jsonReply } from "../../platform/http/http-route.ts";
import {
  ATTEMPT_OUTCOMES,
  type Attempt,
  type AttemptFilter,
  type AttemptLog,
  MAX_ATTEMPTS_READ,
} from "../state/attempt.ts";

const DEFAULT_LIMIT = 100;

/** A query parameter that cannot be used. Its text says what would be right. */
class BadParameter extends Error {}

/** Sets the field of the filter that a parameter names. Throws {@link BadParameter}. */
const PARAMETERS: Readonly<Record<string, (value: string) => Partial<AttemptFilter>>> = {
  query_id: (value) => ({ queryId: BigInt(matching(value, /^\d{1,20}$/, "query_id is a whole number")) }),
  connection_id: (value) => ({ connectionId: value }),
  owner: (value) => ({ owner: value }),
  outcome: (value) => ({ outcome: outcomeOf(value) }),
  since: (value) => ({ sinceMs: timeOf("since", value) }),
  until: (value) => ({ untilMs: timeOf("until", value) }),
  limit: (value) => ({ limit: limitOf(value) }),
};

/** `GET /api/attempts`: the newest attempts that the parameters select. */
export async function attemptsReply(
  attempts: Pick<AttemptLog, "find">,
  query: URLSearchParams,
): Promise<HttpReply> {
  try {
    const found = await attempts.find(filterOf(query));
    return jsonReply(200, found.map(attemptJson));
  } catch (error) {
    if (error instanceof BadParameter) return errorReply(400, "bad-parameter", error.message);
    throw error;
  }
}

function filterOf(query: URLSearchParams): AttemptFilter {
  return [...query].reduce<AttemptFilter>(
    (filter, [name, value]) => {
      const read = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
      if (read === undefined)
        throw new BadParameter(
          `there is no parameter ${name}; the parameters are ${Object.keys(PARAMETERS).join(", ")}`,
        );
      return { ...filter, ...read(value) };
    },
    { limit: DEFAULT_LIMIT },
  );
}

function matching(value: string, form: RegExp, expected: string): string {
  if (form.test(value)) return value;
  throw new BadParameter(expected);
}

function outcomeOf(value: string): Attempt["outcome"] {
  const outcome = ATTEMPT_OUTCOMES.find((one) => one === value);
  if (outcome !== undefined) return outcome;
  throw new BadParameter(`outcome is one of ${ATTEMPT_OUTCOMES.join(", ")}`);
}

function timeOf(name: string, value: string): number {
  const ms = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new BadParameter(`${name} is a time such as 2026-01-31T12:00:00Z`);
}

function limitOf(value: string): number {
  const limit = Number(matching(value, /^\d{1,9}$/, `limit is a number from 1 to ${MAX_ATTEMPTS_READ}`));
  if (limit >= 1 && limit <= MAX_ATTEMPTS_READ) return limit;
  throw new BadParameter(`limit is a number from 1 to ${MAX_ATTEMPTS_READ}`);
}

function attemptJson(attempt: Attempt): JsonObject {
  const { localHeight, remoteHeight } = attempt;
  return {
    query_id: `${attempt.queryId}`,
    connection_id: attempt.connectionId,
    owner: attempt.owner,
    type: attempt.type,
    started_at: new Date(attempt.startedAtMs).toISOString(),
    due_height: `${attempt.dueHeight}`,
    remote_height: remoteHeight === 0n ? null : `${remoteHeight}`,
    tx_hash: attempt.txHash ?? null,
    outcome: attempt.outcome,
    reason: attempt.reason ?? null,
    local_height: localHeight === undefined ? null : `${localHeight}`,
    gas: `${attempt.gas}`,
    fee: `${attempt.fee}`,
    simulations: attempt.simulations,
  };
}
