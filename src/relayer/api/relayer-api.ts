import { z } from "zod";
import { RELOAD_STATUS } from "../../platform/http/daemon-control-routes.ts";
import {
  digits,
  errorOf,
  getJson,
  getText,
  type RouteDefinition,
  textOf,
  time,
} from "../../platform/http/route-about.ts";
import { SPENDING_SCHEMA } from "../costs/spending-view.ts";
import { MARKET_PHASES } from "../gas-budget/budget.ts";
import { ROLES } from "../gate/leadership.ts";
import { QUERY_STATUSES } from "../registry/query-state.ts";
import { ATTEMPT_OUTCOMES } from "../state/attempt.ts";

const words = z.string();
const wordsOrNull = words.nullable();
const numberOrNull = z.number().nullable();

const head = z.strictObject({
  height: digits.nullable(),
  block_time: time.nullable(),
  seconds_since_block: numberOrNull,
  seconds_since_read: z.number(),
  catching_up: z.boolean(),
  error: wordsOrNull,
});

const client = z.union([
  z.strictObject({ id: z.null(), status: z.null(), error: wordsOrNull }),
  z.strictObject({
    id: words,
    status: words,
    consensus_height: digits,
    consensus_revision: digits,
    consensus_time: time,
    blocks_behind: numberOrNull,
    expires_at: time,
    error: wordsOrNull,
  }),
]);

const connection = z.strictObject({
  id: words,
  chain_id: words,
  error: wordsOrNull,
  remote: head,
  client,
  queries: z.int(),
  overdue_queries: z.int(),
  most_late_blocks: z.int(),
  most_late_seconds: numberOrNull,
});

const query = z.strictObject({
  id: digits,
  type: words,
  connection_id: words,
  owner: words,
  key_count: z.int(),
  update_period: digits,
  state: z.enum(QUERY_STATUSES),
  last_local_height: digits,
  last_remote_height: digits.nullable(),
  unchanged_since_height: digits.nullable(),
  result_age_blocks: numberOrNull,
  result_age_seconds: numberOrNull,
  result_age_is_at_least: z.boolean(),
  due_height: digits,
  late_blocks: z.int(),
  late_seconds: numberOrNull,
  overdue: z.boolean(),
  unanswerable: wordsOrNull,
  results: z.int(),
  gas: digits,
  fee: digits,
  failures: z.int(),
  error: z.strictObject({ code: words, reason: words }).nullable(),
  retry_in_ms: z.number(),
});

const endpoint = z.strictObject({
  chain_id: words,
  name: words,
  state: words,
  failures: z.int(),
  last_error: wordsOrNull,
  distrusted: wordsOrNull,
  height: digits.nullable(),
  earliest_height: digits.nullable(),
  catching_up: z.boolean().nullable(),
  lag_blocks: numberOrNull,
  latency_seconds: numberOrNull,
  version: wordsOrNull,
  batch_size: numberOrNull,
  lacks: z.record(words, words),
});

const remedyCost = { cost_per_day: digits };
const market = z.strictObject({
  denom: words,
  read_at_height: digits,
  seconds_since_read: z.number(),
  phase: z.enum(MARKET_PHASES),
  price: words,
  minimum: words,
  ceiling: words,
  cap: words,
  target_gas: digits,
  others_gas: digits,
  budget_gas: digits,
  fee_factor: words,
  demand_above_market: z.boolean(),
  sustainable_gas: digits,
  demand_gas: digits,
  sustainable_results: z.number(),
  demand_results: z.number(),
  late_blocks: numberOrNull,
  results_per_day: z.int(),
  cost_per_day: digits,
  cost_per_result: words,
  remedies: z.array(
    z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("longer-periods"), factor: z.number(), ...remedyCost }),
      z.strictObject({ kind: z.literal("fewer-callbacks"), late_blocks: numberOrNull, ...remedyCost }),
      z.strictObject({
        kind: z.literal("higher-ceiling"),
        ceiling: words,
        burst_results: z.number(),
        ...remedyCost,
      }),
    ]),
  ),
});

const status = z.strictObject({
  ready: z.boolean(),
  problems: z.array(
    z.strictObject({ code: words, connection_id: wordsOrNull, text: words, since: time.nullable() }),
  ),
  address: words,
  local_height: digits,
  connected: z.boolean(),
  loaded: z.boolean(),
  local: head,
  account: z.strictObject({
    denom: words,
    balance: digits.nullable(),
    transaction_fee: digits,
    days_left: numberOrNull,
    error: wordsOrNull,
  }),
  role: z.enum(ROLES),
  spending: z.strictObject({
    day: z.iso.date(),
    fees: digits,
    daily_fee: digits.nullable(),
    reserve: digits,
    daily_gas_per_owner: digits.nullable(),
    owners: z.array(z.strictObject({ owner: words, gas: digits })),
  }),
  market: market.nullable(),
  dead_letters: z.int(),
  not_sending: wordsOrNull,
  config: RELOAD_STATUS.nullable(),
  connections: z.array(connection),
  queries: z.array(query),
  endpoints: z.array(endpoint),
});

