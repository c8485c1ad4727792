import type { BackoffOptions } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { ChainClient, LightBlockBytes } from "../client/chain-client.ts";
import type { TxSender, WireMessage } from "../client/tx-sender.ts";
import {
  type HeaderDeps,
  knowsHeight,
  revisionOf,
  updateClientMessage,
  updateHeader,
} from "./client-update.ts";
import type { LightClientState, LocalQueries } from "./local-queries.ts";
import type { RelayerMetrics } from "./metrics.ts";
import { type BatchLimits, oldestFirst, type ProvenResult, planBatches } from "./plan.ts";
import { proveAll } from "./prove.ts";
import { answered, failed, type QueryFault, type QueryState } from "./query-state.ts";
import type { Registry } from "./registry.ts";
import { isNewer, type RemoteHeight } from "./registered-query.ts";
import { RelayError } from "./relay-error.ts";
import { type SubmissionOptions, type SubmissionOutcome, submit } from "./submission.ts";

/** One connection to a remote chain, and what its rounds need. */
export interface Lane {
  readonly connectionId: string;
  readonly remote: ChainClient;
  readonly local: LocalQueries;
  readonly sender: TxSender;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
  /** Latest local height seen. */
  readonly localHeight: () => bigint;
  readonly settings: LaneSettings;
}

interface LaneSettings {
  readonly allowKvCallbacks: boolean;
  readonly limits: BatchLimits;
  readonly backoff: BackoffOptions;
  readonly submission: SubmissionOptions;
}

/** One remote height at which a round reads, and the header that proves it. */
export interface ReadPoint {
  readonly client: LightClientState;
  readonly block: LightBlockBytes;
  /** Height of the state that is read: one below the block, whose header holds its root. */
  readonly at: RemoteHeight;
}

/**
 * Answers the due KV queries of one connection: all of them at one remote height, with one client update in front, or
 * none when the consensus state exists. Faults of a query go to its state; faults of the connection are thrown.
 */
export async function runRound(lane: Lane, due: readonly QueryState[], signal: AbortSignal): Promise<void> {
  const point = await readPoint(lane, signal);
  if (point === undefined) return;
  const candidates = oldestFirst(due).filter(({ query }) => isNewer(point.at, query.lastRemoteHeight));
  if (candidates.length === 0) return;
  const results = await proveCandidates(lane, point, candidates, signal);
  if (results.length === 0) return;
  let update = await clientUpdate(lane, point, signal);
  for (const batch of planBatches(results, lane.settings.limits)) {
    const outcome = await submit({ update, results: batch }, lane.sender, lane.settings.submission, signal);
    settle(lane, point, outcome);
    if (outcome.headerRefused !== undefined) throw headerRefused(point, outcome.headerRefused);
    if (outcome.height !== undefined) update = undefined;
  }
}

/** A chain answers proofs from height 2 on, which block 3 proves. */
const FIRST_PROVING_BLOCK = 3n;

/**
 * The newest remote block whose state can be proven to the connection's client; undefined while the remote chain is
 * only beginning. Throws `RelayError`.
 */
export async function readPoint(lane: Lane, signal: AbortSignal): Promise<ReadPoint | undefined> {
  const [status, clientId] = await Promise.all([
    lane.remote.status(signal),
    lane.local.clientOfConnection(lane.connectionId, signal),
  ]);
  if (status.latestHeight < FIRST_PROVING_BLOCK) return undefined;
  const [block, client] = await Promise.all([
    lane.remote.lightBlock(status.latestHeight, signal),
    activeClient(lane, clientId, signal),
  ]);
  requireSameChain(lane, client, status.chainId);
  requireAhead(client, block);
  return { client, block, at: { revision: revisionOf(client.chainId), height: block.height - 1n } };
}

/**
 * A block below what the client knows comes from an endpoint that lags, or from a chain that started over: its header
 * would contradict the client's, which freezes the client for good.
 */
function requireAhead(client: LightClientState, block: LightBlockBytes): void {
  const known = client.latestHeight;
  if (known.revision !== revisionOf(client.chainId) || block.height >= known.height) return;
  throw new RelayError(
    { code: "remote-behind", chainId: client.chainId, height: block.height },
    `the endpoint of ${client.chainId} is at height ${block.height}, behind height ${known.height} that ${client.clientId} knows: waiting until it is ahead`,
  );
}

