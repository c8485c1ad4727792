import { expect, it } from "vitest";
import { exampleReasons } from "../../../src/cli/generate/alert-messages.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import type { AlertRule, ConditionResult } from "../../../src/watchdog/conditions/condition.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import { advanceHistory, EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import { countdownTo } from "../../../src/watchdog/policy/upgrade-countdown.ts";
import { ROOT } from "../../arch/source-files.ts";
import { type Change, healthyFrame, START_MS } from "../../support/watchdog/frames.ts";
import { BAD_FROM_MS, CASES } from "../../watchdog/conditions/cases.ts";

const { rules, majorPairs } = alertsSchema.parse({});
const POLL_MS = 10_000;

/** The last result of a condition when a change lasts for ten minutes, and the one two minutes after its end. */
function play(rule: AlertRule, change: Change): readonly (ConditionResult | undefined)[] {
  const { name } = rule.condition;
  const endMs = BAD_FROM_MS + 600_000;
  let history = EMPTY_HISTORY;
  const last: (ConditionResult | undefined)[] = [];
  for (let atMs = START_MS; atMs < endMs + 120_000; atMs += POLL_MS) {
    const isOver = atMs >= endMs;
    const frame = atMs >= BAD_FROM_MS && !isOver ? change(healthyFrame(atMs)) : healthyFrame(atMs);
    history = advanceHistory(history, frame.observation, 60_000);
    const upgrade = countdownTo(history, frame.observation.atMs, { meanMs: 1000, fastMs: 900, slowMs: 1100 });
    last[isOver ? 1 : 0] = evaluateConditions([rule], { upgrade, ...frame, history, majorPairs }).get(name);
  }
  return last;
}

/** The first clause of a text without its figures and names. */
function words(text: string): string {
  const [clause = ""] = text.split(/[;:(]/);
  return clause
    .replaceAll(/(?:[A-Z]+\/[A-Z]+(?:, )?)+/g, "PAIR")
    .replaceAll(/\b[a-z]+(?:\.[a-z]+)+/g, "HOST")
    .replaceAll(/\bv?(?:\d[\d.,-]*(?: (?:ms|s|min|h|d)\b)?,? ?)+/g, "# ")
    .replace("prices are", "price is");
}

it.each(rules.map((rule) => [rule.condition.name, rule] as const))(
  "%s: its example has its words",
  (name, rule) => {
    const { fires, alsoFires = {}, quiet } = CASES[name] ?? expect.unreachable(name);
    const results = [fires, ...Object.values(alsoFires), ...Object.values(quiet)].flatMap((change) =>
      play(rule, change),
    );
    const wordsOf = (kind: ConditionResult["kind"]) =>
      results.filter((one) => one?.kind === kind).map((one) => words(one?.reason ?? ""));
    const { firing, resolved } = exampleReasons(rule.condition, ROOT);
    expect(wordsOf("active")).toContain(words(firing));
    expect(wordsOf("clear")).toContain(words(resolved));
  },
);
