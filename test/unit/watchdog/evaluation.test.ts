import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALL_PRICES_MISSING } from "../../../src/watchdog/conditions/all-prices-missing.ts";
import type { AlertCondition } from "../../../src/watchdog/conditions/condition.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { NO_ORACLE_CALLS } from "../../../src/watchdog/conditions/node-oracle-calls.ts";
import { type Evaluation, type EvaluationOptions, planEvaluation } from "../../../src/watchdog/evaluation.ts";
import type { Observation } from "../../../src/watchdog/observation.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/policies.ts";
import { EMPTY_STATE, type WatchdogState } from "../../../src/watchdog/state/state-store.ts";
import { nodePage, observationOf, pricesPage, up } from "../../support/watchdog/observations.ts";

const TWO_PAIRS: AlertCondition = {
  ...ALL_PRICES_MISSING,
  id: "few-pairs",
  severity: "warning",
  evaluate: ({ observation }) => {
    const prices = observation.nodes[0]?.prices;
    const count = prices?.state === "up" ? prices.value.pairs.length : 0;
    return { kind: count < 2 ? "active" : "clear", reason: `${count} pairs` };
  },
  firingSummary: (minutes) => `few pairs for ${minutes} minutes`,
};

const OPTIONS: EvaluationOptions = {
  alerts: [
    { condition: ALL_PRICES_MISSING, forMs: 300_000 },
    { condition: TWO_PAIRS, forMs: 60_000 },
  ],
  intervalMs: 60_000,
  queueNotifications: true,
  policy: { policy: SPECIFIED_POLICY, fromChain: false },
};

function pollAt(minute: number, ...pairs: readonly string[]): Observation {
  const metrics = up(nodePage(BigInt(minute), 0n, { chainId: "c-1" }));
  return observationOf(minute * 60_000, [{ metrics, prices: up(pricesPage(...pairs)) }]);
}

/** Evaluates the polls in order. Returns the last state, and the notifications as "minute alert status". */
function evaluate(polls: readonly Observation[], from: WatchdogState = EMPTY_STATE, options = OPTIONS) {
  const sent: string[] = [];
  let last: Pick<Evaluation, "state" | "oracleCalls"> = { state: from, oracleCalls: NO_ORACLE_CALLS };
  for (const poll of polls) {
    const memory = { oracleCalls: last.oracleCalls, isFirst: false };
    const evaluation = planEvaluation(last.state, poll, memory, options);
    for (const { alert, status } of evaluation.notifications)
      sent.push(`${poll.atMs / 60_000} ${alert} ${status}`);
    last = evaluation;
  }
  return { state: last.state, sent };
}

describe("planEvaluation", () => {
  it("advances each alert on its own", () => {
    const one = [0, 1, 2, 3].map((minute) => pollAt(minute, "BTC/USD"));
    const none = [4, 5, 6, 7, 8, 9, 10].map((minute) => pollAt(minute));
    const { sent, state } = evaluate([...one, ...none, pollAt(11, "BTC/USD"), pollAt(12, "A/B", "C/D")]);
    expect(sent).toEqual([
      "2 few-pairs firing",
      "10 all-prices-missing firing",
      "11 all-prices-missing resolved",
      "12 few-pairs resolved",
    ]);
    expect(state.alerts.size).toBe(0);
    expect(state.notifications.map(({ severity, summary }) => [severity, summary])).toContainEqual([
      "warning",
      "c-1: few pairs for 2 minutes: 1 pairs",
    ]);
  });

  it("drops the state of an alert that has no rule", () => {
    const { state } = evaluate([0, 1, 2].map((minute) => pollAt(minute)));
    expect([...state.alerts.keys()]).toEqual(["all-prices-missing", "few-pairs"]);
    const options = { ...OPTIONS, alerts: OPTIONS.alerts.slice(0, 1) };
    const later = evaluate([pollAt(3)], state, options);
    expect([...later.state.alerts.keys()]).toEqual(["all-prices-missing"]);
    expect(later.sent).toEqual([]);
  });

  it("queues no notification without a webhook", () => {
    const { state, sent } = evaluate(
      [0, 1, 2].map((minute) => pollAt(minute)),
      EMPTY_STATE,
      { ...OPTIONS, queueNotifications: false },
    );
    expect(sent).toHaveLength(1);
    expect(state.notifications).toEqual([]);
  });
});

describe("the conditions", () => {
  it("have unique kebab-case ids", () => {
    const ids = CONDITIONS.map(({ id }) => id);
    expect(ids).toContain("all-prices-missing");
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  });

  it("are in the README's table", () => {
    const readme = readFileSync(new URL("../../../src/watchdog/README.md", import.meta.url), "utf8");
    for (const { id } of CONDITIONS) expect(readme).toContain(`\n| \`${id}\` |`);
  });
});
