import { z } from "zod";
import { formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { DAY_MS, isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import { RELOAD_STATUS, reloadJson } from "../../platform/http/daemon-control-routes.ts";
import { digits, time } from "../../platform/http/route-about.ts";
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

/** A field of an object: its schema, and its value. An undefined value becomes null, and a bigint a string. */
type Field<S> = readonly [schema: z.ZodType, read: (source: S) => JsonValue | bigint | undefined];

/** Returns the schema and the encoder of an object with these fields. */
function shape<S>(fields: Readonly<Record<string, Field<S>>>) {
  const rows = Object.entries(fields);
  return {
    schema: z.strictObject(Object.fromEntries(rows.map(([name, [schema]]) => [name, schema]))),
    json: (source: S): JsonObject =>
      Object.fromEntries(rows.map(([name, [, read]]) => [name, toJson(read(source))])),
  };
}

function toJson(value: JsonValue | bigint | undefined): JsonValue {
  if (value === undefined) return null;
  return typeof value === "bigint" ? `${value}` : value;
}

const words = z.string();
const wordsOrNull = words.nullable();
const numberOrNull = z.number().nullable();

const PROBLEM = shape<Problem>({
  code: [words, ({ code }) => code],
  connection_id: [wordsOrNull, ({ connectionId }) => connectionId],
  text: [words, ({ text }) => text],
  since: [time.nullable(), ({ sinceMs }) => isoTimeOrNull(sinceMs)],
});

const HEAD = shape<HeadView>({
  height: [digits.nullable(), ({ height }) => height],
  block_time: [time.nullable(), ({ blockTimeMs }) => isoTimeOrNull(blockTimeMs)],
  seconds_since_block: [numberOrNull, ({ sinceBlockMs }) => seconds(sinceBlockMs)],
  seconds_since_read: [z.number(), ({ sinceReadMs }) => seconds(sinceReadMs)],
  catching_up: [z.boolean(), ({ catchingUp }) => catchingUp],
  error: [wordsOrNull, ({ error }) => error],
});

const UNREAD_CLIENT = shape<ClientView>({
  id: [z.null(), () => null],
  status: [z.null(), () => null],
  error: [wordsOrNull, ({ error }) => error],
});

interface ReadClient extends Pick<ConnectionStatus, "client" | "remote"> {
  readonly reading: NonNullable<ClientView["reading"]>;
}

const READ_CLIENT = shape<ReadClient>({
  id: [words, ({ reading }) => reading.clientId],
  status: [words, ({ reading }) => reading.status],
  consensus_height: [digits, ({ reading }) => reading.latestHeight.height],
  consensus_revision: [digits, ({ reading }) => reading.latestHeight.revision],
  consensus_time: [time, ({ reading }) => isoTime(reading.consensusTimeMs)],
  blocks_behind: [numberOrNull, ({ client, remote }) => toNumber(blocksBehind(client, remote))],
  expires_at: [time, ({ reading }) => isoTime(reading.expiresAtMs)],
  error: [wordsOrNull, ({ client }) => client.error],
});

function clientJson({ client, remote }: ConnectionStatus): JsonObject {
  const { reading } = client;
  return reading === undefined ? UNREAD_CLIENT.json(client) : READ_CLIENT.json({ client, remote, reading });
}

/** Number of remote blocks after the client's newest consensus state; undefined if either height is unknown. */
export function blocksBehind({ reading }: Pick<ClientView, "reading">, remote: HeadView): bigint | undefined {
  if (reading === undefined || remote.height === undefined) return undefined;
  const behind = remote.height - reading.latestHeight.height;
  return behind > 0n ? behind : 0n;
}

interface ServedConnection extends ConnectionStatus {
  readonly queries: readonly QueryView[];
}

export const CONNECTION = shape<ServedConnection>({
  id: [words, ({ id }) => id],
  chain_id: [words, ({ chainId }) => chainId],
  error: [wordsOrNull, ({ error }) => error],
  remote: [HEAD.schema, ({ remote }) => HEAD.json(remote)],
  client: [z.union([UNREAD_CLIENT.schema, READ_CLIENT.schema]), clientJson],
  queries: [z.int(), ({ queries }) => queries.length],
  overdue_queries: [z.int(), ({ queries }) => queries.filter(({ lateness }) => lateness.isOverdue).length],
  most_late_blocks: [z.int(), ({ queries }) => Number(latestOf(queries)?.lateness.blocks ?? 0n)],
  most_late_seconds: [numberOrNull, ({ queries }) => seconds((latestOf(queries)?.lateness ?? { ms: 0 }).ms)],
});

export function connectionsJson({ connections, queries }: RelayerStatus): readonly JsonObject[] {
  return connections.map((connection) => {
    const own = queries.filter(({ connectionId }) => connectionId === connection.id);
    return CONNECTION.json({ ...connection, queries: own });
  });
}

export const QUERY = shape<QueryView>({
  id: [digits, ({ id }) => id],
  type: [words, ({ type }) => type],
  connection_id: [words, ({ connectionId }) => connectionId],
  owner: [words, ({ owner }) => owner],
  key_count: [z.int(), ({ keyCount }) => keyCount],
  update_period: [digits, ({ updatePeriod }) => updatePeriod],
  state: [z.enum(QUERY_STATUSES), ({ state }) => state],
  last_local_height: [digits, ({ lastLocalHeight }) => lastLocalHeight],
  last_remote_height: [digits.nullable(), ({ lastRemoteHeight }) => lastRemoteHeight],
  unchanged_since_height: [digits.nullable(), ({ unchangedSince }) => unchangedSince],
  result_age_blocks: [numberOrNull, ({ resultAge }) => toNumber(resultAge?.blocks)],
  result_age_seconds: [numberOrNull, ({ resultAge }) => seconds(resultAge?.ms)],
  result_age_is_at_least: [z.boolean(), ({ resultAge }) => resultAge?.isAtLeast ?? false],
  due_height: [digits, ({ lateness }) => lateness.dueHeight],
  late_blocks: [z.int(), ({ lateness }) => Number(lateness.blocks)],
  late_seconds: [numberOrNull, ({ lateness }) => seconds(lateness.ms)],
  overdue: [z.boolean(), ({ lateness }) => lateness.isOverdue],
  unanswerable: [wordsOrNull, ({ lateness }) => lateness.unanswerable],
  results: [z.int(), ({ results }) => results],
  gas: [digits, ({ cost }) => cost?.gas ?? 0n],
  fee: [digits, ({ cost }) => cost?.fee ?? 0n],
  failures: [z.int(), ({ failures }) => failures],
  error: [
    z.strictObject({ code: words, reason: words }).nullable(),
    ({ error }) => error && { code: error.code, reason: error.reason },
  ],
  retry_in_ms: [z.number(), ({ retryInMs }) => retryInMs],
});

const ENDPOINT = shape<EndpointStatus>({
  chain_id: [words, ({ chainId }) => chainId],
  name: [words, ({ name }) => name],
  state: [words, ({ state }) => state],
  failures: [z.int(), ({ failures }) => failures],
  last_error: [wordsOrNull, ({ lastError }) => lastError],
  distrusted: [wordsOrNull, ({ distrusted }) => distrusted],
  height: [digits.nullable(), ({ status }) => status?.latestHeight],
  earliest_height: [digits.nullable(), ({ status }) => status?.earliestHeight],
  catching_up: [z.boolean().nullable(), ({ status }) => status?.catchingUp],
  lag_blocks: [numberOrNull, ({ lagBlocks }) => toNumber(lagBlocks)],
  latency_seconds: [numberOrNull, ({ latencyMs }) => latencyMs && Math.round(latencyMs) / 1_000],
  version: [wordsOrNull, ({ status }) => status?.version],
  batch_size: [numberOrNull, ({ batchSize }) => batchSize],
  lacks: [z.record(words, words), ({ lacks }) => Object.fromEntries(lacks ?? [])],
});

const remedyCost = { cost_per_day: digits };
const REMEDY_SCHEMA = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("longer-periods"), factor: z.number(), ...remedyCost }),
  z.strictObject({ kind: z.literal("fewer-callbacks"), late_blocks: numberOrNull, ...remedyCost }),
  z.strictObject({
    kind: z.literal("higher-ceiling"),
    ceiling: words,
    burst_results: z.number(),
    ...remedyCost,
  }),
]);

