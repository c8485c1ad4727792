import { pause, withTimeout } from "../../base/abort.ts";
import { backoffMs } from "../../base/backoff.ts";
import { errorText } from "../../base/errors.ts";
import { createWakeSignal } from "../../base/wake-signal.ts";
import { errorBackoff, errorKind } from "../relay-error.ts";
import { createBatchBudget } from "./batch-budget.ts";
import { createBlockBudget } from "./block-budget.ts";
import { createGasBook } from "./gas-book.ts";
import { land } from "./land.ts";
import { dropOld, launch } from "./launch.ts";
import { prepare } from "./prepare.ts";
import type { ProvenResult } from "./proven-result.ts";
import { rereadQueries } from "./reread.ts";
import { createResultQueue, type Entry } from "./result-queue.ts";
import {
  finish,
  type FlyingQuery,
  gasItem,
  hashText,
  move,
  type SubmitterDeps,
  type SubmitterOptions,
  type SubmitterState,
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
  /** Whether a result of the query waits for its broadcast. */
  readonly isWaiting: (queryId: bigint) => boolean;
  /** The result of the query that is in flight. */
  readonly flying: (queryId: bigint) => FlyingQuery | undefined;
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
/** Interval of reading the limits of a block again. They also count as unknown after a block had no room. */
const LIMITS_MS = 60_000;
/** Pauses between looking up the transactions in flight after a block. A node indexes them a moment later. */
const LAND_PAUSES_MS = [60, 200] as const;
/** Longest pause while transactions are in flight. */
const MAX_PAUSE_MS = 500;
const MAX_IDLE_MS = 3_000;

/** Creates a submitter. It sends nothing before it runs. */
export function createSubmitter(options: SubmitterOptions, deps: SubmitterDeps): Submitter {
  const state: SubmitterState = {
    options,
    deps,
    queue: createResultQueue(),
    gas: createGasBook(),
    block: createBlockBudget(options),
    batch: createBatchBudget(options.limits),
    prepared: [],
    sent: [],
    waiting: new Map(),
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
  };
  const offered = createWakeSignal();
  let hasOffer = false;
  return {
    address: deps.window.address,
    offer: (results) => {
      for (const result of results) add(state, result);
      hasOffer = true;
      offered.wake();
    },
    withdraw: (id) => {
      state.withdrawn.add(id);
      const waiting = [...state.queue.ofQuery(id), ...state.prepared.flatMap(({ entries }) => entries)];
      for (const entry of waiting.filter(
        ({ result, place }) => result.query.id === id && place === "pending",
      ))
        finish(state, entry, WITHDRAWN);
    },
    isWaiting: (id) => state.waiting.has(id),
    flying: (id) => state.flying.get(id),
    room: (connectionId) => roomOf(state, connectionId),
    gasOf: (id, guess) => state.gas.estimate({ key: `${id}`, guess }),
    sendMs: () => state.simulateMs + state.broadcastMs,
    status: () => statusOf(state),
    run: (signal) =>
      runLoop(state, signal, async (maxMs, version) => {
        if (!hasOffer && deps.height.version() === version)
          await withTimeout(maxMs, deps.clock, signal, (inner) =>
            Promise.race([offered.next(inner), deps.height.changedSince(version, maxMs, inner)]),
          );
        hasOffer = false;
      }),
  };
}

function add(state: SubmitterState, result: ProvenResult): void {
  const sinceMs = state.deps.clock.nowMs();
  state.deps.metrics.proven.inc({ connection_id: result.query.connectionId });
  const entry: Entry = { result, sinceMs, simulations: 0, place: "pending" };
  move(state, entry, "pending", true);
  state.withdrawn.delete(result.query.id);
  if (state.queue.bytes() + result.message.length > MAX_QUEUED_BYTES)
    return finish(state, entry, { kind: "unsent", reason: "the queue is full", error: undefined });
  const gone = state.queue.add(entry);
  if (gone !== undefined) finish(state, gone, { kind: "dropped", reason: "superseded" });
}

/** The room is one block ahead of the one in flight. */
function roomOf(state: SubmitterState, connectionId: string): bigint {
  const { deps, queue, prepared, block, gas, options } = state;
  if (deps.clock.monotonicMs() < state.stoppedUntilMs || queue.bytes() > MAX_QUEUED_BYTES / 2) return 0n;
  const waiting = [...queue.entries(), ...prepared.flatMap(({ entries }) => entries)];
  const gasOf = (entries: readonly Entry[]): bigint =>
    entries.reduce((sum, entry) => sum + gas.estimate(gasItem(entry)), 0n);
  const own = waiting.filter(({ result }) => result.query.connectionId === connectionId);
  const free = block.gas() - gasOf(waiting);
  const part = block.gas() / BigInt(options.connections) - gasOf(own);
  return free > part ? free : part;
}

type Wait = (maxMs: number, version: number) => Promise<void>;

async function runLoop(state: SubmitterState, signal: AbortSignal, wait: Wait): Promise<void> {
  const { deps } = state;
  const rhythm = { height: 0n, lookUps: 0, limitsAtMs: 0 };
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    // Read before the step, so that a block that arrives during it starts the next step at once.
    const version = deps.height.version();
    try {
      await step(state, rhythm, signal);
      if (lastError !== undefined) deps.logger.info("transactions can be sent again", { failures });
      [failures, lastError] = [0, undefined];
      await wait(pauseMs(state, rhythm), version);
    } catch (error) {
      if (signal.aborted) return;
      const kind = errorKind(error);
      deps.logger[kind === lastError ? "debug" : "warn"]("transactions cannot be sent", {
        reason: errorText(error),
      });
      lastError = kind;
      state.stopped = errorText(error);
      unsendAll(state, error instanceof Error ? error : new Error("failed", { cause: error }));
      await pause(backoffMs(failures++, errorBackoff(error), deps.random), deps.clock, signal);
    }
  }
}

