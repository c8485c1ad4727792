import { DEC18_ONE } from "../../platform/base/decimal.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import type { LeadershipStatus } from "../gate/leadership.ts";
import { isDemandAboveMarket, isFresh, type MarketStatus } from "../forecast/market-view.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { HeadView, ListView } from "../watch/head-watch.ts";
import { latestOf, lateText, type Lateness, type EndpointFacts, endpointProblem } from "./lateness.ts";
import type { AccountView, ClientReading, ClientView } from "../watch/watches.ts";

/** Codes of {@link Problem}, as they appear in JSON, logs and metrics. */
export const PROBLEM_CODES = [
  "starting",
  "local-not-followed",
  "local-no-new-block",
  "remote-unreachable",
  "remote-no-new-block",
  "remote-catching-up",
  "endpoints-refuse",
  "client-expired",
  "client-frozen",
  "client-expires-soon",
  "client-unknown",
  "account-cannot-pay",
  "account-unknown",
  "lease-unknown",
  "store-not-writable",
  "not-sending",
  "cycle-failed",
  "queries-overdue",
  "queries-failing",
] as const;

/** The {@link PROBLEM_CODES} that always belong to a connection. The code "starting" may also belong to a connection. */
export const CONNECTION_PROBLEM_CODES = [
  "remote-unreachable",
  "remote-no-new-block",
  "remote-catching-up",
  "endpoints-refuse",
  "client-expired",
  "client-frozen",
  "client-expires-soon",
  "client-unknown",
  "cycle-failed",
  "queries-overdue",
  "queries-failing",
] as const satisfies readonly ProblemCode[];

export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** A reason why the relayer is not ready. */
export interface Problem {
  readonly code: ProblemCode;
  /** The affected connection's id; undefined if the whole relayer is affected. */
  readonly connectionId: string | undefined;
  /** Human-readable sentence that states the problem, its start and the remedy. */
  readonly text: string;
  /** Wall-clock time at which this process first saw the problem, ms; absent in the result of {@link findProblems}. */
  readonly sinceMs?: number;
}

interface QueryLateness {
  readonly id: bigint;
  readonly connectionId: string;
  /** Local height of the last result; 0 if there is none. */
  readonly lastLocalHeight: bigint;
  readonly lateness: Lateness;
  /** The query's last failure, which a result clears. */
  readonly error: QueryFailure | undefined;
  /** Number of failures since the last result. */
  readonly failures: number;
}

/** The facts from which {@link findProblems} derives the problems. */
export interface HealthFacts {
  readonly list: ListView;
  readonly local: HeadView;
  readonly account: AccountView & {
    readonly transactionFee: bigint;
  };
  readonly connections: readonly ConnectionFacts[];
  readonly queries: readonly QueryLateness[];
  /** The fee market's status; undefined without a fee market and before the first read. */
  readonly market: MarketStatus | undefined;
  readonly gate: GateFacts;
  readonly limits: HealthLimits;
  /** Endpoints of all chains; absent if unknown. */
  readonly endpoints?: readonly EndpointFacts[];
}

/** The facts that decide whether this process may send, and the reasons if it may not. */
export interface GateFacts {
  readonly role: LeadershipStatus["role"];
  /** The last lease error or startup error; undefined if there is none. */
  readonly roleError?: string | undefined;
  /** Describes the startup step that a starting process waits for; undefined if there is none. */
  readonly progress?: string | undefined;
  /** The process that holds the lease; undefined if leases are not used or the lease has not been read. */
  readonly holder?: string | undefined;
  /** Reason why the store cannot write; undefined if the store can write. */
  readonly storeError: string | undefined;
  /** Reason why the last transaction was not sent; undefined if the transaction was sent. */
  readonly refusal: string | undefined;
}

interface ConnectionFacts {
  readonly id: string;
  readonly chainId: string;
  readonly remote: HeadView;
  readonly client: ClientView;
  /** Error of the last cycle; undefined if the cycle succeeded. */
  readonly error: string | undefined;
}

/** The configured health limits. For defaults that depend on a chain's block time, see {@link hasNoNewBlock} and `latenessOf`. */
export type HealthLimits = RelayerConfig["health"] & Pick<RelayerConfig["queries"], "min_kv_update_period">;

