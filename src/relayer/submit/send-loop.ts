import { retry } from "../../platform/base/retry.ts";
import { pause, waitAtMost } from "../../platform/base/abort.ts";
import { quoDec18 } from "../../platform/base/decimal.ts";
import { errorText } from "../../platform/base/errors.ts";
import { errorBackoff, errorKind } from "../chain/relay-error.ts";
import { confirm, recordComplete } from "./confirm.ts";
import { dropOld } from "./choose.ts";
import { isPriceGood, broadcastPrepared } from "./broadcast.ts";
import { sentAtOf } from "./pipeline.ts";
import { prepare } from "./prepare.ts";
import type { Backlog } from "../gas-budget/budget.ts";
import { rereadQueries } from "./apply-failure.ts";
import { dueHeightOf, isDue } from "../registry/query-state.ts";
import { gasOf } from "./transaction.ts";
import { resolve, type SubmitterState, unsent } from "./submitter-state.ts";
import { GAS_PER_KEY } from "../result/proven-result.ts";

const LIMITS_MS = 60_000;
/**
 * Delays in ms between the first lookups of transactions in flight after a new block. A node indexes a block's transactions shortly
 * after it publishes the block, so the first lookup may be too early.
 */
const LOOK_PAUSES_MS = [60, 200] as const;
const MIN_PAUSE_MS = 20;
/** Maximum pause while a result is queued or in flight. */
const MAX_PAUSE_MS = 500;
const MAX_IDLE_MS = 3_000;

/**
 * Plans and simulates queued results until the signal aborts. Never rejects. Runs in parallel with {@link runSending}, so that
 * the next broadcast does not wait for the simulations' round trips.
 */
