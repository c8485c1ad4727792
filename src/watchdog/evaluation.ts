import { bad } from "../base/result.ts";
import { type AlertingOptions, planAlerts } from "./alerts/plan-alerts.ts";
import { judgeAll } from "./conditions/conditions.ts";
import { advanceTrail, type Trail } from "./conditions/trail.ts";
import { NO_BLOCKS } from "./ledger/block-counts.ts";
import { countReading } from "./ledger/ledger.ts";
import type { AlertEvent } from "./notify/alert-event.ts";
import { pollObservation, VALIDATOR } from "./poll-observation.ts";
import type { Poll } from "./sources/poller.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** Result of the evaluation of one poll. */
export interface Evaluation {
  /** The poll. While two nodes answer at one URL, the scrape of the node is a failure. */
  readonly poll: Poll;
  readonly state: WatchdogState;
  /** Input of the next evaluation. */
  readonly trail: Trail;
  /** The poll showed a restart of the node. */
  readonly nodeRestarted: boolean;
  /** Notifications of this poll. They are also in the outbox of each channel that wants them. */
  readonly events: readonly AlertEvent[];
}

/** Configuration of the evaluation. */
export interface EvaluationOptions extends AlertingOptions {
  readonly majorPairs: readonly string[];
}

/** Evaluates one poll: counts its blocks, judges the conditions, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  scraped: Poll,
  previous: Trail,
  options: EvaluationOptions,
): Evaluation {
  const { node, atMs } = scraped;
  // A failed scrape of the node changes nothing in the ledger: the next reading covers the time in between.
  const counting = node.outcome.ok ? countReading(state.ledger, node.outcome.value, atMs) : undefined;
  const ledger = counting?.ledger ?? state.ledger;
  const poll = ledger.conflict === undefined || !node.outcome.ok ? scraped : withTwoNodes(scraped);
  const observation = pollObservation(poll);
  const trail = advanceTrail(previous, observation);
  const verdicts = judgeAll(options.rules, {
    observation,
    trail,
    recent: { "5m": NO_BLOCKS, "30m": NO_BLOCKS },
    assessment: undefined,
    majorPairs: options.majorPairs,
  });
  const judged = {
    validator: VALIDATOR,
    chainId: ledger.baseline?.chainId ?? "unknown chain",
    nowMs: atMs,
    verdicts,
    badBlocks: [...ledger.months.values()].reduce((sum, counts) => sum + counts.bad, 0n),
    costOf: (blocks: bigint) => ({ blocks }),
  };
  const { state: alerting, events } = planAlerts(state.alerting, judged, options);
  return {
    poll,
    state: { ledger, alerting },
    trail,
    nodeRestarted: counting?.step?.restarted ?? false,
    events,
  };
}

/** Makes the scrape of the node a failure. */
function withTwoNodes(poll: Poll): Poll {
  const text =
    "two nodes answer in turn at this URL, so neither is counted; let sources.node point to one node only";
  return { ...poll, node: { ...poll.node, outcome: bad({ code: "two-nodes", text }) } };
}