const NO_BLOCKS = 10;
const MIN_NO_BLOCK_MS = 15_000;
const MAX_NO_BLOCK_MS = 60_000;

/** Returns true if a chain has had no block for longer than `no_block_after`. The default is ten block times, clamped to 15–60 s. */
export function hasNoNewBlock(
  { sinceBlockMs, blockMs }: Pick<HeadView, "sinceBlockMs" | "blockMs">,
  { no_block_after: noBlockMs }: Pick<HealthLimits, "no_block_after">,
): boolean {
  // While the block time is unknown, apply the shortest limit, because a chain may halt within the first blocks after this
  // process starts.
  const own = Math.max(MIN_NO_BLOCK_MS, NO_BLOCKS * (blockMs ?? 0));
  return (sinceBlockMs ?? 0) > (noBlockMs ?? Math.min(MAX_NO_BLOCK_MS, own));
}

/** A chain is unreachable or no longer followed if its height has not been read for this long. */
const UNREAD_HEAD_MS = 15_000;
/** Replaces `UNREAD_HEAD_MS` after an error. Reconnecting takes less time. */
const FAILED_HEAD_MS = 4_000;
/** A client's status or a balance is unknown if it has not been read for this long. */
const UNREAD_STATE_MS = 180_000;

/** Returns all problems, starting with the problems that affect the whole relayer. The relayer is ready if there are no problems. */
export function findProblems(facts: HealthFacts): readonly Problem[] {
  return [
    ...starting(facts),
    ...localProblems(facts),
    ...accountProblems(facts),
    ...gateProblems(facts),
    ...facts.connections.flatMap((connection) => connectionProblems(facts, connection)),
  ];
}

function starting({ list: { isLoaded } }: HealthFacts): readonly Problem[] {
  return isLoaded ? [] : [general("starting", "the list of queries has not been read yet")];
}

function localProblems({ local, list: { failure }, limits }: HealthFacts): readonly Problem[] {
  const notFollowed = (text: string) => [
    general("local-not-followed", `the local chain is not followed: ${text}; check chain.rpc`),
  ];
  // Check the query list first, because the relayer reads nothing else until it has read the list again.
  if (failure !== undefined && failure.sinceMs > UNREAD_HEAD_MS && local.error === undefined)
    return notFollowed(
      `its query list could not be read for ${formatDuration(failure.sinceMs)} (${failure.reason})`,
    );
  if (isUnread(local)) return notFollowed(unread(local));
  if (local.catchingUp) return notFollowed(`its node is catching up, at height ${local.height}`);
  if (local.sinceBlockMs === undefined)
    return [general("starting", "no block of the local chain has been read yet")];
  if (!hasNoNewBlock(local, limits)) return [];
  return [
    general(
      "local-no-new-block",
      `the local chain has had ${noBlock(local)}; check whether it has halted or its node is behind`,
    ),
  ];
}

function accountProblems({ account }: HealthFacts): readonly Problem[] {
  const { address, denom, balance, transactionFee: fee, unpaid, sinceReadMs } = account;
  const cannotPay = (text: string) => [
    general("account-cannot-pay", `account ${address} ${text}; send it ${denom}`),
  ];
  if (unpaid !== undefined) return cannotPay(`cannot pay: ${unpaid}`);
  if (balance !== undefined && balance < maxInt(fee, 1n))
    return cannotPay(`has ${balance} ${denom}, but a transaction costs about ${fee}`);
  if (balance !== undefined && sinceReadMs <= UNREAD_STATE_MS) return [];
  if (sinceReadMs <= UNREAD_HEAD_MS) return [general("starting", "the balance has not been read yet")];
  return [general("account-unknown", `the balance of ${address} is unknown: ${unread(account)}`)];
}

