import { retry } from "../../platform/base/retry.ts";
import { onAbort, waitAtMost } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { type ChainClient, RESET_DISTANCE } from "../../cosmos/client/chain-client.ts";
import { lacksHeight } from "../../cosmos/client/answers.ts";
import type { ChainNotice, ChainSubscription } from "../../cosmos/client/events/subscription.ts";
import type { Counter } from "prom-client";
import { errorBackoff, errorKind } from "../chain/relay-error.ts";
import type { HeightSignal, Registry } from "./registry.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { type QueryChange, queryChanges } from "../chain/registered-query.ts";

/** Time without a WebSocket notice after which the relayer reads the height over RPC, because the connection may be dead. */
const SILENCE_MS = 3_000;
/** Interval between height reads without a WebSocket, or while the WebSocket's node announces no new blocks. */
const POLL_MS = 1_000;
/** Reload interval while the height is polled, because no event then announces a new query. */
const POLL_RELOAD_MS = 10_000;
/** Delay before a reload if a possibly lagging endpoint does not return the query that an event announced. */
const RETRY_RELOAD_MS = 2_000;
/** Number of lagging reads before the relayer logs a warning. Nodes often differ by a block or two, so the first reads may lag. */
const MAX_READS_BEHIND = 3;
/** Above this number of changes, reloading the list takes fewer calls, because a page contains 100 queries. */
const MAX_SINGLE_READS = 20;

export interface FollowDeps {
  readonly chainName: string;
  readonly local: Pick<ChainClient, "status">;
  readonly subscription: ChainSubscription;
  readonly registry: Registry;
  readonly height: HeightSignal;
  /** Detects a reset of the local chain. Called with the latest height before each read of the query list. */
  readonly checkHistory: (latestHeight: bigint, signal: AbortSignal, hasGoneBack: boolean) => Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: { readonly queryListReloads: Pick<Counter, "inc"> };
  /** Interval between regular reloads of the query list. */
  readonly reloadMs: () => number;
  readonly onLoaded: () => void;
  /** Called with the error of each failed read. */
  readonly onLocalError: (error: unknown) => void;
}

/**
 * Keeps the registry and the local height up to date until the signal aborts. Never rejects.
 *
 * Events may be lost, repeated, out of order, or ahead of the read endpoint, so an event only determines which query to read. The
 * relayer reads the whole list again after a gap, after an error, and every `reloadMs`. Without a WebSocket, the relayer polls the
 * height and the list.
 */
export async function followChain(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { clock, logger } = deps;
  let reloadAtMs = clock.monotonicMs();
  const tries = { failures: 0 };
  let lastError: string | undefined;
  // True if the chain has blocks that no notice announced. Notices of query events may then be missing, too.
  let isStreamBehind = false;
  const list: ListState = { height: 0n, streamHeight: undefined, hasGoneBack: false, waiting: [] };
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      if (clock.monotonicMs() >= reloadAtMs) {
        await reload(deps, list, signal);
        reloadAtMs = clock.monotonicMs() + deps.reloadMs();
      }
      if (lastError !== undefined) logger.info("local chain can be read again", { ...tries });
      [tries.failures, lastError] = [0, undefined];
      const hasStream: boolean = deps.subscription.isConnected() && !isStreamBehind;
      const notice: ChainNotice | undefined =
        list.waiting.shift() ?? (await nextNotice(deps, hasStream, signal));
      let nextMs: number = hasStream ? deps.reloadMs() : POLL_RELOAD_MS;
      if (notice !== undefined) nextMs = await applyNotice(deps, notice, list, signal);
      else if ((await poll(deps, signal)) && hasStream) nextMs = 0;
      // Treat the stream as lagging until a notice shows that its node makes progress.
      isStreamBehind = notice === undefined && (isStreamBehind || nextMs === 0);
      reloadAtMs = Math.min(reloadAtMs, clock.monotonicMs() + nextMs);
    }
  };
  const onError = (error: unknown): void => {
    deps.onLocalError(error);
    // Read the whole list, because a notice whose processing failed is lost.
    reloadAtMs = clock.monotonicMs();
    const kind = errorKind(error);
    const { failures } = tries;
    const isQuiet = kind === lastError || (lacksHeight(error) && failures < MAX_READS_BEHIND);
    logger[isQuiet ? "debug" : "warn"]("local chain cannot be read", { reason: errorText(error), failures });
    lastError = isQuiet ? lastError : kind;
  };
  await retry(follow, { ...deps, backoff: errorBackoff, signal, tries, onError });
}

/** Waits a limited time for a notice. If the notice announces a block, stores the block's height immediately. */
async function nextNotice(
  { subscription, height, clock }: FollowDeps,
  hasStream: boolean,
  signal: AbortSignal,
): Promise<ChainNotice | undefined> {
  const notice = await waitAtMost(hasStream ? SILENCE_MS : POLL_MS, clock, signal, subscription.next);
  if (notice?.kind === "block") height.set(notice.height, notice.timeNs);
  return notice;
}

/**
 * Reads the local height. Returns true if there is more than one new block, because notices are then missing. The notice for a
 * single new block may still arrive.
 */
