import { errorText } from "../../platform/base/errors.ts";
import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import type { Entry } from "./result-queue.ts";
import { finish, REDUNDANT, type SubmitterState, unsentOf } from "./submitter-state.ts";

/**
 * Reads the queries of `state.unread` from the chain, and drops the waiting results that are not newer than what it has.
 * Rejects on abort only: without the read a simulation finds such a result.
 */
export async function rereadQueries(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const { unread, deps } = state;
  if (unread.size === 0) return;
  const ids = [...unread];
  try {
    await deps.registry.reread(ids, signal);
  } catch (error) {
    signal.throwIfAborted();
    return deps.logger.debug("queries cannot be read again", { reason: errorText(error) });
  }
  for (const id of ids) unread.delete(id);
  deps.height.wake();
  const waiting = ids.flatMap((id) => unsentOf(state, id));
  for (const entry of waiting) if (isRedundantNow(state, entry)) finish(state, entry, REDUNDANT);
}

function isRedundantNow({ deps }: SubmitterState, { result }: Entry): boolean {
  const { id, type } = result.query;
  return type === "kv" && !isNewer(result.at, deps.registry.state(id)?.query.lastRemoteHeight);
}
