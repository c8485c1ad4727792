import { degradations } from "../health/problem-hold.ts";
import type { Registry as MetricsRegistry } from "prom-client";
import { fromUtf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord, stringifyJson } from "../../platform/base/json.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import {
  errorReply,
  type HttpReply,
  jsonReply,
  type RouteRequest,
  textReply,
} from "../../platform/http/http-route.ts";
import { type ApiRoute, serveRoute } from "../../platform/http/route-about.ts";
import type { ServiceState } from "../../platform/process/service-manager.ts";
import { findQuery, isQueryId, type RelayerStatus } from "../health/relayer-status.ts";
import type { Registry } from "../registry/registry.ts";
import {
  type Attempt,
  ATTEMPT_OUTCOMES,
  type AttemptFilter,
  type AttemptLog,
  MAX_ATTEMPTS_READ,
} from "../state/attempt.ts";
import type { DeadLetter, Journal } from "../state/journal.ts";
import type { Resubmissions } from "../state/resubmissions.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { COST_GROUPS, encodeSpending, spendingView } from "../costs/spending-view.ts";
import { DEAD_LETTER, RELAYER_API } from "./relayer-api.ts";
import {
  ATTEMPT,
  CONNECTION,
  DAILY_COST,
  QUERY,
  QUERY_DETAILS,
  servedConnections,
  STATUS,
} from "./status-json.ts";

export interface ApiDeps extends GoRouteDeps {
  readonly status: () => RelayerStatus;
  readonly registry: Pick<Registry, "states">;
  readonly attempts: Pick<AttemptLog, "find" | "costs" | "summary">;
  readonly costs: () => CostsView;
  readonly metrics: MetricsRegistry;
}

export function relayerRoutes(deps: ApiDeps): readonly ApiRoute[] {
  const { status } = deps;
  return [
    serveRoute(RELAYER_API.livez, () => liveness(status())),
    serveRoute(RELAYER_API.readyz, () => readiness(status())),
    serveRoute(RELAYER_API.metrics, async () => ({
      status: 200,
      headers: { "content-type": deps.metrics.contentType },
      body: await deps.metrics.metrics(),
    })),
    serveRoute(RELAYER_API.status, () => jsonReply(200, STATUS.json(status()))),
    serveRoute(RELAYER_API.connections, () =>
      jsonReply(200, servedConnections(status()).map(CONNECTION.json)),
    ),
    serveRoute(RELAYER_API.queries, () => jsonReply(200, status().queries.map(QUERY.json))),
    serveRoute(RELAYER_API.query, ({ params }) => oneQuery(deps, params["id"] ?? "")),
    serveRoute(RELAYER_API.attempts, ({ query }) => attemptsReply(deps.attempts, query)),
    serveRoute(RELAYER_API.attemptSummary, ({ query }) => summaryReply(deps.attempts, query)),
    serveRoute(RELAYER_API.costs, ({ query }) => costsReply(deps.attempts, query)),
    serveRoute(RELAYER_API.spending, ({ query }) => spendingReply(deps.costs, query)),
    ...goRelayerRoutes(deps),
  ];
}

/** A read loop that completes no read for this long is considered hanging, because every read has a deadline. */
const HANGING_MS = 300_000;

/** Returns one line per hanging loop, or an empty list while the relayer makes progress. */
function hangingLoops({ local, connections }: RelayerStatus): readonly string[] {
  const heads = [
    { name: "local chain", head: local },
    ...connections.map(({ id, remote }) => ({ name: id, head: remote })),
  ];
  return heads
    .filter(({ head }) => head.sinceTryMs > HANGING_MS)
    .map(
      ({ name, head }) =>
        `${name}: its read loop has made no progress for ${formatDuration(head.sinceTryMs)}`,
    );
}

export function serviceStateOf(status: RelayerStatus): ServiceState {
  const { problems, queries } = status;
  const hanging = hangingLoops(status);
  const [first] = hanging.length > 0 ? hanging : problems.map(({ code, text }) => `${code}: ${text}`);
  const others = hanging.length + problems.length - 1;
  return {
    isStarted: problems.every(({ code }) => code !== "starting"),
    isAlive: hanging.length === 0,
    text:
      first === undefined
        ? `no problem; ${counted(queries.length, "query", "queries")}`
        : `${first}${others > 0 ? ` (and ${others} more)` : ""}`,
  };
}

function liveness(status: RelayerStatus): HttpReply {
  const hanging = hangingLoops(status);
  if (hanging.length === 0) return textReply(200, "ok\n");
  return textReply(503, `${hanging.join("\n")}\n`);
}

function readiness(status: RelayerStatus): HttpReply {
  const { problems } = status;
  const left = degradations(status);
  if (problems.length === 0)
    return textReply(200, left.length === 0 ? "ok\n" : `degraded\n${problemLines(left)}`);
  return textReply(503, problemLines(problems));
}

