import { createChangeSignal } from "../../base/change-signal.ts";
import { createBatchBudget } from "./batch-budget.ts";
import { createBlockBudget } from "./block-budget.ts";
import { createGasBook } from "./gas-book.ts";
import type { ProvenResult } from "./proven-result.ts";
import { createResultQueue, type Entry } from "./result-queue.ts";
import { runPreparing, runSending } from "./send-loop.ts";
import {
  finish,
  gasItem,
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
  /** Accepts results. Each is settled once. A result that does not fit is settled at once, as unsent. */
  readonly offer: (results: readonly ProvenResult[]) => void;
  /** Settles the waiting results of a query as unsent: the ones before them must be sent first. */
  readonly withdraw: (queryId: bigint) => void;
  /** Whether a result of the query waits to be planned, or its last result is not known. */
  readonly isWaiting: (queryId: bigint) => boolean;
  /** The newest result of the query that is in flight or planned. */
  readonly leaving: (queryId: bigint) => LeavingResult | undefined;
  /**
   * Gas of further KV results of the connection that can be sent soon. More would only grow old in the queue. A connection
   * always has its part of a block, whatever the others have in the queue.
   */
  readonly room: (connectionId: string) => bigint;
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
    offer: (results) => {
      for (const result of results) add(state, result);
      state.work.wake();
    },
    withdraw: (id) => {
      state.withdrawn.add(id);
      for (const entry of unsentOf(state, id)) finish(state, entry, WITHDRAWN);
    },
    isWaiting: (id) => state.queue.ofQuery(id).length > 0 || state.unread.has(id),
    leaving: (id) => leavingOf(state, id),
    room: (connectionId) => roomOf(state, connectionId),
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
 * The room is one block behind the one that is in flight or leaves next. There is none while much of the connection waits
 * for a later block: small groups of queries would follow each other, each with the round trips of a cycle, and would be in
 * every second block only.
 */
function roomOf(state: SubmitterState, connectionId: string): bigint {
  const { deps, queue, block, gas, options } = state;
  if (deps.clock.monotonicMs() < state.stoppedUntilMs || queue.bytes() > MAX_QUEUED_BYTES / 2) return 0n;
  const waiting = unsent(state);
  const gasOf = (entries: readonly Entry[]): bigint =>
    entries.reduce((sum, entry) => sum + gas.estimate(gasItem(entry)), 0n);
  const now = deps.height.now();
  // What was sent before the newest block is probably in it, and only not looked up yet.
  const inFlight = [...state.flying.values()].reduce(
    (sum, { sentAt, gas: own }) => (sentAt < now ? sum : sum + own),
    0n,
  );
  const leaving = max(block.gas() - inFlight, 0n);
  const connections = BigInt(options.connections);
  const part = block.gas() / connections;
  const own = waiting.filter(({ result }) => result.query.connectionId === connectionId);
  const ownGas = max(gasOf(own) - leaving / connections, 0n);
  const free = block.gas() - max(gasOf(waiting) - leaving, 0n);
  return ownGas * 4n > part ? 0n : max(free, part - ownGas);
}

/** A planned result follows the one in flight, which is at the latest in the next block. */
function leavingOf({ planned, flying, deps }: SubmitterState, id: bigint): LeavingResult | undefined {
  const before = flying.get(id);
  const [next] = planned.get(id) ?? [];
  if (next === undefined) return before;
  const now = deps.height.now();
  return { sentAt: before?.sentAt === now ? now + 1n : now, at: next.result.at };
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