/** Returns the problems that keep this process from sending or, on standby, from taking over. */
function gateProblems({ gate }: HealthFacts): readonly Problem[] {
  const { role, holder, roleError, progress, storeError, refusal } = gate;
  if (role === "standby" && (roleError === undefined || holder !== undefined)) return [];
  if (role === "standby") return [general("not-sending", `this process does not submit: ${roleError}`)];
  if (role === "unknown" && holder === undefined && roleError === undefined)
    return [general("starting", "the lease has not been read yet")];
  if (role === "starting" && roleError === undefined)
    return [
      general(
        "starting",
        `nothing is sent yet: ${progress ?? "reading the previous process's transactions"}`,
      ),
    ];
  const found = [];
  if (role === "unknown")
    found.push(
      general(
        "lease-unknown",
        `this process sends nothing, and it is unknown whether another one does: ${roleError ?? "cannot read the lease: no response"}; repair the database`,
      ),
    );
  if (role === "starting")
    found.push(general("not-sending", `nothing is sent: this process cannot submit yet: ${roleError}`));
  if (storeError !== undefined)
    found.push(
      general(
        "store-not-writable",
        `nothing is sent while the store cannot write: ${storeError}; free its disk or repair it`,
      ),
    );
  if (found.length > 0 || refusal === undefined) return found;
  return [general("not-sending", `nothing is sent: ${refusal}`)];
}

function connectionProblems(facts: HealthFacts, connection: ConnectionFacts): readonly Problem[] {
  const found = [
    remoteProblem(facts, connection),
    clientProblem(facts, connection),
    refusalProblem(facts, connection),
    ...overdueProblems(facts, connection),
    cycleProblem(connection),
  ];
  return found.flatMap((one) =>
    one === undefined ? [] : [{ ...one, connectionId: connection.id, text: `${connection.id}: ${one.text}` }],
  );
}

type Found = Pick<Problem, "code" | "text"> | undefined;

function remoteProblem({ limits }: HealthFacts, { chainId, remote }: ConnectionFacts): Found {
  if (isUnread(remote))
    return {
      code: "remote-unreachable",
      text: `the remote chain ${chainId} cannot be reached: ${unread(remote)}; check the endpoints of the connection`,
    };
  if (remote.sinceBlockMs === undefined)
    return { code: "starting", text: `no block of ${chainId} has been read yet` };
  if (remote.catchingUp)
    return {
      code: "remote-catching-up",
      text: `the node of ${chainId} is catching up, at height ${remote.height}`,
    };
  if (!hasNoNewBlock(remote, limits)) return undefined;
  return {
    code: "remote-no-new-block",
    text: `the remote chain ${chainId} has had ${noBlock(remote)}; no newer value can be proven; check whether it has halted or its endpoints are behind`,
  };
}

function refusalProblem({ endpoints = [] }: HealthFacts, { chainId, remote }: ConnectionFacts): Found {
  const text = isUnread(remote) ? undefined : endpointProblem(endpoints, chainId);
  return text === undefined ? undefined : { code: "endpoints-refuse", text };
}

function clientProblem(facts: HealthFacts, { client }: ConnectionFacts): Found {
  const { reading, sinceReadMs } = client;
  if (reading === undefined && sinceReadMs <= UNREAD_HEAD_MS)
    return { code: "starting", text: "the light client has not been read yet" };
  if (reading === undefined || sinceReadMs > UNREAD_STATE_MS)
    return { code: "client-unknown", text: `the light client is unknown: ${unread(client)}` };
  const { clientId, status, expiresAtMs } = reading;
  const expiry = new Date(expiresAtMs).toISOString();
  if (status === "Frozen")
    return {
      code: "client-frozen",
      text: `client ${clientId} is frozen after misbehaviour at or after height ${reading.latestHeight.height}; nothing can be proven until governance replaces it (MsgRecoverClient)`,
    };
  if (status !== "Active" || expiresAtMs <= facts.local.chainMs)
    return {
      code: "client-expired",
      text: `client ${clientId} ${status === "Active" ? "expires" : `is ${status.toLowerCase()}, expired`} at ${expiry}; nothing can be proven until governance replaces it (MsgRecoverClient)`,
    };
  const leftMs = expiresAtMs - facts.local.chainMs;
  if (leftMs > expiryNoticeMs(reading, facts.limits.client_expires_soon)) return undefined;
  return {
    code: "client-expires-soon",
    text: `client ${clientId} expires at ${expiry}, in ${formatDuration(leftMs)}, unless it is updated before then; it should have been refreshed when a third of its trusting period was left`,
  };
}