/** `late_blocks` is null if others' transactions leave no gas. */
const FORECAST: Readonly<Record<string, Field<Forecast>>> = {
  sustainable_gas: [digits, ({ sustainableGas }) => sustainableGas],
  demand_gas: [digits, ({ demandGas }) => demandGas],
  sustainable_results: [z.number(), ({ sustainableResults }) => threeDigits(sustainableResults)],
  demand_results: [z.number(), ({ demandResults }) => threeDigits(demandResults)],
  late_blocks: [numberOrNull, ({ lateBlocks }) => lateBlocksJson(lateBlocks)],
  results_per_day: [z.int(), ({ resultsPerDay }) => Math.round(resultsPerDay)],
  cost_per_day: [digits, ({ costPerDay }) => costPerDay],
  cost_per_result: [words, ({ costPerResult }) => formatDec18(costPerResult)],
  remedies: [z.array(REMEDY_SCHEMA), ({ remedies }) => remedies.map(remedyJson)],
};

export const { json: forecastJson } = shape(FORECAST);

const MARKET = shape<MarketStatus>({
  denom: [words, ({ denom }) => denom],
  read_at_height: [digits, ({ readAtHeight }) => readAtHeight],
  seconds_since_read: [z.number(), ({ sinceReadMs }) => seconds(sinceReadMs)],
  phase: [z.enum(MARKET_PHASES), ({ phase }) => phase],
  price: [words, ({ price }) => formatDec18(price)],
  minimum: [words, ({ minimum }) => formatDec18(minimum)],
  ceiling: [words, ({ ceiling }) => formatDec18(ceiling)],
  cap: [words, ({ cap }) => formatDec18(cap)],
  target_gas: [digits, ({ targetGas }) => targetGas],
  others_gas: [digits, ({ othersGas }) => othersGas],
  budget_gas: [digits, ({ budgetGas }) => budgetGas],
  fee_factor: [words, ({ feeFactor }) => formatDec18(feeFactor)],
  demand_above_market: [z.boolean(), isDemandAboveMarket],
  ...Object.fromEntries(
    Object.entries(FORECAST).map(([name, [schema, read]]): [string, Field<MarketStatus>] => [
      name,
      [schema, ({ forecast }) => read(forecast)],
    ]),
  ),
});