async function activeClient(lane: Lane, clientId: string, signal: AbortSignal): Promise<LightClientState> {
  const [client, status] = await Promise.all([
    lane.local.clientState(clientId, signal),
    lane.local.clientStatus(clientId, signal),
  ]);
  if (status === "Active") return client;
  throw new RelayError(
    { code: "client-not-active", clientId, status },
    `client ${clientId} of ${lane.connectionId} is ${status}: no result can be proven until governance recovers it`,
  );
}

function requireSameChain(lane: Lane, client: LightClientState, found: string): void {
  if (client.chainId === found) return;
  throw new RelayError(
    { code: "wrong-chain", connectionId: lane.connectionId, expected: client.chainId, found },
    `the endpoint configured for ${lane.connectionId} serves chain ${found}, but the connection leads to ${client.chainId}`,
  );
}

async function proveCandidates(
  lane: Lane,
  point: ReadPoint,
  candidates: readonly QueryState[],
  signal: AbortSignal,
): Promise<readonly ProvenResult[]> {
  const proofs = await proveAll(
    { remote: lane.remote, sender: lane.sender.address, allowKvCallbacks: lane.settings.allowKvCallbacks },
    { appHash: point.block.appHash, at: point.at },
    candidates,
    signal,
  );
  return proofs.flatMap(({ state, result }) => {
    if (result.ok && result.value.message.length <= lane.settings.limits.bytes) return [result.value];
    noteFault(lane, state, result.ok ? tooLarge(result.value, lane.settings.limits) : result.fault);
    return [];
  });
}

function tooLarge(result: ProvenResult, limits: BatchLimits): QueryFault {
  return {
    code: "too-large",
    reason: `the result takes ${result.message.length} bytes, more than the ${limits.bytes} that a transaction may have`,
  };
}

async function clientUpdate(
  lane: Lane,
  point: ReadPoint,
  signal: AbortSignal,
): Promise<WireMessage | undefined> {
  const { client, block } = point;
  const deps = headerDeps(lane);
  if (knowsHeight(client, { revision: point.at.revision, height: block.height })) return undefined;
  lane.metrics.clientUpdates.inc({ connection_id: lane.connectionId });
  return updateClientMessage(
    client.clientId,
    await updateHeader(deps, client, block, signal),
    lane.sender.address,
  );
}

/** What building headers needs of a lane. */
export function headerDeps(lane: Lane): HeaderDeps {
  const nowNs = (): bigint => BigInt(Math.round(lane.clock.nowMs())) * 1_000_000n;
  return { local: lane.local, remote: lane.remote, nowNs };
}

function settle(lane: Lane, point: ReadPoint, outcome: SubmissionOutcome<ProvenResult>): void {
  const { connectionId, metrics, registry } = lane;
  for (const { result, fault } of outcome.outcomes) {
    if (fault !== undefined) {
      noteFault(lane, result.state, fault);
      continue;
    }
    const localHeight = outcome.height ?? 0n;
    registry.replace(result.state, answered(result.state, { localHeight, remote: point.at }));
    metrics.results.inc({ connection_id: connectionId, outcome: "included" });
  }
  if (outcome.height === undefined) return;
  const included = outcome.outcomes.filter(({ fault }) => fault === undefined).length;
  metrics.batchSize.observe({ connection_id: connectionId }, included);
  metrics.gasUsed.inc({ connection_id: connectionId }, Number(outcome.gasUsed));
  metrics.txBytes.inc({ connection_id: connectionId }, outcome.bytes);
  lane.logger.info("results included", {
    connectionId,
    included,
    localHeight: outcome.height,
    remoteHeight: point.at.height,
    gasUsed: outcome.gasUsed,
    bytes: outcome.bytes,
  });
}

/** Notes a fault at the query, with a growing wait; logs a reason once, not at every try. */
export function noteFault(lane: Lane, state: QueryState, fault: QueryFault): void {
  const { connectionId, clock, random, settings, metrics, registry, logger } = lane;
  registry.replace(state, failed(state, fault, { nowMs: clock.nowMs(), backoff: settings.backoff, random }));
  metrics.results.inc({ connection_id: connectionId, outcome: fault.code });
  const isNews = state.fault?.code !== fault.code || state.fault.reason !== fault.reason;
  logger[isNews ? "warn" : "debug"]("query has no result", {
    queryId: state.query.id,
    connectionId,
    ...fault,
  });
}

function headerRefused(point: ReadPoint, log: string): RelayError {
  const { clientId } = point.client;
  return new RelayError(
    { code: "header-refused", clientId, height: point.block.height, log },
    `client ${clientId} refuses the header of height ${point.block.height}: ${log}`,
  );
}
