import { withTimeout, pause } from "../../base/abort.ts";
import { type BackoffOptions, backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { ChainNotice, ChainSubscription } from "../../client/events/subscription.ts";
import type { HeightSignal } from "./height-signal.ts";
import type { Journal } from "../state/journal.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import { type QueryChange, queryChanges } from "./query-events.ts";
import type { Registry } from "./registry.ts";

/** When no block was announced for this long, the height is asked for: the WebSocket may be away. */
export const SILENCE_MS = 3_000;
/** The whole list is read again at most this often, as the truth behind events. */
const RELOAD_MS = 60_000;
/** After an event whose query the chain did not have: an endpoint may lag. */
const SOON_MS = 2_000;
/** More changes than this at once are read with the list: it takes fewer calls. */
const MAX_SINGLE_READS = 20;
/** Waits after errors of a chain or connection. */
export const ERROR_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 15_000 };

/** What following the local chain needs. */
export interface FollowDeps {
  readonly chainName: string;
  readonly local: Pick<ChainClient, "status">;
  readonly subscription: ChainSubscription;
  readonly registry: Registry;
  readonly height: HeightSignal;
  /** Must not forget what it knows about a chain, unless that started over. */
  readonly journal: Pick<Journal, "noteLocalHeight">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<RelayerMetrics, "connected" | "reloads">;
  readonly onLoaded: () => void;
}

/** Keeps the registry as the chain has it: reads the list whenever something may have been missed, events in between. */
export async function followChain(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { subscription, clock, logger } = deps;
  let reloadAtMs = clock.monotonicMs();
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    try {
      if (clock.monotonicMs() >= reloadAtMs) {
        await reload(deps, signal);
        reloadAtMs = clock.monotonicMs() + RELOAD_MS;
      }
      if (lastError !== undefined) logger.info("local chain can be read again", { tries: failures });
      [failures, lastError] = [0, undefined];
      const notice = await withTimeout(SILENCE_MS, clock, signal, subscription.next);
      deps.metrics.connected.set(subscription.isConnected() ? 1 : 0);
      if (notice === undefined) deps.height.set((await deps.local.status(signal)).latestHeight);
      else reloadAtMs = Math.min(reloadAtMs, clock.monotonicMs() + (await applyNotice(deps, notice, signal)));
    } catch (error) {
      if (signal.aborted) return;
      reloadAtMs = clock.monotonicMs();
      const kind = errorKind(error);
      const fields = { reason: errorText(error), failures };
      logger[kind === lastError ? "debug" : "warn"]("local chain can't be read", fields);
      lastError = kind;
      await pause(backoffMs(failures++, ERROR_BACKOFF, deps.random), clock, signal);
    }
  }
}

/** What tells one error from another: texts differ from try to try. */
export function errorKind(error: unknown): string {
  return error instanceof CodedError ? error.facts.code : errorText(error);
}

async function reload(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { latestHeight } = await deps.local.status(signal);
  deps.journal.noteLocalHeight(latestHeight);
  deps.height.set(latestHeight);
  await deps.registry.reload(signal);
  deps.metrics.reloads.inc();
  deps.onLoaded();
  deps.height.touch();
}

/** Applies one notice; gives when the list must be read again, ms from now. */
async function applyNotice(deps: FollowDeps, notice: ChainNotice, signal: AbortSignal): Promise<number> {
  switch (notice.kind) {
    case "connected":
      return 0;
    case "missed":
      deps.logger.info("chain events were missed", { reason: notice.reason });
      return 0;
    case "block":
      deps.height.set(notice.height);
      return RELOAD_MS;
    case "tx":
    case "block-events":
      return applyChanges(deps, queryChanges(notice.events, deps.chainName), signal);
  }
}

/** Of several changes of one query the last one counts, so all of them can be read at once. */
async function applyChanges(
  deps: FollowDeps,
  changes: readonly QueryChange[],
  signal: AbortSignal,
): Promise<number> {
  if (changes.length === 0) return RELOAD_MS;
  const last = [...new Map(changes.map((change) => [change.queryId, change])).values()];
  if (last.length > MAX_SINGLE_READS) {
    deps.logger.info("many queries changed", { changes: last.length });
    return 0;
  }
  for (const change of last) deps.logger.info("query changed", { ...change });
  const applied = await Promise.all(last.map((change) => deps.registry.apply(change, signal)));
  deps.height.touch();
  return applied.includes(false) ? SOON_MS : RELOAD_MS;
}
