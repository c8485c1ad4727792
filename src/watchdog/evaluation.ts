import { bad } from "../base/result.ts";
import { alertOnPoll, type AlertOptions } from "./alerts/alert-on-poll.ts";
import type { Trail } from "./conditions/trail.ts";
import { NO_BLOCKS } from "./ledger/block-counts.ts";
import { countReading, type Ledger } from "./ledger/ledger.ts";
import type { LedgerView } from "./ledger/ledger-view.ts";
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

/** Evaluates one poll: counts its blocks, judges the conditions, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  scraped: Poll,
  previous: Trail,
  options: AlertOptions,
): Evaluation {
  const { node, atMs } = scraped;
  // A failed scrape of the node changes nothing in the ledger: the next reading covers the time in between.
  const counting = node.outcome.ok ? countReading(state.ledger, node.outcome.value, atMs) : undefined;
  const ledger = counting?.ledger ?? state.ledger;
  const poll = ledger.conflict === undefined || !node.outcome.ok ? scraped : withTwoNodes(scraped);
  const observation = pollObservation(poll);
  const {
    state: alerting,
    events,
    trail,
  } = alertOnPoll(
    state.alerting,
    { observation, ledger: monthsView(ledger), assessment: undefined },
    previous,
    options,
  );
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

/** The months of a ledger. It has neither days nor hours nor minutes. */
function monthsView(ledger: Ledger): LedgerView {
  return {
    validator: VALIDATOR,
    chainId: ledger.baseline?.chainId,
    months: () =>
      [...ledger.months].map(([month, counts]) => ({
        month,
        counts,
        estimated: NO_BLOCKS,
        coveredFromMs: Date.parse(`${month}-01`),
      })),
    days: () => [],
    hours: () => [],
    minutes: () => [],
    events: () => [],
  };
}