function problemLines(found: readonly { readonly code: string; readonly text: string }[]): string {
  return found.map(({ code, text }) => `${code}: ${text}\n`).join("");
}

function oneQuery(deps: ApiDeps, id: string): HttpReply {
  if (!isQueryId(id)) return errorReply(400, "bad-id", "expected an integer query id, e.g. /api/queries/1");
  const found = findQuery(deps.status(), deps.registry, BigInt(id));
  if (found === undefined)
    return errorReply(404, "no-such-query", `this relayer does not serve query ${id}; see /api/queries`);
  return jsonReply(200, QUERY_DETAILS.json(found));
}

const DEFAULT_LIMIT = 100;

/** An error for an invalid query parameter, whose message states the expected value. */
class BadParameter extends Error {}

/** Parameter parsers. Each parameter's parser returns one field of the filter, or throws {@link BadParameter}. */
const PARAMETERS: Readonly<Record<string, (value: string) => Partial<AttemptFilter>>> = {
  query_id: (value) => ({ queryId: BigInt(matching(value, /^\d{1,20}$/, "query_id must be an integer")) }),
  connection_id: (value) => ({ connectionId: value }),
  owner: (value) => ({ owner: value }),
  outcome: (value) => ({ outcome: outcomeOf(value) }),
  since: (value) => ({ sinceMs: timeOf("since", value) }),
  until: (value) => ({ untilMs: timeOf("until", value) }),
  limit: (value) => ({ limit: limitOf(value) }),
};

/** `GET /api/attempts`: returns the newest attempts that match the parameters. */
async function attemptsReply(attempts: Pick<AttemptLog, "find">, query: URLSearchParams): Promise<HttpReply> {
  try {
    const found = await attempts.find(filterOf(query));
    return jsonReply(200, found.map(ATTEMPT.json));
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
          `unknown parameter ${name}; expected one of ${Object.keys(PARAMETERS).join(", ")}`,
        );
      return { ...filter, ...read(value) };
    },
    { limit: DEFAULT_LIMIT },
  );
}

function matching(value: string, pattern: RegExp, expected: string): string {
  if (pattern.test(value)) return value;
  throw new BadParameter(expected);
}

function outcomeOf(value: string): Attempt["outcome"] {
  const outcome = ATTEMPT_OUTCOMES.find((one) => one === value);
  if (outcome !== undefined) return outcome;
  throw new BadParameter(`outcome must be one of ${ATTEMPT_OUTCOMES.join(", ")}`);
}

function timeOf(name: string, value: string): number {
  const ms = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new BadParameter(`${name} must be a time, e.g. 2026-01-31T12:00:00Z`);
}

function limitOf(value: string): number {
  const limit = Number(matching(value, /^\d{1,9}$/, `limit must be a number from 1 to ${MAX_ATTEMPTS_READ}`));
  if (limit >= 1 && limit <= MAX_ATTEMPTS_READ) return limit;
  throw new BadParameter(`limit must be a number from 1 to ${MAX_ATTEMPTS_READ}`);
}

const MAX_PARTS = 1_000;

/**
 * `GET /api/attempts/summary?since=TIME&until=TIME&parts=N`: divides the time range into `parts` intervals and returns the number
 * of attempts by outcome and interval, and by lateness.
 */
async function summaryReply(
  attempts: Pick<AttemptLog, "summary">,
  query: URLSearchParams,
): Promise<HttpReply> {
  const [fromMs, toMs] = ["since", "until"].map((name) => Date.parse(query.get(name) ?? ""));
  const parts = Number(query.get("parts") ?? "1");
  const isRange = fromMs !== undefined && toMs !== undefined && fromMs < toMs;
  if (!isRange || !Number.isInteger(parts) || parts < 1 || parts > MAX_PARTS)
    return errorReply(
      400,
      "bad-range",
      `since and until must be times, e.g. 2026-01-31T12:00:00Z, and parts a number from 1 to ${MAX_PARTS}`,
    );
  const { outcomes, lateness } = await attempts.summary({ fromMs, toMs, parts });
  return jsonReply(200, { outcomes, lateness });
}

/** Maximum number of days between `from` and `to` in a costs request. The store retains costs for the same number of days. */
const MAX_DAYS = 400;

/** `GET /api/costs?from=DAY&to=DAY`: returns costs by day and owner. `from` and `to` are inclusive, in days since 1970-01-01. */
async function costsReply(attempts: Pick<AttemptLog, "costs">, query: URLSearchParams): Promise<HttpReply> {
  const [from, to] = [readDay(query.get("from")), readDay(query.get("to"))];
  if (from === undefined || to === undefined || to < from || to - from > MAX_DAYS)
    return errorReply(
      400,
      "bad-range",
      `from and to must be days since 1970-01-01, at most ${MAX_DAYS} apart`,
    );
  return jsonReply(200, (await attempts.costs({ from, to })).map(DAILY_COST.json));
}

