import { z } from "zod";
import { formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { DAY_MS, isoTime } from "../../platform/base/time.ts";
import { reloadView } from "../../platform/http/daemon-control-routes.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { digits } from "../../platform/http/route-about.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { Forecast } from "../forecast/forecast.ts";
import {
  isDemandAboveMarket,
  lateBlocksJson,
  type MarketStatus,
  remedyJson,
  threeDigits,
} from "../forecast/market-view.ts";
import { MARKET_PHASES } from "../gas-budget/budget.ts";
import { ROLES } from "../gate/leadership.ts";
import { namedOwners } from "../gate/spending.ts";
import { latestOf } from "../health/lateness.ts";
import type { Problem } from "../health/problems.ts";
import type {
  AccountStatus,
  ConnectionStatus,
  EndpointStatus,
  QueryView,
  RelayerStatus,
} from "../health/relayer-status.ts";
import { QUERY_STATUSES } from "../registry/query-state.ts";
import { type Attempt, ATTEMPT_OUTCOMES, type DailyCost } from "../state/attempt.ts";
import type { HeadView } from "../watch/head-watch.ts";
import type { ClientView } from "../watch/watches.ts";

const PROBLEM = jsonView<Problem>(({ value, orNull, timeOrNull }) => ({
  code: value(words, ({ code }) => code),
  connection_id: orNull(words, ({ connectionId }) => connectionId),
  text: value(words, ({ text }) => text),
  since: timeOrNull(({ sinceMs }) => sinceMs),
}));

const HEAD = jsonView<HeadView>(({ value, orNull, integerOrNull, timeOrNull }) => ({
  height: integerOrNull(({ height }) => height),
  block_time: timeOrNull(({ blockTimeMs }) => blockTimeMs),
  seconds_since_block: orNull(z.number(), ({ sinceBlockMs }) => sinceBlockMs && seconds(sinceBlockMs)),
  seconds_since_read: value(z.number(), ({ sinceReadMs }) => seconds(sinceReadMs)),
  catching_up: value(z.boolean(), ({ catchingUp }) => catchingUp),
  error: orNull(words, ({ error }) => error),
}));

const UNREAD_CLIENT = jsonView<ClientView>(({ value, orNull }) => ({
  id: value(z.null(), () => null),
  status: value(z.null(), () => null),
  error: orNull(words, ({ error }) => error),
}));

interface ReadClient extends Pick<ConnectionStatus, "client" | "remote"> {
  readonly reading: NonNullable<ClientView["reading"]>;
}

const READ_CLIENT = jsonView<ReadClient>(({ value, orNull, integer, time }) => ({
  id: value(words, ({ reading }) => reading.clientId),
  status: value(words, ({ reading }) => reading.status),
  consensus_height: integer(({ reading }) => reading.latestHeight.height),
  consensus_revision: integer(({ reading }) => reading.latestHeight.revision),
  consensus_time: time(({ reading }) => reading.consensusTimeMs),
  blocks_behind: orNull(z.number(), ({ client, remote }) => toNumber(blocksBehind(client, remote))),
  expires_at: time(({ reading }) => reading.expiresAtMs),
  error: orNull(words, ({ client }) => client.error),
}));

const CLIENT = {
  schema: z.union([UNREAD_CLIENT.schema, READ_CLIENT.schema]),
  json({ client, remote }: ConnectionStatus): JsonObject {
    const { reading } = client;
    return reading === undefined ? UNREAD_CLIENT.json(client) : READ_CLIENT.json({ client, remote, reading });
  },
};

/** Number of remote blocks after the client's newest consensus state; undefined if either height is unknown. */
export function blocksBehind({ reading }: Pick<ClientView, "reading">, remote: HeadView): bigint | undefined {
  if (reading === undefined || remote.height === undefined) return undefined;
  const behind = remote.height - reading.latestHeight.height;
  return behind > 0n ? behind : 0n;
}

interface ServedConnection extends ConnectionStatus {
  readonly queries: readonly QueryView[];
}

export const CONNECTION = jsonView<ServedConnection>(({ value, orNull, part }) => ({
  id: value(words, ({ id }) => id),
  chain_id: value(words, ({ chainId }) => chainId),
  error: orNull(words, ({ error }) => error),
  remote: part(HEAD, ({ remote }) => remote),
  client: part(CLIENT, (connection) => connection),
  queries: value(z.int(), ({ queries }) => queries.length),
  overdue_queries: value(
    z.int(),
    ({ queries }) => queries.filter(({ lateness }) => lateness.isOverdue).length,
  ),
  most_late_blocks: value(z.int(), ({ queries }) => Number(latestOf(queries)?.lateness.blocks ?? 0n)),
  most_late_seconds: orNull(z.number(), ({ queries }) => {
    const { ms } = latestOf(queries)?.lateness ?? { ms: 0 };
    return ms && seconds(ms);
  }),
}));

/** Returns the connections, each with its served queries, for `GET /api/connections`. */
export function servedConnections({ connections, queries }: RelayerStatus): readonly ServedConnection[] {
  return connections.map((connection) => ({
    ...connection,
    queries: queries.filter(({ connectionId }) => connectionId === connection.id),
  }));
}

export const QUERY = jsonView<QueryView>(({ value, orNull, integer, integerOrNull }) => ({
  id: integer(({ id }) => id),
  type: value(words, ({ type }) => type),
  connection_id: value(words, ({ connectionId }) => connectionId),
  owner: value(words, ({ owner }) => owner),
  key_count: value(z.int(), ({ keyCount }) => keyCount),
  update_period: integer(({ updatePeriod }) => updatePeriod),
  state: value(z.enum(QUERY_STATUSES), ({ state }) => state),
  last_local_height: integer(({ lastLocalHeight }) => lastLocalHeight),
  last_remote_height: integerOrNull(({ lastRemoteHeight }) => lastRemoteHeight),
  unchanged_since_height: integerOrNull(({ unchangedSince }) => unchangedSince),
  result_age_blocks: orNull(z.number(), ({ resultAge }) => toNumber(resultAge?.blocks)),
  result_age_seconds: orNull(z.number(), ({ resultAge }) => resultAge && seconds(resultAge.ms)),
  result_age_is_at_least: value(z.boolean(), ({ resultAge }) => resultAge?.isAtLeast ?? false),
  due_height: integer(({ lateness }) => lateness.dueHeight),
  late_blocks: value(z.int(), ({ lateness }) => Number(lateness.blocks)),
  late_seconds: orNull(z.number(), ({ lateness }) => lateness.ms && seconds(lateness.ms)),
  overdue: value(z.boolean(), ({ lateness }) => lateness.isOverdue),
  unanswerable: orNull(words, ({ lateness }) => lateness.unanswerable),
  results: value(z.int(), ({ results }) => results),
  gas: integer(({ cost }) => cost?.gas ?? 0n),
  fee: integer(({ cost }) => cost?.fee ?? 0n),
  failures: value(z.int(), ({ failures }) => failures),
  error: orNull(
    z.strictObject({ code: words, reason: words }),
    ({ error }) => error && { code: error.code, reason: error.reason },
  ),
  retry_in_ms: value(z.number(), ({ retryInMs }) => retryInMs),
}));

const KEY = jsonView<RegisteredQuery["keys"][number]>(({ value }) => ({
  path: value(words, ({ path }) => path),
  key: value(z.base64(), ({ key }) => Buffer.from(key).toString("base64")),
}));

/** JSON view of a query with its keys and its transaction filter. */
export const QUERY_DETAILS = jsonView<{ readonly view: QueryView; readonly query: RegisteredQuery }>(
  ({ value, integer, list }) => ({
    ...QUERY.within(({ view }) => view),
    overdue_limit_blocks: value(z.int(), ({ view }) => Number(view.lateness.limit)),
    registered_at_height: integer(({ query }) => query.registeredAtHeight),
    keys: list(KEY, ({ query }) => query.keys),
    transactions_filter: value(words, ({ query }) => query.transactionsFilter),
  }),
);

const ENDPOINT = jsonView<EndpointStatus>(({ value, orNull, integerOrNull }) => ({
  chain_id: value(words, ({ chainId }) => chainId),
  name: value(words, ({ name }) => name),
  state: value(words, ({ state }) => state),
  failures: value(z.int(), ({ failures }) => failures),
  last_error: orNull(words, ({ lastError }) => lastError),
  distrusted: orNull(words, ({ distrusted }) => distrusted),
  height: integerOrNull(({ status }) => status?.latestHeight),
  earliest_height: integerOrNull(({ status }) => status?.earliestHeight),
  catching_up: orNull(z.boolean(), ({ status }) => status?.catchingUp),
  lag_blocks: orNull(z.number(), ({ lagBlocks }) => toNumber(lagBlocks)),
  latency_seconds: orNull(z.number(), ({ latencyMs }) => latencyMs && Math.round(latencyMs) / 1_000),
  version: orNull(words, ({ status }) => status?.version),
  batch_size: orNull(z.number(), ({ batchSize }) => batchSize),
  lacks: value(z.record(words, words), ({ lacks }) => Object.fromEntries(lacks ?? [])),
}));

const remedyCost = { cost_per_day: digits };
const REMEDY_SCHEMA = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("longer-periods"), factor: z.number(), ...remedyCost }),
  z.strictObject({ kind: z.literal("fewer-callbacks"), late_blocks: z.number().nullable(), ...remedyCost }),
  z.strictObject({
    kind: z.literal("higher-ceiling"),
    ceiling: words,
    burst_results: z.number(),
    ...remedyCost,
  }),
]);