export const { json: marketJson } = MARKET;

const ACCOUNT = shape<AccountStatus>({
  denom: [words, ({ denom }) => denom],
  balance: [digits.nullable(), ({ balance }) => balance],
  transaction_fee: [digits, ({ transactionFee }) => transactionFee],
  days_left: [numberOrNull, ({ daysLeft }) => daysLeft && Math.round(daysLeft * 10) / 10],
  error: [wordsOrNull, ({ error }) => error],
});

/** Amounts in the fee denom's base unit. */
const SPENDING = shape<RelayerStatus>({
  day: [z.iso.date(), ({ spending }) => isoTime(spending.day * DAY_MS).slice(0, 10)],
  fees: [digits, ({ spending }) => spending.fee],
  daily_fee: [digits.nullable(), ({ spending }) => spending.limits.dailyFee],
  reserve: [digits, ({ reserve }) => reserve],
  daily_gas_per_owner: [digits.nullable(), ({ spending }) => spending.limits.dailyGasPerOwner],
  owners: [
    z.array(z.strictObject({ owner: words, gas: digits })),
    ({ spending }) => namedOwners(spending.gasByOwner).map(([owner, gas]) => ({ owner, gas: `${gas}` })),
  ],
});

export const STATUS = shape<RelayerStatus>({
  ready: [z.boolean(), ({ problems }) => problems.length === 0],
  problems: [z.array(PROBLEM.schema), ({ problems }) => problems.map(PROBLEM.json)],
  address: [words, ({ address }) => address],
  local_height: [digits, ({ localHeight }) => localHeight],
  connected: [z.boolean(), ({ connected }) => connected],
  loaded: [z.boolean(), ({ loaded }) => loaded],
  local: [HEAD.schema, ({ local }) => HEAD.json(local)],
  account: [ACCOUNT.schema, ({ account }) => ACCOUNT.json(account)],
  role: [z.enum(ROLES), ({ gate }) => gate.role],
  spending: [SPENDING.schema, SPENDING.json],
  market: [MARKET.schema.nullable(), ({ market }) => market && marketJson(market)],
  dead_letters: [z.int(), ({ deadLetters }) => deadLetters],
  not_sending: [wordsOrNull, ({ gate }) => gate.refusal],
  config: [RELOAD_STATUS.nullable(), ({ config }) => config && reloadJson(config)],
  connections: [z.array(CONNECTION.schema), connectionsJson],
  queries: [z.array(QUERY.schema), ({ queries }) => queries.map(QUERY.json)],
  endpoints: [z.array(ENDPOINT.schema), ({ endpoints }) => endpoints.map(ENDPOINT.json)],
});

export const ATTEMPT = shape<Attempt>({
  query_id: [digits, ({ queryId }) => queryId],
  connection_id: [words, ({ connectionId }) => connectionId],
  owner: [words, ({ owner }) => owner],
  type: [words, ({ type }) => type],
  started_at: [time, ({ startedAtMs }) => isoTime(startedAtMs)],
  due_height: [digits, ({ dueHeight }) => dueHeight],
  remote_height: [digits.nullable(), ({ remoteHeight }) => remoteHeight || undefined],
  tx_hash: [wordsOrNull, ({ txHash }) => txHash],
  outcome: [z.enum(ATTEMPT_OUTCOMES), ({ outcome }) => outcome],
  reason: [wordsOrNull, ({ reason }) => reason],
  local_height: [digits.nullable(), ({ localHeight }) => localHeight],
  gas: [digits, ({ gas }) => gas],
  fee: [digits, ({ fee }) => fee],
  simulations: [z.int(), ({ simulations }) => simulations],
});

export const DAILY_COST = shape<DailyCost>({
  day: [z.int(), ({ day }) => day],
  owner: [words, ({ owner }) => owner],
  attempts: [z.int(), ({ attempts }) => attempts],
  included: [z.int(), ({ included }) => included],
  gas: [digits, ({ gas }) => gas],
  fee: [digits, ({ fee }) => fee],
});

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms / 100) / 10;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