export async function runPreparing(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { clock, height, upkeep } = state.deps;
  while (!signal.aborted) {
    const seen = versions(state);
    const startedMs = clock.monotonicMs();
    try {
      if (height.now() > 0n && upkeep?.isDue() !== true && (await prepare(state, signal))) {
        state.pace.simulateMs = clock.monotonicMs() - startedMs;
        state.work.wake();
        // Pause, because results requeued by a simulation may fail again.
        await pause(MIN_PAUSE_MS, clock, signal);
      }
      await changedSince(state, seen, hasUnsent(state) ? MAX_PAUSE_MS : MAX_IDLE_MS, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Broadcasts prepared transactions, and confirms transactions in flight, until the signal aborts. Never rejects. */
export async function runSending(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { deps } = state;
  const rhythm: Rhythm = {
    resetSignal: deps.registry.resetSignal(),
    height: 0n,
    lookUps: 0,
    lookAtMs: 0,
    limitsAtMs: 0,
    areLimitsOld: false,
  };
  const tries = { failures: 0 };
  let lastError: string | undefined;
  const runSteps = async (): Promise<void> => {
    while (!signal.aborted) {
      // Read the versions before the step, so that a block that arrives during the step immediately starts the next step.
      const seen = versions(state);
      await step(state, rhythm, signal);
      tries.failures = 0;
      // A step may have had nothing to send. Only an accepted transaction, which clears `stopped`, shows that sending works.
      if (lastError !== undefined && state.pace.stopped === undefined) {
        deps.logger.info("transactions can be sent again");
        lastError = undefined;
      }
      await changedSince(state, seen, pauseMs(state, rhythm), signal);
    }
  };
  const onError = (error: unknown): void => {
    const kind = errorKind(error);
    deps.logger[kind === lastError ? "debug" : "warn"]("transactions cannot be sent", {
      reason: errorText(error),
    });
    lastError = kind;
    state.pace.stopped = errorText(error);
    unsendAll(state, error instanceof Error ? error : new Error("failed", { cause: error }));
  };
  await retry(runSteps, { ...deps, backoff: errorBackoff, signal, tries, onError });
}

interface Versions {
  readonly height: number;
  readonly work: number;
}

function versions({ deps, work }: SubmitterState): Versions {
  return { height: deps.height.version(), work: work.version() };
}

/** Waits at most `maxMs` for a new height or new work. */
async function changedSince(
  { deps, work }: SubmitterState,
  seen: Versions,
  maxMs: number,
  signal: AbortSignal,
): Promise<void> {
  await waitAtMost(maxMs, deps.clock, signal, (inner) =>
    Promise.race([deps.height.changed(seen.height, inner), work.changed(seen.work, inner)]),
  );
}

interface Rhythm {
  /** Signal that is aborted if the local chain was reset since the last step. */
  resetSignal: AbortSignal;
  height: bigint;
  lookUps: number;
  /** Monotonic time of the next lookup of transactions in flight, ms. */
  lookAtMs: number;
  /** Monotonic time of the next read of the block limits, ms. */
  limitsAtMs: number;
  areLimitsOld: boolean;
}

async function step(state: SubmitterState, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const { height, clock, registry, upkeep } = state.deps;
  const now = height.now();
  if (now === 0n) return;
  if (rhythm.resetSignal.aborted) {
    rhythm.resetSignal = registry.resetSignal();
    forgetChain(state);
  }
  const isNew = now !== rhythm.height;
  if (isNew) {
    [rhythm.height, rhythm.lookUps, rhythm.lookAtMs] = [now, 0, 0];
    state.pace.firstBlock ??= { height: now, atMs: clock.monotonicMs() };
    planBudget(state);
  }
  const sentBefore = state.sent.length;
  const limits = clock.monotonicMs() >= rhythm.limitsAtMs ? readLimits(state, rhythm, signal) : undefined;
  await Promise.all([
    state.sent.length > 0 && clock.monotonicMs() >= rhythm.lookAtMs
      ? lookUp(state, rhythm, signal)
      : undefined,
    limits,
    followMarket(state, { height: now, isNew, limits }, signal),
  ]);
  recordComplete(state);
  await rereadQueries(state, signal);
  dropOld(state);
  // Plan the budget again if a block has arrived or transactions have become final since the last plan.
  if (height.now() !== now || state.sent.length < sentBefore) planBudget(state);
  // Send nothing new until the upkeep has used the account.
  if (upkeep?.isDue() === true) return state.sent.length === 0 ? await upkeep.run(signal) : undefined;
  const hadNone = state.sent.length === 0;
  await broadcastPrepared(state, signal);
  // The next block is the first block that can include the new transactions.
  if (hadNone) rhythm.lookAtMs = clock.monotonicMs() + MAX_PAUSE_MS;
}

async function lookUp(state: SubmitterState, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const pauseAfterMs = LOOK_PAUSES_MS[rhythm.lookUps] ?? MAX_PAUSE_MS;
  rhythm.lookUps += 1;
  await confirm(state, signal);
  rhythm.lookAtMs = state.deps.clock.monotonicMs() + pauseAfterMs;
}

function pauseMs(state: SubmitterState, { lookAtMs }: Rhythm): number {
  const { height, clock } = state.deps;
  // Transactions can be looked up only once the local height is known.
  if (state.sent.length > 0 && height.now() > 0n)
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, lookAtMs - clock.monotonicMs()));
  return hasUnsent(state) ? MAX_PAUSE_MS : MAX_IDLE_MS;
}

function hasUnsent({ pipeline }: SubmitterState): boolean {
  return pipeline.queuedCount() > 0 || pipeline.planned().length > 0;
}

/**
 * Clears the state from before a reset of the local chain. Drops all results, because their query ids may now belong to other
 * queries, and their client updates may rely on consensus states that no longer exist. Transactions in flight remain until they are
 * final, because a block may still include them.
 */
function forgetChain(state: SubmitterState): void {
  for (const entry of [...unsent(state), ...state.pipeline.sent()])
    resolve(state, entry, { kind: "dropped", reason: "removed" });
  state.deps.window.reset();
  state.included.clear();
  state.queries.isolated.clear();
  [state.pace.heldBelow, state.pace.simulatedFrom, state.pace.firstBlock] = [0n, 0n, undefined];
}

/** Reads the fee market after each new block. At startup, also reads it once the block limits are known, before anything is sent. */
async function followMarket(
  state: SubmitterState,
  {
    height,
    isNew,
    limits,
  }: { readonly height: bigint; readonly isNew: boolean; readonly limits: Promise<void> | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { market } = state;
  const isFirst = market.params() === undefined && limits !== undefined;
  if (isFirst) await limits;
  if (isFirst) planBudget(state);
  if (isNew || (isFirst && market.params() !== undefined)) await readMarket(state, height, signal);
}

/** Maximum number of concurrent fee market reads, so that reads do not accumulate on a slow node. */
const MAX_MARKET_READS = 3;

/**
 * Reads the fee market after a block, or only the price if the chain has no fee market. Until the read ends, this height's budget
 * and price are predictions. Waits for the read only if no prediction is possible.
 */
async function readMarket(state: SubmitterState, height: bigint, signal: AbortSignal): Promise<void> {
  const { market, pace } = state;
  if (market.params() !== undefined && pace.marketReads < MAX_MARKET_READS) {
    const done = readMarketState(state, height, signal);
    if (!market.isKnown(height)) await done;
  }
  if (market.priceAt(height) === undefined && (state.sent.length > 0 || hasUnsent(state)))
    await readPrice(state, height, signal);
}

async function readMarketState(state: SubmitterState, height: bigint, signal: AbortSignal): Promise<void> {
  const { market, pace, deps } = state;
  pace.marketReads += 1;
  try {
    market.recordState(height, await deps.readMarketState(height, signal));
    if (pace.isMarketLost) deps.logger.info("the fee market can be read again", { height });
    pace.isMarketLost = false;
    planBudget(state);
    state.work.wake();
    // Urgency depends on the price, so wake the workers now that the price is known.
    if (deps.urgency.hasRules) deps.height.wake();
  } catch (error) {
    if (signal.aborted) return;
    const reason = errorText(error);
    // Until several reads have failed, the market's state is computed from the last known state. The next block triggers a new
    // read.
    if (pace.isMarketLost || market.isKnown(height))
      return deps.logger.debug("a read of the fee market failed", { height, reason });
    pace.isMarketLost = true;
    deps.logger.warn("the fee market cannot be read, blocks get its target less others' gas", {
      reason,
    });
  } finally {
    pace.marketReads -= 1;
  }
}

function planBudget(state: SubmitterState): void {
  const { market, deps } = state;
  if (market.params() !== undefined) market.plan(deps.height.now(), backlogOf(state));
}

/** A result that has been due for longer than this belongs to an old backlog. */
const OLD_BACKLOG_MS = 60_000;

/** Returns the gas of the results that the next block should contain: one result per due KV query, read or not, and unsent TX results. */
function backlogOf(state: SubmitterState): Backlog {
  const { deps, pipeline, pace } = state;
  const height = deps.height.now();
  const nowMs = deps.clock.monotonicMs();
  const blockMs = pace.firstBlock && blockTimeMs(pace.firstBlock, { height, atMs: nowMs });
  let [gas, oldGas, demand] = [0n, 0n, 0];
  for (const known of deps.registry.states()) {
    const { query } = known;
    if (query.type === "tx") continue;
    const own = gasOf(state, [{ result: { query, gasGuess: GAS_PER_KEY * BigInt(query.keys.length) } }]);
    if (known.error === undefined) demand += Number(own) / Math.max(1, Number(query.updatePeriod));
    // A transaction that was sent before the newest block is probably in that block but has not been looked up yet. A transaction
    // that was sent after the newest block will use part of the next block, so its results are still due. Otherwise, a second plan
    // would find fewer due results than the first plan.
    const sentAt = sentAtOf(pipeline.ofQuery(query.id));
    const isAnswered = sentAt !== undefined && sentAt < height;
    const at = isAnswered ? { ...known, query: { ...query, lastLocalHeight: sentAt + 1n } } : known;
    if (!isDue(at, height, nowMs)) continue;
    gas += own;
    const { lastLocalHeight, registeredAtHeight } = at.query;
    const lateBlocks = Number(height - (lastLocalHeight === 0n ? registeredAtHeight : dueHeightOf(at)));
    if (blockMs !== undefined && lateBlocks * blockMs > OLD_BACKLOG_MS) oldGas += own;
  }
  for (const { result } of unsent(state)) if (result.query.type === "tx") gas += gasOf(state, [{ result }]);
  return { gas, oldGas, demandGas: BigInt(Math.ceil(demand)) };
}

/** A height and the time at which this process first saw the height. */
type SeenBlock = NonNullable<SubmitterState["pace"]["firstBlock"]>;

/** Returns the mean block time since `first`, ms; undefined for fewer than two blocks. */
function blockTimeMs(first: SeenBlock, now: SeenBlock): number | undefined {
  const blocks = Number(now.height - first.height);
  return blocks < 2 ? undefined : (now.atMs - first.atMs) / blocks;
}

/** Reads the gas price before a broadcast. Doesn't wait for the read if the price from the previous height is recent enough. */
async function readPrice(state: SubmitterState, height: bigint, signal: AbortSignal): Promise<void> {
  const read = async (): Promise<void> => {
    const gasPrice = await state.deps.window.gasPrice(signal);
    state.pace.price = { height, gasPrice };
    state.market.recordFeePrice(height, quoDec18(gasPrice, state.options.gasPrice.multiplier));
  };
  // Ignore errors, because a persistent error also fails the read at the next height, when the known price is too old.
  if (isPriceGood(state, height)) void read().catch(() => undefined);
  else await read();
}

async function readLimits(state: SubmitterState, rhythm: Rhythm, signal: AbortSignal): Promise<void> {
  const { deps, block } = state;
  rhythm.limitsAtMs = deps.clock.monotonicMs() + LIMITS_MS;
  try {
    forgetRemoved(state);
    const limits = await deps.readBlockLimits(signal);
    block.setLimits(limits);
    state.market.setParams(limits.market);
    if (rhythm.areLimitsOld) deps.logger.info("the limits of a block can be read again");
    rhythm.areLimitsOld = false;
  } catch (error) {
    signal.throwIfAborted();
    // Use the last known limits, and read the limits again soon.
    rhythm.limitsAtMs = deps.clock.monotonicMs() + LIMITS_MS / 10;
    const text =
      "the limits of a block and the fee market's parameters cannot be read, the last known ones are used";
    if (!rhythm.areLimitsOld) deps.logger.warn(text, { reason: errorText(error) });
    rhythm.areLimitsOld = true;
  }
}

/** Deletes the gas estimates, groups and turns of removed queries. */
function forgetRemoved({ deps, gas, order, queries: { isolated, withdrawn } }: SubmitterState): void {
  const isGone = (id: bigint): boolean => deps.registry.state(id) === undefined;
  // String keys belong to client updates, whose gas estimates are still needed.
  gas.keepOnly((key) => typeof key === "string" || !isGone(key));
  for (const id of isolated.keys()) if (isGone(id)) isolated.delete(id);
  order.forget(isGone);
  for (const id of withdrawn) if (isGone(id)) withdrawn.delete(id);
}

/** Resolves all results that have not been broadcast as unsent after a send error. Later cycles read the values again. */
function unsendAll(state: SubmitterState, error: Error): void {
  for (const entry of unsent(state))
    resolve(state, entry, { kind: "unsent", reason: errorText(error), error });
  state.prepared = [];
}
