import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import { isDue, type QueryState, sameQuestion } from "../registry/query-state.ts";
import type { Entry } from "./pipeline.ts";
import { MAX_AGE_MS, type ResultOutcome } from "../result/proven-result.ts";
import { type SubmitterState, urgentRule, WITHDRAWN } from "./submitter-state.ts";

/** Maximum number of blocks that a result may wait for its query to become due. */
const MAX_EARLY_BLOCKS = 2n;
/** The time at which a result is sent, or its outcome if it is not sent. */
type Evaluation = "ready" | "later" | ResultOutcome;

/** Decides whether a prepared result is sent now, later, or not at all. */
export function evaluateResult(state: SubmitterState, entry: Entry): Evaluation {
  const { result } = entry;
  const { registry, height, clock } = state.deps;
  const { query, at } = result;
  const current = registry.state(query.id);
  if (current === undefined) return { kind: "dropped", reason: "removed" };
  if (!sameQuestion(current.query, query)) return { kind: "dropped", reason: "superseded" };
  if (isTooOld(entry, clock.monotonicMs())) return TOO_OLD;
  if (state.queries.withdrawn.has(query.id)) return WITHDRAWN;
  // The relayer proved this result before the chain refused the previous one.
  if (clock.monotonicMs() < current.notBeforeMs)
    return { kind: "unsent", reason: "its query backs off", error: undefined };
  if (query.type === "kv" && !isNewer(at, current.query.lastRemoteHeight))
    return { kind: "dropped", reason: "superseded" };
  if (state.pipeline.ofQuery(query.id).sent.length > 0) return "later";
  if (isAboveCeiling(state) && urgentRule(state, query) === undefined) return "later";
  if (query.type === "tx" || dueAt(current, height.now())) return "ready";
  return dueAt(current, height.now() + MAX_EARLY_BLOCKS)
    ? "later"
    : { kind: "dropped", reason: "superseded" };
}

/** Returns true if the price exceeds the ceiling. Only urgent results may then be sent. */
export function isAboveCeiling({ market }: Pick<SubmitterState, "market">): boolean {
  return market.budget()?.phase === "above-ceiling";
}

/** Returns true if the query needs a result. Ignores its backoff, because a proven result is sent. */
function dueAt(current: QueryState, height: bigint): boolean {
  return isDue({ ...current, notBeforeMs: 0 }, height, 0);
}

export const TOO_OLD: ResultOutcome = {
  kind: "unsent",
  reason: "it waited too long for a transaction",
  error: undefined,
};

/** Returns true if a result has waited too long. `nowMs` is monotonic. */
export function isTooOld({ sinceMs }: Entry, nowMs: number): boolean {
  return nowMs - sinceMs > MAX_AGE_MS;
}