const attempt = z.strictObject({
  query_id: digits,
  connection_id: words,
  owner: words,
  type: words,
  started_at: time,
  due_height: digits,
  remote_height: digits.nullable(),
  tx_hash: wordsOrNull,
  outcome: z.enum(ATTEMPT_OUTCOMES),
  reason: wordsOrNull,
  local_height: digits.nullable(),
  gas: digits,
  fee: digits,
  simulations: z.int(),
});

const deadLetters = z.array(
  z.strictObject({
    query_id: z.int(),
    submitted_tx_hash: words,
    neutron_hash: words,
    error_time: time,
    status: words,
    message: words,
  }),
);

const TXS = z.object({ txs: z.array(z.object({ query_id: z.int().min(0), hash: words })) });

/** Like the Go relayer, the API replies in plain text, and with status 500 to a body that is not valid JSON. */
const goReplies = {
  200: textOf("done"),
  400: textOf("no such dead letter"),
  500: textOf("the body is invalid, or the transaction was not included in time"),
};

const goPost = (path: string, summary: string): RouteDefinition => ({
  method: "POST",
  path,
  guarded: true,
  about: { summary, body: TXS, replies: goReplies },
});

const badParameter = { 400: errorOf("an invalid parameter; the message says what is expected") };
const since = { since: "a time such as 2026-01-31T12:00:00Z", until: "a time, exclusive" };

export const RELAYER_API = {
  livez: getText("/livez", "200 while the process makes progress, whatever the state of its chains", {
    replies: { 503: textOf("a loop has hung for five minutes") },
  }),
  readyz: getText("/readyz", "200 if there is no problem, else one line `code: reason` per problem", {
    replies: { 503: textOf("one line per problem") },
  }),
  metrics: getText("/metrics", "[metrics](metrics.md) for Prometheus"),
  status: getJson(
    "/api/status",
    "problems with their start times, account, spending, fee market, chains, connections, queries, endpoints, and how the configuration was loaded (`config`)",
    status,
  ),
  connections: getJson(
    "/api/connections",
    "the connections of `/api/status`: remote height and age, light client, overdue queries",
    z.array(connection),
  ),
  queries: getJson("/api/queries", "the queries of `/api/status`", z.array(query)),
  query: getJson(
    "/api/queries/:id",
    "one query with its keys and filter",
    query.extend({
      overdue_limit_blocks: z.int(),
      registered_at_height: digits,
      keys: z.array(z.strictObject({ path: words, key: z.base64() })),
      transactions_filter: words,
    }),
    {
      replies: {
        400: errorOf("not the id of a query"),
        404: errorOf("this relayer does not serve the query"),
      },
    },
  ),
  attempts: getJson("/api/attempts", "the newest attempts", z.array(attempt), {
    query: {
      query_id: "id",
      connection_id: "id",
      owner: "address",
      outcome: "a [code](relayer.md#http-api)",
      ...since,
      limit: "at most 1,000, default 100",
    },
    replies: badParameter,
  }),
  attemptSummary: getJson(
    "/api/attempts/summary",
    "number of stored attempts by outcome and interval, and by lateness",
    z.strictObject({
      outcomes: z.array(
        z.strictObject({ outcome: z.enum(ATTEMPT_OUTCOMES), part: z.int(), attempts: z.int() }),
      ),
      lateness: z.array(z.strictObject({ blocks: z.int(), attempts: z.int() })),
    }),
    { query: { ...since, parts: "1 to 1,000, default 1" }, replies: badParameter },
  ),
  costs: getJson(
    "/api/costs",
    "attempts, results, gas and fees by day and owner",
    z.array(
      z.strictObject({
        day: z.int(),
        owner: words,
        attempts: z.int(),
        included: z.int(),
        gas: digits,
        fee: digits,
      }),
    ),
    { query: { from: "first day, since 1970", to: "last day" }, replies: badParameter },
  ),
  spending: getJson(
    "/api/spending",
    "who pays and what is left; fees of the last hour, 24 hours, 7 days, 30 days and month; forecast and budget",
    SPENDING_SCHEMA,
    { query: { by: "`owner` (default) or `query`" }, replies: badParameter },
  ),
  deadLetters: getJson(
    "/unsuccessful-txs",
    "[dead letters](relayer.md#transactions), with the Go relayer's path and fields",
    deadLetters,
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
      "verdict, four numbers, queries, connections; `search`, `state`, `sort` (`late`, `id`, `connection`, `age`, `owner`, reversed with `-`) and `page` select the queries",
  },
  costs: { path: "/costs", name: "Costs", about: "who pays, what results cost, the fee market" },
  attempts: { path: "/attempts", name: "Attempts", about: "the last hour, and the newest attempts" },
  problems: { path: "/problems", name: "Problems over time", about: "each problem with its duration" },
  deadLetters: {
    path: "/dead-letters",
    name: "Dead letters",
    about: "transactions that their contract rejected, with a button to send them again",
  },
  endpoints: { path: "/endpoints", name: "Endpoints", about: "every endpoint with state and latency" },
  query: {
    path: "/queries/:id",
    about: "one query: whether it is current and, if not, why; its last attempts; what it asks for",
  },
};
