import { stringifyJson } from "../../../../src/platform/base/json.ts";
import type { PastAlert } from "../../../../src/watchdog/alerts/alert-state.ts";
import type { LedgerEvent, MonthRecord } from "../../../../src/watchdog/ledger/ledger-view.ts";
import { rewardCents, SPECIFIED_POLICY } from "../../../../src/watchdog/policy/assessment.ts";
import { formatPercent, successRate, tierOf } from "../../../../src/watchdog/policy/reward-tier.ts";
import { openLedgerFile, openSqliteState } from "../../../../src/watchdog/state/sqlite-state.ts";
import { readReceived, type Received } from "./receiver.ts";

/** What a replay left of one validator. */
export interface ReplayResult {
  readonly name: string;
  readonly months: readonly MonthRecord[];
  /** Without the starts of the watchdog. */
  readonly events: readonly LedgerEvent[];
  readonly alerts: readonly PastAlert[];
  readonly received: readonly Received[];
}

/** Reads the result of a replay. No watchdog may run in the folder. */
export function readResult(folder: string): readonly ReplayResult[] {
  const store = openSqliteState(folder);
  const { history, outbox } = store.load().alerting;
  store.close();
  if (outbox.length > 0) throw new Error(`${outbox.length} notifications were not delivered`);
  const received = readReceived(folder);
  const file = openLedgerFile(folder);
  const results = file.validators().map((name): ReplayResult => {
    const view = file.view(name);
    const events = (view?.events(0, Number.MAX_SAFE_INTEGER) ?? []).filter(
      ({ kind }) => kind !== "watchdog-start",
    );
    const isOwn = ({ validator }: { readonly validator: string }): boolean => validator === name;
    return {
      name,
      months: view?.months() ?? [],
      events,
      alerts: history.filter(isOwn),
      received: received.filter(isOwn),
    };
  });
  file.close();
  return results;
}

/**
 * Everything of a replay that a kill must not change, as JSON: counts, seals, events, alerts and notifications of these validators,
 * by default of all.
 */
export function resultText(folder: string, validators?: ReadonlySet<string>): string {
  const results = readResult(folder)
    .filter(({ name }) => validators?.has(name) !== false)
    // The numbers of events grow with each start of the watchdog.
    .map(({ events, ...rest }) => ({ ...rest, events: events.map(eventText) }));
  return stringifyJson(results, 1);
}

/** The month's counts and pay, the events, and every alert of one validator, for the golden file. */
export function goldenText({ name, months, events, alerts, received }: ReplayResult): string {
  return [
    `## ${name}: ${payText(months.find(({ month }) => month === "2026-10"))}`,
    "",
    ...events.map(eventText),
    "",
    ...alerts.flatMap((alert) => alertLines(alert, received)),
    `${alerts.length} alerts, ${received.length} notifications`,
    "",
  ].join("\n");
}

function payText(record: MonthRecord | undefined): string {
  const rate = record && successRate(record.counts);
  if (record === undefined || rate === undefined) return "nothing";
  const { good, bad, unknown } = record.counts;
  const linear = rewardCents(SPECIFIED_POLICY, rate);
  const quadratic = rewardCents({ ...SPECIFIED_POLICY, curve: "revenue-quadratic" }, rate);
  return `${good} good, ${bad} bad, ${unknown} unknown; ${formatPercent(rate)} %, ${tierOf(rate)}; pays ${linear} or ${quadratic} cents`;
}

function eventText({ kind, fromMs, toMs, node = "", text }: LedgerEvent): string {
  return ["event", timeText(fromMs), timeText(toMs), kind, node, text].join(" ");
}

/** First active poll, first firing poll and end; why it fired; what was notified, and what its end said. */
function alertLines(
  { alert, severity, sinceMs, firedAtMs, resolvedAtMs, reason }: PastAlert,
  all: readonly Received[],
): readonly string[] {
  const own = all.filter((one) => one.alert === alert && Date.parse(one.since) === sinceMs);
  const kinds = ["firing", "reminder", "resolved"].map(
    (kind) => `${own.filter((one) => one.kind === kind).length} ${kind}`,
  );
  const end = own.find(({ kind }) => kind === "resolved");
  const times = [sinceMs, firedAtMs].map(timeText).join(" ");
  const ended = resolvedAtMs === undefined ? "(still fires)      " : timeText(resolvedAtMs);
  return [
    `alert ${times} ${ended} ${severity} ${alert}: ${reason}`,
    `      notified: ${own.length === 0 ? "nobody" : kinds.join(", ")}${end === undefined ? "" : `; ${end.reason}${end.cost === null ? "" : `; cost ${end.cost.blocks} blocks, ${end.cost.pay_cents}`}`}`,
  ];
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
}