/** JSON view of a forecast. `late_blocks` is null if other senders' transactions leave no gas for results. */
export const FORECAST = jsonView<Forecast>(({ value, integer, values }) => ({
  sustainable_gas: integer(({ sustainableGas }) => sustainableGas),
  demand_gas: integer(({ demandGas }) => demandGas),
  sustainable_results: value(z.number(), ({ sustainableResults }) => threeDigits(sustainableResults)),
  demand_results: value(z.number(), ({ demandResults }) => threeDigits(demandResults)),
  late_blocks: value(z.number().nullable(), ({ lateBlocks }) => lateBlocksJson(lateBlocks)),
  results_per_day: value(z.int(), ({ resultsPerDay }) => Math.round(resultsPerDay)),
  cost_per_day: integer(({ costPerDay }) => costPerDay),
  cost_per_result: value(words, ({ costPerResult }) => formatDec18(costPerResult)),
  remedies: values(REMEDY_SCHEMA, ({ remedies }) => remedies.map(remedyJson)),
}));

export const MARKET = jsonView<MarketStatus>(({ value, integer }) => ({
  denom: value(words, ({ denom }) => denom),
  read_at_height: integer(({ readAtHeight }) => readAtHeight),
  seconds_since_read: value(z.number(), ({ sinceReadMs }) => seconds(sinceReadMs)),
  phase: value(z.enum(MARKET_PHASES), ({ phase }) => phase),
  price: value(words, ({ price }) => formatDec18(price)),
  minimum: value(words, ({ minimum }) => formatDec18(minimum)),
  ceiling: value(words, ({ ceiling }) => formatDec18(ceiling)),
  cap: value(words, ({ cap }) => formatDec18(cap)),
  target_gas: integer(({ targetGas }) => targetGas),
  others_gas: integer(({ othersGas }) => othersGas),
  budget_gas: integer(({ budgetGas }) => budgetGas),
  fee_factor: value(words, ({ feeFactor }) => formatDec18(feeFactor)),
  demand_above_market: value(z.boolean(), isDemandAboveMarket),
  ...FORECAST.within(({ forecast }) => forecast),
}));