interface Rhythm {
  /** Height of the last look-up of transactions in flight. */
  height: bigint;
  /** Look-ups at this height. */
  lookUps: number;
  limitsAtMs: number;
}

async function step(state: SubmitterState, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const { height, clock } = state.deps;
  const now = height.now();
  if (now === 0n) return;
  if (now + RESET_DISTANCE < rhythm.height) forgetChain(state);
  const isNew = now !== rhythm.height;
  rhythm.lookUps = isNew ? 1 : rhythm.lookUps + 1;
  rhythm.height = now;
  await Promise.all([
    state.sent.length > 0 ? land(state, signal) : undefined,
    isNew && (state.sent.length > 0 || state.waiting.size > 0) ? readPrice(state, signal) : undefined,
    clock.monotonicMs() >= rhythm.limitsAtMs ? readLimits(state, rhythm, signal) : undefined,
  ]);
  await rereadQueries(state, signal);
  dropOld(state);
  const { upkeep } = state.deps;
  if (upkeep?.isDue() === true) {
    // Nothing new is sent until the account is free.
    if (state.sent.length === 0) await upkeep.run(signal);
    return;
  }
  await launch(state, signal);
  const startedMs = clock.monotonicMs();
  if (await prepare(state, signal)) state.simulateMs = clock.monotonicMs() - startedMs;
  await launch(state, signal);
}

const RESET_DISTANCE = 20n;

function forgetChain(state: SubmitterState): void {
  state.included.clear();
  state.doubts.clear();
}

/** In parallel with the look-up of what is in flight, so that the next broadcast need not wait for it. */
async function readPrice(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const height = state.deps.height.now();
  state.price = { height, gasPrice: await state.deps.window.gasPrice(signal) };
}

async function readLimits(state: SubmitterState, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const { deps, block } = state;
  rhythm.limitsAtMs = deps.clock.monotonicMs() + LIMITS_MS;
  try {
    forgetRemoved(state);
    block.setLimits(await deps.readBlockLimits(signal));
  } catch (error) {
    signal.throwIfAborted();
    // The last known limits stay. The next read follows soon.
    rhythm.limitsAtMs = deps.clock.monotonicMs() + LIMITS_MS / 10;
    deps.logger.debug("limits of a block cannot be read", { reason: errorText(error) });
  }
}

/** Forgets what was learned about queries that exist no more. */
function forgetRemoved({ deps, gas, doubts, withdrawn }: SubmitterState): void {
  const isGone = (id: bigint): boolean => deps.registry.state(id) === undefined;
  // The other keys are those of client updates.
  gas.keepOnly((key) => !/^\d+$/.test(key) || !isGone(BigInt(key)));
  for (const id of doubts.keys()) if (isGone(id)) doubts.delete(id);
  for (const id of withdrawn) if (isGone(id)) withdrawn.delete(id);
}

function pauseMs(state: SubmitterState, { lookUps }: Rhythm): number {
  if (state.sent.length === 0) return state.waiting.size > 0 ? MAX_PAUSE_MS : MAX_IDLE_MS;
  return LAND_PAUSES_MS[lookUps - 1] ?? MAX_PAUSE_MS;
}

/** Nothing can be sent. Results that are not broadcast are read again later. */
function unsendAll(state: SubmitterState, error: Error): void {
  const waiting = [...state.queue.entries(), ...state.prepared.flatMap(({ entries }) => entries)];
  for (const entry of waiting) finish(state, entry, { kind: "unsent", reason: errorText(error), error });
  state.prepared = [];
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

function statusOf(state: SubmitterState): SubmitterStatus {
  const { waiting, sent, block, deps, gas } = state;
  return {
    inFlight: sent.map(({ tx, slots, gas: expected }) => ({
      hash: hashText(tx.hash),
      sequence: tx.sequence,
      results: slots.filter(({ kind }) => kind === "result").length,
      gas: expected,
      bytes: tx.size,
      ageMs: deps.clock.nowMs() - tx.sentAtMs,
    })),
    queued: sum(waiting.values()),
    budget: block.status(),
    gasOf: (queryId) => gas.known(`${queryId}`),
    stopped: state.stopped,
  };
}