/**
 * Returns the remaining time below which a client "expires soon", ms. The time is a share of the trusting period or, if longer, a
 * fixed time of at most a quarter of the period. A refresh is due when a third of the period is left, so below this limit,
 * refreshing has failed.
 */
function expiryNoticeMs(
  { trustingPeriodNs }: Pick<ClientReading, "trustingPeriodNs">,
  { trusting_period_share: least, within: withinMs }: HealthLimits["client_expires_soon"],
): number {
  const share = Number((trustingPeriodNs * least) / DEC18_ONE / NS_PER_MS);
  return Math.max(share, Math.min(withinMs, Number(trustingPeriodNs / 4_000_000n)));
}

/**
 * Returns a connection's problems "queries-overdue" and "queries-failing". "queries-failing" reports overdue queries that fail,
 * with the failure of the most overdue query.
 */
function overdueProblems(facts: HealthFacts, { id }: ConnectionFacts): readonly Found[] {
  const { queries, gate, market } = facts;
  if (gate.role === "unknown") return [];
  // A standby reads another process's results only occasionally, so late results are a problem only if no process sends results.
  const silent = gate.role === "standby" ? silenceOf(facts) : "";
  if (silent === undefined) return [];
  const overdue = queries.filter(({ connectionId, lateness }) => connectionId === id && lateness.isOverdue);
  const late = overdue.filter(({ error }) => error === undefined);
  const failing = overdue.filter(({ error }) => error !== undefined);
  const [latest, failed] = [latestOf(late), latestOf(failing)];
  return [
    latest && {
      code: "queries-overdue",
      text: `${late.length === 1 ? "1 query is" : `${late.length} queries are`} overdue; query ${latest.id} by ${lateText(latest.lateness)}${marketReason(market)}${silent}`,
    },
    failed && {
      code: "queries-failing",
      text: `${failing.length === 1 ? "1 overdue query fails" : `${failing.length} overdue queries fail`} at each try; query ${failed.id}, late by ${lateText(failed.lateness)}, ${failed.failures} times: ${failed.error?.code}: ${failed.error?.reason}`,
    },
  ];
}

/** Interval at which a standby reads the queries and the leading process's results, ms. */
export const STANDBY_READ_MS = 5_000;
/** Time without a new result after which a standby concludes that no process sends. The time covers two standby reads and a block time. */
const SILENT_MS = 15_000;

/** Describes how long no process has sent a result; undefined while a process sends results. */
function silenceOf({ queries, local }: HealthFacts): string | undefined {
  const newest = queries.reduce((most, { lastLocalHeight }) => maxInt(most, lastLocalHeight), 0n);
  const blocks = Number((local.height ?? newest) - newest);
  if (local.blockMs === undefined || blocks * local.blockMs <= SILENT_MS) return undefined;
  return `; this process is a standby, and no process has sent a result for ${counted(blocks, "block")}`;
}

/** Describes how the fee market delays overdue results; empty unless demand is known to exceed the market. */
function marketReason(market: MarketStatus | undefined): string {
  if (market === undefined || !isFresh(market) || !isDemandAboveMarket(market)) return "";
  const { lateBlocks } = market.forecast;
  const effect =
    lateBlocks === Infinity
      ? "others use its whole target"
      : `each result is ${counted(Math.round(lateBlocks), "block")} late in the steady state`;
  return `; the demand is above the fee market: ${effect}`;
}

function cycleProblem({ error }: ConnectionFacts): Found {
  return error === undefined ? undefined : { code: "cycle-failed", text: error };
}

function general(code: ProblemCode, text: string): Problem {
  return { code, connectionId: undefined, text };
}

function isUnread({ sinceReadMs, error }: HeadView): boolean {
  return sinceReadMs > (error === undefined ? UNREAD_HEAD_MS : FAILED_HEAD_MS);
}

function unread({ sinceReadMs, error }: Pick<HeadView, "sinceReadMs" | "error">): string {
  const reason = error === undefined ? "" : ` (${error})`;
  return `no response for ${formatDuration(sinceReadMs)}${reason}`;
}

function noBlock({ sinceBlockMs, height }: HeadView): string {
  return `no new block for ${formatDuration(sinceBlockMs ?? 0)} (height ${height})`;
}
