import { advanceAlert, type AlertStep, judgePrices, type PricesVerdict } from "./conditions/alert-state.ts";
import { countReading } from "./ledger/ledger.ts";
import { addEvidence, isNodeServed, type NodeEvidence } from "./conditions/node-oracle-calls.ts";
import { type Notice, toNotice } from "./notify/notification.ts";
import type { Observation } from "./sources/poller.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** What a look leads to. */
export interface Round {
  readonly state: WatchdogState;
  readonly verdict: PricesVerdict;
  /** For the next round. */
  readonly evidence: NodeEvidence;
  /** The node began to count anew. */
  readonly restarted: boolean;
  /** The notice of this look, which is also in the state when it is to be posted. */
  readonly notice?: Notice;
}

/** Settings of a round. */
export interface RoundOptions {
  readonly allPricesMissingForMs: number;
  readonly intervalMs: number;
  /** Whether notices wait for a webhook. */
  readonly keepNotices: boolean;
}

/** Notices that may wait for a webhook; an alert that comes and goes makes two each time. */
const MAX_WAITING_NOTICES = 100;

/** How long the node's last oracle calls tell how it is served: many blocks, and far below the alert's time. */
const MIN_EVIDENCE_MS = 30_000;

/** Decides what one look means: counts blocks, judges prices, advances the alert. Pure. */
export function planRound(
  state: WatchdogState,
  seen: Observation,
  before: NodeEvidence,
  options: RoundOptions,
): Round {
  const { node, prices } = seen;
  const counting = node.outcome.ok ? countReading(state.ledger, node.outcome.value, seen.atMs) : undefined;
  const ledger = counting?.ledger ?? state.ledger;
  const windowMs = Math.max(MIN_EVIDENCE_MS, 3 * options.intervalMs);
  const evidence = addEvidence(before, counting?.step, seen.atMs, windowMs);
  const verdict = judgePrices(prices.outcome, isNodeServed(evidence, seen.atMs, windowMs));
  const alert = advanceAlert(state.alert, verdict, seen.atMs, options.allPricesMissingForMs);
  const notice = noticeOf(state, alert, seen, ledger.mark?.chainId ?? "unknown chain");
  const notices = [...state.notices, ...(notice !== undefined && options.keepNotices ? [notice] : [])];
  return {
    state: { ledger, alert: alert.state, notices: notices.slice(-MAX_WAITING_NOTICES) },
    verdict,
    evidence,
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
