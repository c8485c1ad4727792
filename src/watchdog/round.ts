import { advanceAlert, type AlertStep, judgePrices, type PricesVerdict } from "./conditions.ts";
import type { BlockCounts } from "./ledger/block-counts.ts";
import { countReading } from "./ledger/ledger.ts";
import { type Notice, toNotice } from "./notify/notice.ts";
import type { Observation } from "./sources/observe.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** What a look leads to. */
export interface Round {
  readonly state: WatchdogState;
  readonly verdict: PricesVerdict;
  /** What the node counted since the last look; undefined when it could not be read. */
  readonly counted: BlockCounts | undefined;
  /** The node began to count anew. */
  readonly restarted: boolean;
  /** The notice of this look, which is also in the state when it is to be posted. */
  readonly notice?: Notice;
}

/** Settings of a round. */
export interface RoundOptions {
  readonly allPricesMissingForMs: number;
  /** Whether notices wait for a webhook. */
  readonly keepNotices: boolean;
}

/** Notices that may wait for a webhook; an alert that comes and goes makes two each time. */
const MAX_WAITING_NOTICES = 100;

/** Decides what one look means: counts blocks, judges prices, advances the alert. Pure. */
export function planRound(state: WatchdogState, seen: Observation, options: RoundOptions): Round {
  const { node, prices } = seen;
  const counting = node.outcome.ok ? countReading(state.ledger, node.outcome.value, seen.atMs) : undefined;
  const ledger = counting?.ledger ?? state.ledger;
  const verdict = judgePrices(prices.outcome, counting?.step.counts);
  const alert = advanceAlert(state.alert, verdict, seen.atMs, options.allPricesMissingForMs);
  const notice = noticeOf(state, alert, seen, ledger.mark?.chainId ?? "unknown chain");
  const notices = [...state.notices, ...(notice !== undefined && options.keepNotices ? [notice] : [])];
  return {
    state: { ledger, alert: alert.state, notices: notices.slice(-MAX_WAITING_NOTICES) },
    verdict,
    counted: counting?.step.counts,
    restarted: counting?.step.restarted ?? false,
    ...(notice === undefined ? {} : { notice }),
  };
}

function noticeOf(
  before: WatchdogState,
  { change, state }: AlertStep,
  { atMs, prices }: Observation,
  chainId: string,
): Notice | undefined {
  if (change === "firing" && state.phase === "firing")
    return toNotice({ status: "firing", chainId, sinceMs: state.sinceMs, atMs, detail: state.reason });
  if (change !== "resolved" || before.alert.phase === "inactive") return undefined;
  const pairs = prices.outcome.ok ? prices.outcome.value.pairs.length : 0;
  const detail = `${pairs} pairs have a price now`;
  return toNotice({ status: "resolved", chainId, sinceMs: before.alert.sinceMs, atMs, detail });
}
