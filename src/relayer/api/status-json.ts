import { DAY_MS, isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { reloadJson } from "../../platform/http/daemon-control-routes.ts";
import { namedOwners } from "../gate/spending.ts";
import type { ClientView } from "../watch/watches.ts";
import type { HeadView } from "../watch/head-watch.ts";
import type { Problem } from "../health/problems.ts";
import { latestOf } from "../health/lateness.ts";
import { marketJson } from "../forecast/market-outputs.ts";
import type {
  AccountStatus,
  ConnectionStatus,
  EndpointStatus,
  QueryView,
  RelayerStatus,
} from "../health/relayer-status.ts";

/** Converts a status to the JSON of `GET /api/status`. Ids and heights are strings; absent values are null. */
export function statusJson(status: RelayerStatus): JsonObject {
  return {
    ready: status.problems.length === 0,
    problems: status.problems.map(problemJson),
    address: status.address,
    local_height: `${status.localHeight}`,
    connected: status.connected,
    loaded: status.loaded,
    local: headJson(status.local),
    account: accountJson(status.account),
    role: status.gate.role,
    spending: spendingJson(status),
    market: status.market === undefined ? null : marketJson(status.market),
    dead_letters: status.deadLetters,
    not_sending: status.gate.refusal ?? null,
    config: status.config === undefined ? null : reloadJson(status.config),
    connections: connectionsJson(status),
    queries: status.queries.map(queryJson),
    endpoints: status.endpoints.map(endpointJson),
  };
}

function problemJson({ code, connectionId, text, sinceMs }: Problem): JsonObject {
  return { code, connection_id: connectionId ?? null, text, since: isoTimeOrNull(sinceMs) };
}

export function connectionsJson({ connections, queries }: RelayerStatus): readonly JsonObject[] {
  return connections.map((connection) =>
    connectionJson(
      connection,
      queries.filter(({ connectionId }) => connectionId === connection.id),
    ),
  );
}

function connectionJson(connection: ConnectionStatus, queries: readonly QueryView[]): JsonObject {
  const { id, chainId, error, remote, client } = connection;
  const latest = latestOf(queries)?.lateness ?? { blocks: 0n, ms: 0 };
  return {
    id,
    chain_id: chainId,
    error: error ?? null,
    remote: headJson(remote),
    client: clientJson(client, remote),
    queries: queries.length,
    overdue_queries: queries.filter(({ lateness }) => lateness.isOverdue).length,
    most_late_blocks: Number(latest.blocks),
    most_late_seconds: latest.ms === undefined ? null : toSeconds(latest.ms),
  };
}

function headJson(head: HeadView): JsonObject {
  return {
    height: head.height === undefined ? null : `${head.height}`,
    block_time: head.blockTimeMs === undefined ? null : isoTime(head.blockTimeMs),
    seconds_since_block: head.sinceBlockMs === undefined ? null : toSeconds(head.sinceBlockMs),
    seconds_since_read: toSeconds(head.sinceReadMs),
    catching_up: head.catchingUp,
    error: head.error ?? null,
  };
}

function clientJson({ reading, error }: ClientView, remote: HeadView): JsonObject {
  if (reading === undefined) return { id: null, status: null, error: error ?? null };
  const { latestHeight } = reading;
  const behind = blocksBehind({ reading }, remote);
  return {
    id: reading.clientId,
    status: reading.status,
    consensus_height: `${latestHeight.height}`,
    consensus_revision: `${latestHeight.revision}`,
    consensus_time: isoTime(reading.consensusTimeMs),
    blocks_behind: behind === undefined ? null : Number(behind),
    expires_at: isoTime(reading.expiresAtMs),
    error: error ?? null,
  };
}

/** Number of remote blocks after the client's newest consensus state; undefined if either height is unknown. */
export function blocksBehind({ reading }: Pick<ClientView, "reading">, remote: HeadView): bigint | undefined {
  if (reading === undefined || remote.height === undefined) return undefined;
  const behind = remote.height - reading.latestHeight.height;
  return behind > 0n ? behind : 0n;
}

function accountJson({ denom, balance, transactionFee, daysLeft, error }: AccountStatus): JsonObject {
  return {
    denom,
    balance: balance === undefined ? null : `${balance}`,
    transaction_fee: `${transactionFee}`,
    days_left: daysLeft === undefined ? null : Math.round(daysLeft * 10) / 10,
    error: error ?? null,
  };
}

/** Converts amounts in the fee denom's base unit. A missing limit becomes `null`. */
function spendingJson({ spending, reserve }: RelayerStatus): JsonObject {
  const { day, fee, gasByOwner, limits } = spending;
  return {
    day: isoTime(day * DAY_MS).slice(0, 10),
    fees: `${fee}`,
    daily_fee: limits.dailyFee === undefined ? null : `${limits.dailyFee}`,
    reserve: `${reserve}`,
    daily_gas_per_owner: limits.dailyGasPerOwner === undefined ? null : `${limits.dailyGasPerOwner}`,
    owners: namedOwners(gasByOwner).map(([owner, gas]) => ({ owner, gas: `${gas}` })),
  };
}

function endpointJson(endpoint: EndpointStatus): JsonObject {
  const { status, latencyMs, lagBlocks } = endpoint;
  return {
    chain_id: endpoint.chainId,
    name: endpoint.name,
    state: endpoint.state,
    failures: endpoint.failures,
    last_error: endpoint.lastError ?? null,
    distrusted: endpoint.distrusted ?? null,
    height: status === undefined ? null : `${status.latestHeight}`,
    earliest_height: status === undefined ? null : `${status.earliestHeight}`,
    catching_up: status?.catchingUp ?? null,
    lag_blocks: lagBlocks === undefined ? null : Number(lagBlocks),
    latency_seconds: latencyMs === undefined ? null : Math.round(latencyMs) / 1_000,
    version: status?.version ?? null,
    batch_size: endpoint.batchSize ?? null,
    lacks: Object.fromEntries(endpoint.lacks ?? []),
  };
}

export function queryJson(query: QueryView): JsonObject {
  const { error, lastRemoteHeight, lateness, resultAge, cost } = query;
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    owner: query.owner,
    key_count: query.keyCount,
    update_period: `${query.updatePeriod}`,
    state: query.state,
    last_local_height: `${query.lastLocalHeight}`,
    last_remote_height: lastRemoteHeight === undefined ? null : `${lastRemoteHeight}`,
    unchanged_since_height: query.unchangedSince === undefined ? null : `${query.unchangedSince}`,
    result_age_blocks: resultAge === undefined ? null : Number(resultAge.blocks),
    result_age_seconds: resultAge === undefined ? null : toSeconds(resultAge.ms),
    result_age_is_at_least: resultAge?.isAtLeast ?? false,
    due_height: `${lateness.dueHeight}`,
    late_blocks: Number(lateness.blocks),
    late_seconds: lateness.ms === undefined ? null : toSeconds(lateness.ms),
    overdue: lateness.isOverdue,
    unanswerable: lateness.unanswerable ?? null,
    results: query.results,
    gas: `${cost?.gas ?? 0n}`,
    fee: `${cost?.fee ?? 0n}`,
    failures: query.failures,
    error: error === undefined ? null : { code: error.code, reason: error.reason },
    retry_in_ms: query.retryInMs,
  };
}

function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
