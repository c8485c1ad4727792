import { raceAbort } from "../../platform/base/abort.ts";
import { toHex } from "../../platform/base/bytes.ts";
import { type ChainClient, RESET_DISTANCE } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Registry } from "../registry/registry.ts";
import { type Journal, LOCAL_CHAIN } from "./journal.ts";

export interface HistoryDeps {
  readonly journal: Pick<Journal, "knownBlock" | "recordBlock">;
  /** Reads a block's hash in upper-case hex; undefined if the endpoint does not have the block. */
  readonly blockHash: (height: bigint, signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * Checks whether a chain still has the journal's newest block and, if so, stores the block at `latestHeight`. Reads at most two
 * block hashes.
 *
 * Returns false for a reset chain, which has a far lower height or a different block at the known height. Also returns true if the
 * block cannot be compared, because the endpoint lags or has pruned the block.
 */
export async function hasKnownHistory(
  subject: string,
  latestHeight: bigint,
  { journal, blockHash }: HistoryDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const known = journal.knownBlock(subject);
  if (known !== undefined && latestHeight < known.height)
    return latestHeight + RESET_DISTANCE >= known.height;
  const isKnown = known !== undefined && known.hash !== "";
  // Read both hashes in parallel, because the relayer sends nothing at startup until both reads end.
  const [before, hash] = await Promise.all([
    isKnown ? blockHash(known.height, signal) : undefined,
    isKnown && known.height === latestHeight ? undefined : blockHash(latestHeight, signal),
  ]);
  if (isKnown && before !== undefined && before !== known.hash) return false;
  if (isKnown && known.height === latestHeight) return true;
  journal.recordBlock(subject, { height: latestHeight, hash: hash ?? "" });
  return true;
}

export interface LocalHistoryDeps {
  readonly journal: HistoryDeps["journal"] & Pick<Journal, "reset">;
  readonly registry: Pick<Registry, "reset">;
  readonly blockHash: HistoryDeps["blockHash"];
  readonly logger: Logger;
}

/**
 * Creates a check of the local chain at its latest height. If the chain was reset or rolled back, the check empties the journal and
 * the registry, since query ids now identify different queries.
 */
export function createLocalHistoryCheck(
  deps: LocalHistoryDeps,
): (latestHeight: bigint, signal: AbortSignal, hasGoneBack?: boolean) => Promise<void> {
  const { journal, registry, logger } = deps;
  return async (latestHeight, signal, hasGoneBack = false) => {
    if (!hasGoneBack && (await hasKnownHistory(LOCAL_CHAIN, latestHeight, deps, signal))) return;
    const knownHeight = journal.knownBlock(LOCAL_CHAIN)?.height;
    logger.warn("the local chain was reset, its state is deleted", { knownHeight, latestHeight });
    journal.reset();
    registry.reset();
    await hasKnownHistory(LOCAL_CHAIN, latestHeight, deps, signal);
  };
}

export interface RemoteHistoryDeps {
  readonly connectionId: string;
  readonly journal: HistoryDeps["journal"] & Pick<Journal, "forget">;
  readonly registry: Pick<Registry, "states">;
  readonly blockHash: HistoryDeps["blockHash"];
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
}

const REMOTE_CHECK_MS = 60_000;

/**
 * Creates a check of a connection's remote chain at its latest height. If the chain was reset, the check deletes the progress of
 * the connection's searches, because blocks at the same heights now contain different transactions. The check runs at most once per
 * minute, but immediately if the height has dropped.
 */
export function createRemoteHistoryCheck(
  deps: RemoteHistoryDeps,
): (latestHeight: bigint, signal: AbortSignal) => Promise<void> {
  const { connectionId, journal, registry, clock, logger } = deps;
  let nextMs = Number.NEGATIVE_INFINITY;
  return async (latestHeight, signal) => {
    const knownHeight = journal.knownBlock(connectionId)?.height ?? 0n;
    if (clock.monotonicMs() < nextMs && latestHeight >= knownHeight) return;
    nextMs = clock.monotonicMs() + REMOTE_CHECK_MS;
    if (await hasKnownHistory(connectionId, latestHeight, deps, signal)) return;
    logger.warn("the remote chain was reset, its searches start again", {
      connectionId,
      knownHeight,
      latestHeight,
    });
    for (const { query } of registry.states())
      if (query.connectionId === connectionId) journal.forget(query.id);
    journal.recordBlock(connectionId, {
      height: latestHeight,
      hash: (await deps.blockHash(latestHeight, signal)) ?? "",
    });
  };
}

/** Creates a function that reads block hashes and treats an RPC error as a missing block. */
export function createBlockHashReader(client: Pick<ChainClient, "comet">): HistoryDeps["blockHash"] {
  return async (height, signal) => {
    try {
      const { commit } = await raceAbort(client.comet.commit(Number(height)), signal);
      return toHex(commit.blockId.hash).toUpperCase();
    } catch (error) {
      if (error instanceof ClientError && error.facts.code === "rpc") return undefined;
      throw error;
    }
  };
}