async function poll(deps: FollowDeps, signal: AbortSignal): Promise<boolean> {
  const before = deps.height.now();
  const { latestHeight, latestTimeNs } = await deps.local.status(signal);
  deps.height.set(latestHeight, latestTimeNs);
  return latestHeight > before + 1n;
}

interface ListState {
  /** The height up to which the list contains all changes, or must contain them after the next read. */
  height: bigint;
  /** Height of the last block that the stream has announced since it connected. */
  streamHeight: bigint | undefined;
  /** True until the next list read if the stream's node announced a known or lower height, because the chain was reset or rolled back. */
  hasGoneBack: boolean;
  /** Notices that arrived while the list was being read, in order. */
  readonly waiting: ChainNotice[];
}

/** Maximum number of notices stored during a list read. The subscription queues further notices until its queue is full. */
const MAX_WAITING = 1_000;

async function reload(deps: FollowDeps, list: ListState, signal: AbortSignal): Promise<void> {
  const { latestHeight, latestTimeNs } = await deps.local.status(signal);
  // Check for a reset first, because a reset makes all known data invalid.
  await deps.checkHistory(latestHeight, signal, list.hasGoneBack);
  deps.height.set(latestHeight, latestTimeNs);
  // The list's endpoint may lag behind the status endpoint, and both may lag behind the event stream. A list from a lagging
  // endpoint looks complete, but lacks changes from the last blocks. A larger gap is not lag but a reset, because a reset chain
  // restarts at a low height.
  const isBehindStream = latestHeight < list.height && latestHeight + RESET_DISTANCE >= list.height;
  if (!isBehindStream || list.hasGoneBack) list.height = latestHeight;
  list.hasGoneBack = false;
  await besideBlocks(deps, list, signal, deps.registry.reload(list.height, signal));
  deps.metrics.queryListReloads.inc();
  deps.onLoaded();
  deps.height.wake();
}

/** Follows the height while awaiting `reading`, because submissions need the height and reading a long list takes many blocks. */
async function besideBlocks<T>(
  deps: FollowDeps,
  { waiting }: ListState,
  signal: AbortSignal,
  reading: Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const unwatch = onAbort(signal, (reason) => done.abort(reason));
  const follow = async (): Promise<void> => {
    while (!done.signal.aborted && waiting.length < MAX_WAITING) {
      const notice = await nextNotice(deps, deps.subscription.isConnected(), done.signal);
      if (notice !== undefined) waiting.push(notice);
      // Ignore a failed poll, because the loop polls again.
      else await poll(deps, done.signal).catch(() => undefined);
    }
  };
  // Ignore rejections, because `follow` rejects only on abort.
  const following = follow().catch(() => undefined);
  try {
    return await reading;
  } finally {
    unwatch();
    done.abort(new Error("the queries were read"));
    await following;
  }
}

/** Applies one notice. Returns the time until the next list reload, in ms. */
async function applyNotice(
  deps: FollowDeps,
  notice: ChainNotice,
  list: ListState,
  signal: AbortSignal,
): Promise<number> {
  switch (notice.kind) {
    case "connected":
      list.streamHeight = undefined;
      return 0;
    case "missed":
      deps.logger.info("chain events were missed", { reason: notice.reason });
      return 0;
    case "block":
      return isAfterGap(list, notice.height) ? 0 : deps.reloadMs();
    case "tx":
    case "block-events": {
      // Add the changes that arrived during the last read, because reading hundreds of registrations one by one would take too
      // long.
      let { height } = notice;
      const changes = [...queryChanges(notice.events, deps.chainName)];
      for (let next = list.waiting[0]; next !== undefined && "events" in next; next = list.waiting[0]) {
        list.waiting.shift();
        changes.push(...queryChanges(next.events, deps.chainName));
        height = maxInt(height, next.height);
      }
      if (changes.length === 0) return deps.reloadMs();
      list.height = height;
      return besideBlocks(deps, list, signal, applyChanges(deps, changes, height, signal));
    }
  }
}

/**
 * Returns true if the list must be read again. A new read is needed if the chain was reset or rolled back, or if blocks are missing
 * between the list and a new stream's first block.
 */
function isAfterGap(list: ListState, height: bigint): boolean {
  const last = list.streamHeight;
  list.streamHeight = height;
  list.hasGoneBack ||= last !== undefined && height <= last;
  if (last !== undefined) return list.hasGoneBack;
  if (height - 1n <= list.height) return false;
  list.height = height - 1n;
  return true;
}

async function applyChanges(
  deps: FollowDeps,
  changes: readonly QueryChange[],
  height: bigint,
  signal: AbortSignal,
): Promise<number> {
  // Only a query's last change matters, so the reads are independent and can run in parallel.
  const last = [...new Map(changes.map((change) => [change.queryId, change])).values()];
  if (last.length > MAX_SINGLE_READS) {
    deps.logger.info("many queries changed, reading the whole list", { changes: last.length });
    return 0;
  }
  for (const change of last) deps.logger.info("query changed", { ...change });
  const applied = await Promise.all(last.map((change) => deps.registry.apply(change, height, signal)));
  deps.height.wake();
  return applied.includes(false) ? RETRY_RELOAD_MS : deps.reloadMs();
}
