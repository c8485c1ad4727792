import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import { isDue, type QueryState, sameQuestion } from "../registry/query-state.ts";
import type { Entry } from "./pipeline.ts";
import { MAX_AGE_MS, type ResultOutcome } from "../result/proven-result.ts";
import { type SubmitterState, urgentRule, WITHDRAWN } from "./submitter-state.ts";

/** Maximum number of blocks that a result may wait for its query to become due. */
const MAX_EARLY_BLOCKS = 2n;
/** The outcome of a result that is not sent, or when a result is sent. */
type Evaluation = "ready" | "later" | ResultOutcome;

/** Decides what happens to a prepared result: it is sent now, later, or not at all. */
export function evaluateResult(state: SubmitterState, entry: Entry): Evaluation {
  const { result } = entry;
  const { registry, height, clock } = state.deps;
  const { query, at } = result;
  const current = registry.state(query.id);
  if (current === undefined) return { kind: "dropped", reason: "removed" };
  if (!sameQuestion(current.query, query)) return { kind: "dropped", reason: "superseded" };
  if (isTooOld(entry, clock.monotonicMs())) return TOO_OLD;
  if (state.queries.withdrawn.has(query.id)) return WITHDRAWN;
  // It was proven before the chain refused the result before it.
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

/** Whether the price is above the ceiling, in which case only urgent results may be sent. */
export function isAboveCeiling({ market }: Pick<SubmitterState, "market">): boolean {
  return market.budget()?.phase === "above-ceiling";
}

/** Whether the query needs a result. Ignores its backoff: a result that has been proven is sent. */
function dueAt(current: QueryState, height: bigint): boolean {
  return isDue({ ...current, notBeforeMs: 0 }, height, 0);
}

/** The outcome of a result that is too old. */
export const TOO_OLD: ResultOutcome = {
  kind: "unsent",
  reason: "it waited too long for a transaction",
  error: undefined,
};

/** Whether a result has been waiting too long. `nowMs` is monotonic. */
export function isTooOld({ sinceMs }: Entry, nowMs: number): boolean {
  return nowMs - sinceMs > MAX_AGE_MS;
}
