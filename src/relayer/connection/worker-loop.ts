import { pause } from "../../base/abort.ts";
import { backoffMs } from "../../base/backoff.ts";
import { errorText } from "../../base/errors.ts";
import { ERROR_BACKOFF, errorKind, SILENCE_MS } from "../registry/follow-chain.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import type { Lane } from "./worker.ts";
import { isDue, type QueryState } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { runRound } from "../kv/kv-cycle.ts";
import type { TxDeps } from "../tx/tx-relay.ts";
import { runTxRound } from "../tx/tx-cycle.ts";

/** The kind of queries that a loop answers. */
type QueryType = RegisteredQuery["type"];

/** What a lane's loop shares with the others. */
export interface LaneLoopDeps {
  readonly height: HeightSignal;
  readonly tx: TxDeps;
  /** The queries that this loop answers: a slow search for transactions must not hold up values. */
  readonly type: QueryType;
  /** Hears of the error of each round, undefined for a good one. */
  readonly onRound: (error: string | undefined) => unknown;
}

/** Runs a round whenever something of this connection is due; an error of the connection waits with a growing pause. */
export async function runLane(lane: Lane, deps: LaneLoopDeps, signal: AbortSignal): Promise<void> {
  const names = { connectionId: lane.connectionId, type: deps.type };
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    const seen = deps.height.version();
    try {
      const ran = await runDue(lane, deps, signal);
      if (ran && lastError !== undefined)
        lane.logger.info("connection is in order again", { ...names, tries: failures });
      if (ran) [failures, lastError] = [0, undefined];
      await deps.height.changed(seen, SILENCE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      noteCycleError(lane, deps, error, { isNews: errorKind(error) !== lastError, failures });
      lastError = errorKind(error);
      await pause(backoffMs(failures++, ERROR_BACKOFF, lane.random), lane.clock, signal);
    }
  }
}

/** Answers what is due; false when nothing is. */
async function runDue(lane: Lane, deps: LaneLoopDeps, signal: AbortSignal): Promise<boolean> {
  const states = noteStates(lane).filter(({ query }) => query.type === deps.type);
  const localHeight = deps.height.now();
  const nowMs = lane.clock.nowMs();
  const due = states.filter((state) => isDue(state, localHeight, nowMs));
  // What was at error can't be seen any more once nobody asks.
  if (states.length === 0) deps.onRound(undefined);
  if (due.length === 0 || localHeight === 0n) return false;
  await (deps.type === "kv" ? runRound(lane, due, signal) : runTxRound(lane, deps.tx, due, signal));
  lane.metrics.rounds.inc({ connection_id: lane.connectionId, outcome: "done" });
  deps.onRound(undefined);
  noteStates(lane);
  return true;
}

function noteCycleError(
  lane: Lane,
  deps: LaneLoopDeps,
  error: unknown,
  { isNews, failures }: { readonly isNews: boolean; readonly failures: number },
): void {
  const { connectionId } = lane;
  lane.client.forget();
  deps.onRound(errorText(error));
  lane.metrics.rounds.inc({ connection_id: connectionId, outcome: "failed" });
  lane.logger[isNews ? "warn" : "debug"]("round failed", {
    connectionId,
    type: deps.type,
    reason: errorText(error),
    failures,
  });
}

/** The states of the lane's queries, counted into the metrics. */
function noteStates(lane: Lane): readonly QueryState[] {
  const { connectionId: connection_id, metrics } = lane;
  const states = lane.registry.states().filter(({ query }) => query.connectionId === connection_id);
  const held = states.filter(({ error }) => error !== undefined).length;
  const waiting = states.filter(
    ({ error, query }) => error === undefined && query.lastLocalHeight === 0n,
  ).length;
  metrics.queries.set({ connection_id, state: "held" }, held);
  metrics.queries.set({ connection_id, state: "waiting" }, waiting);
  metrics.queries.set({ connection_id, state: "answered" }, states.length - held - waiting);
  return states;
}
