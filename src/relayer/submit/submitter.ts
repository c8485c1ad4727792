import type { RegisteredQuery } from "../chain/registered-query.ts";
import { sentAtOf, unsentOf } from "./pipeline.ts";
import type {
  ExpectedResult,
  ProvenResult,
  DepartingResult,
  Reservation,
  ResultSubmitter,
} from "../result/proven-result.ts";
import { runPreparing, runSending } from "./send-loop.ts";
import {
  byNeed,
  recordOutcome,
  recordReach,
  resolve,
  type SubmitterState,
  SUPERSEDED,
  unsent,
  urgentRule,
  urgentRules,
  WITHDRAWN,
} from "./submitter-state.ts";
import { gasOf } from "./transaction.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { upperHex } from "../../platform/base/bytes.ts";

/** Sends the proven results of all connections to the local chain, and tracks each result until its outcome is known. */
export interface Submitter extends ResultSubmitter {
  /** Returns the gas per result that the submitter has learned for a query; undefined if nothing has been learned yet. */
  readonly gasOf: (queryId: bigint) => bigint | undefined;
  /** Resets the time for which no broadcast has reached a node. Call `beginTerm` when this process starts to send. */
  readonly beginTerm: () => void;
  /** Returns the submitter's status, in O(n) time for n results in the pipeline. */
  readonly status: () => SubmitterStatus;
  /** Sends results until the signal aborts. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Maximum total size of the queued results' messages, in bytes. */
const MAX_QUEUED_BYTES = 64_000_000;

export function submitterOf(state: SubmitterState): Submitter {
  return {
    address: state.deps.window.address,
    view: (connectionId) => ({
      sendMs: state.pace.simulateMs + state.pace.broadcastMs,
      lookAhead: (own) => lookAheadOf(state, connectionId, own),
      mayRead: (query) => mayRead(state, query),
      newest: (queryId) => newestOf(state, queryId),
      capacity: (lookAhead) => capacityOf(state, connectionId, lookAhead).gas,
      isUrgent: (query) => urgentRule(state, query) !== undefined,
    }),
    reserve: (connectionId, candidates, lookAhead) => {
      const results = choose(state, connectionId, candidates, lookAhead);
      return { results, ids: state.pipeline.expect(results, state.deps.height.now()) };
    },
    offer: (results, reservation) => offer(state, results, reservation),
    endTurn: state.order.recordIncluded,
    withdraw: (id) => {
      state.queries.withdrawn.add(id);
      const { planned, queued } = state.pipeline.ofQuery(id);
      for (const entry of [...planned, ...queued]) resolve(state, entry, WITHDRAWN);
    },
    gasOf: state.gas.known,
    beginTerm: () => recordReach(state, true),
    status: () => statusOf(state),
    run: async (signal) => {
      await Promise.all([runSending(state, signal), runPreparing(state, signal)]);
    },
  };
}

function offer(state: SubmitterState, results: readonly ProvenResult[], reservation?: Reservation): void {
  const ids = new Map(reservation?.results.map(({ query }, index) => [query.id, reservation.ids[index]]));
  // Give up failed results and queue proven results in the same step, so that no failed result appears to be still expected.
  const offered = new Set(results.map(({ query }) => query.id));
  state.pipeline.giveUp(
    [...ids].flatMap(([queryId, id]) => (id === undefined || offered.has(queryId) ? [] : [id])),
  );
  for (const result of results) add(state, result, ids.get(result.query.id));
  state.work.wake();
}

function add(state: SubmitterState, result: ProvenResult, id: number | undefined): void {
  const { pipeline, queries, deps } = state;
  deps.metrics.proven.inc({ connection_id: result.query.connectionId });
  queries.withdrawn.delete(result.query.id);
  if (pipeline.queuedBytes() + result.message.length > MAX_QUEUED_BYTES) {
    if (id !== undefined) pipeline.giveUp([id]);
    const outcome = { kind: "unsent", reason: "the queue is full", error: undefined } as const;
    return recordOutcome(state, { result, simulations: 0 }, outcome);
  }
  const { displaced } = pipeline.queue(result, deps.clock.monotonicMs(), id);
  if (displaced !== undefined) resolve(state, displaced, SUPERSEDED);
}

interface Capacity {
  readonly gas: bigint;
  /** Gas that will be sent before newly read results become due. */
  readonly leaving: bigint;
  /** Gas that is still free in the connection's share of a block. */
  readonly ownPart: bigint;
}

/**
 * Returns the gas for which a connection may read results: the gas of the block after the block in flight or sent next. A
 * look-ahead of 2 adds another block. The capacity is 0 while most of the connection's share of the block is taken. Otherwise, the
 * connection would read many small groups of queries, each of which costs a cycle's round trips.
 */
function capacityOf(state: SubmitterState, connectionId: string, lookAhead: bigint): Capacity {
  const { deps, pipeline, block, options, pace } = state;
  // The remaining gas in the next block and, for a look-ahead of 2, the entire block after it.
  const leaving = freeGas(state) + block.gas() * maxInt(lookAhead - 1n, 0n);
  const waiting = [...pipeline.expected(), ...unsent(state)];
  const waitingGas = gasOf(state, waiting);
  const connections = BigInt(options.connections);
  const part = block.gas() / connections;
  const own = waiting.filter(({ result }) => result.query.connectionId === connectionId);
  const ownPart = part - maxInt(gasOf(state, own) - leaving / connections, 0n);
  const free = block.gas() - maxInt(waitingGas - leaving, 0n);
  const isStopped =
    deps.clock.monotonicMs() < pace.stoppedUntilMs || pipeline.queuedBytes() > MAX_QUEUED_BYTES / 2;
  // If the whole queue can be sent, no result has to wait for a later block, so skip the sort.
  const later = waitingGas > leaving ? gasBehind(state, waiting, { leaving, connectionId }) : 0n;
  // Stop reading once three quarters of the share are taken. With a lower limit, a cycle would start only in every second block
  // although blocks are full, because a cycle takes about a block.
  const gas = isStopped || later * 4n > 3n * part ? 0n : maxInt(free, ownPart);
  return { gas, leaving, ownPart };
}

/** Returns the gas that the relayer may still use in the next block. */
function freeGas({ deps, pipeline, block }: SubmitterState): bigint {
  const now = deps.height.now();
  // A transaction sent before the newest block is probably in that block, but has not been looked up yet.
  const inFlight = pipeline.sent().reduce((sum, { stage }) => {
    const isNew = (stage.kind === "broadcasting" || stage.kind === "in-flight") && stage.sentAt >= now;
    return isNew ? sum + stage.gas : sum;
  }, 0n);
  return maxInt(block.gas() - inFlight, 0n);
}

function lookAheadOf(state: SubmitterState, connectionId: string, own: bigint): bigint {
  const { lookAheads, pipeline } = state;
  lookAheads.set(connectionId, own);
  if (own > 0n || ![...lookAheads.values()].some((blocks) => blocks > 0n)) return own;
  const isFull = gasOf(state, [...pipeline.expected(), ...unsent(state)]) > freeGas(state);
  return isFull ? 1n : 0n;
}

/** Returns the gas of a connection's results that must wait if results are sent by need and only `leaving` gas is available. */
function gasBehind(
  state: SubmitterState,
  waiting: readonly { readonly result: ExpectedResult }[],
  { leaving, connectionId }: { readonly leaving: bigint; readonly connectionId: string },
): bigint {
  let before = 0n;
  let behind = 0n;
  for (const one of byNeed(state, waiting)) {
    const gas = gasOf(state, [one]);
    const cut = maxInt(before + gas - maxInt(leaving, before), 0n);
    if (one.result.query.connectionId === connectionId) behind += cut;
    before += gas;
  }
  return behind;
}

/**
 * Returns the candidates that can be sent soon, in order of need. Other connections' queued results come first if they have been
 * due longer, but each connection always gets its share of a block.
 */
function choose(
  state: SubmitterState,
  connectionId: string,
  candidates: readonly ExpectedResult[],
  lookAhead: bigint,
): readonly ExpectedResult[] {
  const { gas, leaving, ownPart } = capacityOf(state, connectionId, lookAhead);
  if (gas <= 0n) return urgentOf(state, candidates);
  const waiting = [...state.pipeline.expected(), ...unsent(state)];
  const all = byNeed(state, [
    ...waiting.map(({ result }) => ({ result, isCandidate: false })),
    ...candidates.map((result) => ({ result, isCandidate: true })),
  ]);
  const chosen: ExpectedResult[] = [];
  const end = leaving + state.block.gas();
  let before = 0n;
  let own = 0n;
  for (const one of all) {
    // Also read the result that crosses the limit, because its gas is only an estimate.
    const isFull = before >= end && own >= ownPart;
    if (one.isCandidate && isFull) break;
    const oneGas = gasOf(state, [one]);
    before += oneGas;
    if (!one.isCandidate) continue;
    own += oneGas;
    chosen.push(one.result);
  }
  return chosen;
}

/** Returns the urgent candidates that fit in a block. */
function urgentOf(state: SubmitterState, candidates: readonly ExpectedResult[]): readonly ExpectedResult[] {
  const ruleOf = urgentRules(state);
  const urgent = candidates.filter(({ query }) => ruleOf(query) !== undefined);
  const most = state.block.status().chainGas / 2n;
  let gas = 0n;
  const fitting = byNeed(
    state,
    urgent.map((result) => ({ result })),
  ).filter((one) => (gas += gasOf(state, [one])) <= most);
  return fitting.map(({ result }) => result);
}

function mayRead(
  { queries, pipeline }: SubmitterState,
  { id, type }: Pick<RegisteredQuery, "id" | "type">,
): boolean {
  if (queries.unread.has(id)) return false;
  const own = pipeline.ofQuery(id);
  const { count } = unsentOf(own);
  return type === "kv" ? count < 2 : count === 0 && own.sent.length === 0;
}

/** Returns a query's newest result. A queued result is sent after the result in flight, which the next block should include. */
function newestOf({ pipeline, deps }: SubmitterState, id: bigint): DepartingResult | undefined {
  const own = pipeline.ofQuery(id);
  const sentAt = sentAtOf(own);
  const { newest } = unsentOf(own);
  const inFlight = own.sent.at(-1)?.result.at;
  if (newest === undefined)
    return sentAt === undefined || inFlight === undefined ? undefined : { sentAt, at: inFlight };
  const now = deps.height.now();
  return { sentAt: sentAt === now ? now + 1n : now, at: newest };
}

function statusOf(state: SubmitterState) {
  const { sent, block, pipeline, pace, deps } = state;
  return {
    /** Transactions that were broadcast but are not final, in ascending order of their sequences. */
    inFlight: sent.map(({ tx, slots, gas: expected }) => ({
      /** The transaction's hash in upper-case hex, as block explorers show it. */
      hash: upperHex(tx.hash),
      sequence: tx.sequence,
      results: slots.filter(({ kind }) => kind === "result").length,
      /** Gas that the transaction is expected to use, not its gas limit. */
      gas: expected,
      bytes: tx.size,
    })),
    /** Number of proven results whose transaction no node has accepted yet. */
    queued:
      unsent(state).length + pipeline.sent().filter(({ stage }) => stage.kind === "broadcasting").length,
    budget: block.status(),
    /** Reason why no transaction is currently sent; undefined while transactions may be sent. */
    stopped: pace.stopped,
    /** Time for which no broadcast or simulation has reached a node, ms; 0 if the last request reached a node. */
    muteMs: pace.muteSinceMs === undefined ? 0 : deps.clock.monotonicMs() - pace.muteSinceMs,
  };
}

type SubmitterStatus = ReturnType<typeof statusOf>;