function readDay(text: string | null): number | undefined {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** `GET /api/spending?by=owner` (or `query`): returns the payer's fees, the fees by owner or query, and the forecast. */
function spendingReply(costs: () => CostsView, query: URLSearchParams): HttpReply {
  const wanted = query.get("by") ?? "owner";
  const group = COST_GROUPS.find((one) => one === wanted);
  if (group === undefined)
    return errorReply(400, "bad-parameter", `by must be one of ${COST_GROUPS.join(", ")}`);
  return jsonReply(200, encodeSpending(spendingView(costs(), group)));
}

interface GoRouteDeps {
  readonly journal: Pick<Journal, "deadLetters" | "acknowledgeDeadLetter">;
  readonly resubmissions: Pick<Resubmissions, "resubmit">;
  /** True if `POST /resubmit-txs` accepts requests without a token. */
  readonly openResubmit: boolean;
}

/**
 * Returns the Go relayer's two routes and a route that acknowledges dead letters.
 *
 * The Go paths keep the Go relayer's fields, number formats, statuses and texts (v0.3.0, `internal/http/webserver.go`), so client
 * libraries and scripts for the Go relayer work unchanged.
 */
export function goRelayerRoutes(deps: GoRouteDeps): readonly ApiRoute[] {
  const list = (): HttpReply => unsuccessfulTxs(deps.journal.deadLetters());
  return [
    // The Go relayer accepts any method on this path.
    serveRoute(RELAYER_API.deadLetters, list),
    serveRoute({ ...RELAYER_API.deadLetters, method: "POST" }, list),
    serveRoute({ ...RELAYER_API.resubmit, guarded: !deps.openResubmit }, (request) =>
      resubmitTxs(deps, request),
    ),
    serveRoute(RELAYER_API.acknowledge, (request) => acknowledgeTxs(deps, request)),
  ];
}

function unsuccessfulTxs(letters: readonly DeadLetter[]): HttpReply {
  return {
    status: 200,
    headers: { "Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff" },
    body: `${stringifyJson(letters.map(DEAD_LETTER.json), 2)}\n`,
  };
}

interface TxName {
  readonly queryId: bigint;
  readonly hash: string;
}

async function resubmitTxs({ resubmissions }: GoRouteDeps, request: RouteRequest): Promise<HttpReply> {
  let txs: readonly TxName[];
  try {
    txs = parseTxs(fromUtf8(request.body));
  } catch (error) {
    return failure(errorText(error));
  }
  // Like the Go relayer, resubmit one transaction after another and stop at the first failure.
  for (const { queryId, hash } of txs) {
    const outcome = await resubmissions.resubmit(queryId, hash, request.signal);
    if (outcome.kind === "unknown")
      return textReply(400, `no tx found with queryID=${queryId} and hash=${hash}\n`);
    if (outcome.kind === "timeout") return failure(`${hash} was not included in time; it is still listed`);
    // Like the Go relayer, report no error if the contract rejects the transaction again. The transaction is then a dead letter
    // again.
  }
  return textReply(200, "");
}

/** Acknowledges dead letters. The request body is the same as for `POST /resubmit-txs`. */
function acknowledgeTxs({ journal }: GoRouteDeps, request: RouteRequest): HttpReply {
  try {
    for (const { queryId, hash } of parseTxs(fromUtf8(request.body)))
      if (!journal.acknowledgeDeadLetter(queryId, hash))
        return textReply(400, `no tx found with queryID=${queryId} and hash=${hash}\n`);
    return textReply(200, "");
  } catch (error) {
    return failure(errorText(error));
  }
}

function failure(reason: string): HttpReply {
  return textReply(500, `Error processing request: ${reason}\n`);
}

/**
 * Parses `{"txs": [{"query_id": 1, "hash": "…"}]}`. As in Go, a missing list or field gets its zero value. Throws if the text is
 * not JSON of this shape.
 */
function parseTxs(text: string): readonly TxName[] {
  if (text.trim() === "") throw new Error("EOF");
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) throw new Error("the body must be a JSON object");
  const txs = body["txs"] ?? [];
  if (!Array.isArray(txs)) throw new Error("txs must be a list");
  return txs.map((tx: unknown) => {
    const { query_id: id = 0, hash = "" } = isRecord(tx) ? tx : {};
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0)
      throw new Error("query_id must be an integer");
    if (typeof hash !== "string") throw new Error("hash must be a string");
    return { queryId: BigInt(id), hash };
  });
}