const ACCOUNT = jsonView<AccountStatus>(({ value, orNull, integer, integerOrNull }) => ({
  denom: value(words, ({ denom }) => denom),
  balance: integerOrNull(({ balance }) => balance),
  transaction_fee: integer(({ transactionFee }) => transactionFee),
  days_left: orNull(z.number(), ({ daysLeft }) => daysLeft && Math.round(daysLeft * 10) / 10),
  error: orNull(words, ({ error }) => error),
}));

const OWNER = jsonView<readonly [owner: string, gas: bigint]>(({ value, integer }) => ({
  owner: value(words, ([owner]) => owner),
  gas: integer(([, gas]) => gas),
}));

/** JSON view of today's spending. Amounts are in the fee denom's base unit. */
const SPENDING = jsonView<RelayerStatus>(({ value, integer, integerOrNull, list }) => ({
  day: value(z.iso.date(), ({ spending }) => isoTime(spending.day * DAY_MS).slice(0, 10)),
  fees: integer(({ spending }) => spending.fee),
  daily_fee: integerOrNull(({ spending }) => spending.limits.dailyFee),
  reserve: integer(({ reserve }) => reserve),
  daily_gas_per_owner: integerOrNull(({ spending }) => spending.limits.dailyGasPerOwner),
  owners: list(OWNER, ({ spending }) => namedOwners(spending.gasByOwner)),
}));

