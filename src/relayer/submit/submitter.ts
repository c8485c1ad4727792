import { createChangeSignal } from "../../platform/base/waits.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import { createBatchBudget } from "./batch-budget.ts";
import { createBlockBudget } from "./block-budget.ts";
import { createGasBook } from "./gas-book.ts";
import type { ProvenResult } from "./proven-result.ts";
import { createResultQueue, type Entry } from "./result-queue.ts";
import { runPreparing, runSending } from "./send-loop.ts";
import {
  type ExpectedResult,
  finish,
  gasOfResults,
  hashText,
  type LeavingResult,
  type SubmitterDeps,
  type SubmitterOptions,
  type SubmitterState,
  unsent,
  unsentOf,
  WITHDRAWN,
} from "./submitter-state.ts";
import type { SubmitterStatus } from "./submitter-status.ts";

/** Takes proven results of all connections and brings them into blocks. */
export interface Submitter {
  /** Bech32 address of the account. */
  readonly address: string;
  /**
   * Notes KV results that are being read and proven, at most one of a query. Returns a function to be called once, before they
   * are offered or given up.
   */
  readonly expect: (results: readonly ExpectedResult[]) => () => void;
  /** Accepts results. Each is settled once. A result that does not fit is settled at once, as unsent. */
  readonly offer: (results: readonly ProvenResult[]) => void;
  /** Settles the waiting results of a query as unsent: the ones before them must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
  /**
   * Whether a further result of the query may be read. Of a KV query, two may be on their way to their broadcast: one is read
   * while the other one waits for its block. None may be when its last result is not known.
   */
  readonly mayRead: (query: Pick<RegisteredQuery, "id" | "type">) => boolean;
  /** The newest result of the query that is expected, waits or is in flight. */
  readonly leaving: (queryId: bigint) => LeavingResult | undefined;
  /**
   * Gas of further KV results of the connection that can be sent soon. More would only grow old in the queue. A connection
   * always has its part of a block, whatever the others have in the queue. `lead`: blocks by which the results are read early.
   */
  readonly room: (connectionId: string, lead: bigint) => bigint;
  /** Expected gas of a result. */
  readonly gasOf: (queryId: bigint, guess: bigint) => bigint;
  /** Time that simulation and broadcast take, ms. */
  readonly sendMs: () => number;
  readonly status: () => SubmitterStatus;
  /** Runs until the signal aborts. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Results of all queries that may wait, bytes of their messages. */
const MAX_QUEUED_BYTES = 64_000_000;

/** Creates a submitter. It sends nothing before it runs. */
export function createSubmitter(options: SubmitterOptions, deps: SubmitterDeps): Submitter {
  return submitterOf(createSubmitterState(options, deps));
}

/** Creates the state of a submitter without results. */
export function createSubmitterState(options: SubmitterOptions, deps: SubmitterDeps): SubmitterState {
  return {
    options,
    deps,
    expected: new Map(),
    queue: createResultQueue(),
    gas: createGasBook(),
    block: createBlockBudget(options),
    batch: createBatchBudget(options.limits),
    prepared: [],
    launching: [],
    sent: [],
    planned: new Map(),
    flying: new Map(),
    doubts: new Map(),
    withdrawn: new Set(),
    unread: new Set(),
    included: new Set(),
    price: undefined,
    simulateMs: 0,
    broadcastMs: 0,
    heldBelow: 0n,
    stoppedUntilMs: 0,
    stopped: undefined,
    work: createChangeSignal(deps.clock),
  };
}

/** Creates a submitter with this state. */
export function submitterOf(state: SubmitterState): Submitter {
  const { deps } = state;
  return {
    address: deps.window.address,
    expect: (results) => expect(state, results),
    offer: (results) => {
      for (const result of results) add(state, result);
      state.work.wake();
    },
    withdraw: (id) => {
      state.withdrawn.add(id);
      for (const entry of unsentOf(state, id)) finish(state, entry, WITHDRAWN);
    },
    mayRead: (query) => mayRead(state, query),
    leaving: (id) => leavingOf(state, id),
    room: (connectionId, lead) => roomOf(state, connectionId, lead),
    gasOf: (id, guess) => state.gas.estimate({ key: `${id}`, guess }),
    sendMs: () => state.simulateMs + state.broadcastMs,
    status: () => statusOf(state),
    run: async (signal) => {
      await Promise.all([runSending(state, signal), runPreparing(state, signal)]);
    },
  };
}

function add(state: SubmitterState, result: ProvenResult): void {
  const sinceMs = state.deps.clock.monotonicMs();
  state.deps.metrics.proven.inc({ connection_id: result.query.connectionId });
  const entry: Entry = { result, sinceMs, simulations: 0, place: "queued" };
  state.withdrawn.delete(result.query.id);
  if (state.queue.bytes() + result.message.length > MAX_QUEUED_BYTES)
    return finish(state, entry, { kind: "unsent", reason: "the queue is full", error: undefined });
  const gone = state.queue.add(entry);
  if (gone !== undefined) finish(state, gone, { kind: "dropped", reason: "superseded" });
}

/**
 * The room is one block behind the one that is in flight or leaves next, and a block more for a lead of 2. There is none
 * while much of the connection waits for a later block: small groups of queries would follow each other, each with the
 * round trips of a cycle, and would be in every second block only.
 */
function roomOf(state: SubmitterState, connectionId: string, lead: bigint): bigint {
  const { deps, queue, block, options } = state;
  if (deps.clock.monotonicMs() < state.stoppedUntilMs || queue.bytes() > MAX_QUEUED_BYTES / 2) return 0n;
  const waiting = [...[...state.expected.values()].flat(), ...unsent(state).map(({ result }) => result)];
  const now = deps.height.now();
  // What was sent before the newest block is probably in it, and only not looked up yet.
  const inFlight = [...state.flying.values()].reduce(
    (sum, { sentAt, gas: own }) => (sentAt < now ? sum : sum + own),
    0n,
  );
  const leaving = max(block.gas() - inFlight, 0n) + block.gas() * max(lead - 1n, 0n);
  const connections = BigInt(options.connections);
  const part = block.gas() / connections;
  const own = waiting.filter(({ query }) => query.connectionId === connectionId);
  const ownGas = max(gasOfResults(state, own) - leaving / connections, 0n);
  const free = block.gas() - max(gasOfResults(state, waiting) - leaving, 0n);
  return ownGas * 4n > part ? 0n : max(free, part - ownGas);
}

function expect({ expected }: SubmitterState, results: readonly ExpectedResult[]): () => void {
  for (const one of results) expected.set(one.query.id, [...(expected.get(one.query.id) ?? []), one]);
  return () => {
    for (const one of results) {
      const others = (expected.get(one.query.id) ?? []).filter((other) => other !== one);
      if (others.length > 0) expected.set(one.query.id, others);
      else expected.delete(one.query.id);
    }
  };
}

/** Remote heights of the results of a query that are not broadcast, the oldest first. */
function heightsOf(state: SubmitterState, id: bigint): readonly RemoteHeight[] {
  const waiting = unsentOf(state, id).map(({ result }) => result.at);
  return [...waiting, ...(state.expected.get(id) ?? []).map(({ at }) => at)];
}

function mayRead(state: SubmitterState, { id, type }: Pick<RegisteredQuery, "id" | "type">): boolean {
  if (state.unread.has(id)) return false;
  const waiting = heightsOf(state, id).length;
  return type === "kv" ? waiting < 2 : waiting === 0 && !state.flying.has(id);
}

/** A result that waits follows the one in flight, which is at the latest in the next block. */
function leavingOf(state: SubmitterState, id: bigint): LeavingResult | undefined {
  const before = state.flying.get(id);
  const at = heightsOf(state, id).at(-1);
  if (at === undefined) return before;
  const now = state.deps.height.now();
  return { sentAt: before?.sentAt === now ? now + 1n : now, at };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function statusOf(state: SubmitterState): SubmitterStatus {
  const { sent, block, gas } = state;
  return {
    inFlight: sent.map(({ tx, slots, gas: expected }) => ({
      hash: hashText(tx.hash),
      sequence: tx.sequence,
      results: slots.filter(({ kind }) => kind === "result").length,
      gas: expected,
      bytes: tx.size,
    })),
    queued: unsent(state).length + state.launching.length,
    budget: block.status(),
    gasOf: (queryId) => gas.known(`${queryId}`),
    stopped: state.stopped,
  };
}
