import { z } from "zod";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { errorOf, getJson, getText, type RouteDefinition, textOf } from "../../platform/http/route-about.ts";
import { SPENDING_SCHEMA } from "../costs/spending-view.ts";
import type { DeadLetter } from "../state/journal.ts";
import { ATTEMPT_OUTCOMES } from "../state/attempt.ts";
import { ATTEMPT, CONNECTION, DAILY_COST, QUERY, QUERY_DETAILS, STATUS } from "./status-json.ts";

/** JSON view of a dead letter, with the Go relayer's field names. */
export const DEAD_LETTER = jsonView<DeadLetter>(({ value, time }) => ({
  query_id: value(z.int(), ({ queryId }) => Number(queryId)),
  submitted_tx_hash: value(words, ({ hash }) => hash),
  neutron_hash: value(words, () => ""),
  error_time: time(({ atMs }) => atMs),
  status: value(words, () => "ErrorOnSubmit"),
  message: value(words, ({ reason }) => reason),
}));

const TXS = z.object({ txs: z.array(z.object({ query_id: z.int().min(0), hash: words })) });

/** The plain-text replies of the Go relayer's routes. As in the Go relayer, a request body that is not valid JSON gets status 500. */
const goReplies = {
  200: textOf("done"),
  400: textOf("no such dead letter"),
  500: textOf("invalid body, or the transaction was not included in time"),
};

const goPost = (path: string, summary: string): RouteDefinition => ({
  method: "POST",
  path,
  guarded: true,
  about: { summary, body: TXS, replies: goReplies },
});

const badParameter = { 400: errorOf("an invalid parameter; the message says what is expected") };
const since = { since: "start time, e.g. 2026-01-31T12:00:00Z", until: "end time, exclusive" };

export const RELAYER_API = {
  livez: getText(
    "/livez",
    "200 while the process makes progress, even if a chain is down; 503 once a loop has hung for five minutes",
    {
      replies: { 503: textOf("name of the hanging loop") },
    },
  ),
  readyz: getText(
    "/readyz",
    "200 if there is no problem; otherwise 503, with one line `code: reason` per problem",
    {
      replies: { 503: textOf("one line per problem") },
    },
  ),
  metrics: getText("/metrics", "[metrics](metrics.md) for Prometheus"),
  status: getJson(
    "/api/status",
    "problems with their start times, account, spending, fee market, chains, connections, queries, endpoints, and the configuration's reload status (`config`)",
    STATUS.schema,
  ),
  connections: getJson(
    "/api/connections",
    "the connections of `/api/status`: remote height and age, light client, overdue queries",
    z.array(CONNECTION.schema),
  ),
  queries: getJson("/api/queries", "the queries of `/api/status`", z.array(QUERY.schema)),
  query: getJson("/api/queries/:id", "one query with its keys and filter", QUERY_DETAILS.schema, {
    replies: {
      400: errorOf("not a query id"),
      404: errorOf("this relayer does not serve the query"),
    },
  }),
  attempts: getJson("/api/attempts", "the newest attempts", z.array(ATTEMPT.schema), {
    query: {
      query_id: "query id",
      connection_id: "connection id",
      owner: "owner address",
      outcome: "a [code](relayer.md#http-api)",
      ...since,
      limit: "maximum number, up to 1,000; default 100",
    },
    replies: badParameter,
  }),
  attemptSummary: getJson(
    "/api/attempts/summary",
    "numbers of stored attempts by outcome, time interval and lateness",
    z.strictObject({
      outcomes: z.array(
        z.strictObject({ outcome: z.enum(ATTEMPT_OUTCOMES), part: z.int(), attempts: z.int() }),
      ),
      lateness: z.array(z.strictObject({ blocks: z.int(), attempts: z.int() })),
    }),
    { query: { ...since, parts: "number of intervals, 1 to 1,000; default 1" }, replies: badParameter },
  ),
  costs: getJson(
    "/api/costs",
    "attempts, results, gas and fees by day and owner",
    z.array(DAILY_COST.schema),
    {
      query: { from: "first day, in days since 1970", to: "last day, in days since 1970" },
      replies: badParameter,
    },
  ),
  spending: getJson(
    "/api/spending",
    "the paying account and its remaining funds; fees of the last hour, 24 hours, 7 days, 30 days and the calendar month; forecast and budget",
    SPENDING_SCHEMA,
    { query: { by: "`owner` (default) or `query`" }, replies: badParameter },
  ),
  deadLetters: getJson(
    "/unsuccessful-txs",
    "[dead letters](relayer.md#transactions), with the Go relayer's path and fields",
    z.array(DEAD_LETTER.schema),
  ),
  resubmit: goPost(
    "/resubmit-txs",
    "sends dead letters again, with the Go relayer's path, statuses and texts; [without a token](relayer.md#transactions) if `http.open_resubmit` is true",
  ),
  acknowledge: goPost("/api/dead-letters/acknowledge", "removes dead letters from the list"),
};

export const RELAYER_PAGES = {
  overview: {
    path: "/",
    name: "Overview",
    about:
      "overall status, four key figures, queries, connections; `search`, `state`, `sort` (`late`, `id`, `connection`, `age`, `owner`, reversed with `-`) and `page` select the queries",
  },
  costs: {
    path: "/costs",
    name: "Costs",
    about: "the paying account, the cost of results, and the fee market's state",
  },
  attempts: {
    path: "/attempts",
    name: "Attempts",
    about: "a summary of the attempts in the last hour, and the newest attempts",
  },
  problems: {
    path: "/problems",
    name: "Problems over time",
    about: "problems of the last day and week, with their durations",
  },
  deadLetters: {
    path: "/dead-letters",
    name: "Dead letters",
    about: "remote transactions that were rejected or could not be proven, with a button to send them again",
  },
  endpoints: { path: "/endpoints", name: "Endpoints", about: "all endpoints with their state and latency" },
  query: {
    path: "/queries/:id",
    about:
      "one query with its state, the reason if its result is late, its last attempts, and its keys or filter",
  },
};