export const STATUS = jsonView<RelayerStatus>(({ value, orNull, integer, part, partOrNull, list }) => ({
  ready: value(z.boolean(), ({ problems }) => problems.length === 0),
  problems: list(PROBLEM, ({ problems }) => problems),
  address: value(words, ({ address }) => address),
  local_height: integer(({ localHeight }) => localHeight),
  connected: value(z.boolean(), ({ connected }) => connected),
  loaded: value(z.boolean(), ({ loaded }) => loaded),
  local: part(HEAD, ({ local }) => local),
  account: part(ACCOUNT, ({ account }) => account),
  role: value(z.enum(ROLES), ({ gate }) => gate.role),
  spending: part(SPENDING, (status) => status),
  market: partOrNull(MARKET, ({ market }) => market),
  dead_letters: value(z.int(), ({ deadLetters }) => deadLetters),
  not_sending: orNull(words, ({ gate }) => gate.refusal),
  config: partOrNull(reloadView, ({ config }) => config),
  connections: list(CONNECTION, servedConnections),
  queries: list(QUERY, ({ queries }) => queries),
  endpoints: list(ENDPOINT, ({ endpoints }) => endpoints),
}));

export const ATTEMPT = jsonView<Attempt>(({ value, orNull, integer, integerOrNull, time }) => ({
  query_id: integer(({ queryId }) => queryId),
  connection_id: value(words, ({ connectionId }) => connectionId),
  owner: value(words, ({ owner }) => owner),
  type: value(words, ({ type }) => type),
  started_at: time(({ startedAtMs }) => startedAtMs),
  due_height: integer(({ dueHeight }) => dueHeight),
  remote_height: integerOrNull(({ remoteHeight }) => remoteHeight || undefined),
  tx_hash: orNull(words, ({ txHash }) => txHash),
  outcome: value(z.enum(ATTEMPT_OUTCOMES), ({ outcome }) => outcome),
  reason: orNull(words, ({ reason }) => reason),
  local_height: integerOrNull(({ localHeight }) => localHeight),
  gas: integer(({ gas }) => gas),
  fee: integer(({ fee }) => fee),
  simulations: value(z.int(), ({ simulations }) => simulations),
}));

export const DAILY_COST = jsonView<DailyCost>(({ value, integer }) => ({
  day: value(z.int(), ({ day }) => day),
  owner: value(words, ({ owner }) => owner),
  attempts: value(z.int(), ({ attempts }) => attempts),
  included: value(z.int(), ({ included }) => included),
  gas: integer(({ gas }) => gas),
  fee: integer(({ fee }) => fee),
}));

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
