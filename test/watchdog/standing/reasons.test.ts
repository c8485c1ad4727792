import { describe, expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions, CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { advanceHistory, EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { ledgerViewOf } from "../../support/watchdog/ledger-view.ts";
import { NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import { incidentsOf } from "../../../src/watchdog/alerts/incidents.ts";
import type { ExplainingAlert } from "../../../src/watchdog/alerts/miss-causes.ts";
import {
  all,
  type Change,
  failed,
  healthyFrame,
  START_MS,
  up,
  withChain,
  withFailingCalls,
  withNode,
  withPage,
  withPrices,
  withSharedVotes,
  withoutPageValues,
} from "../../support/watchdog/frames.ts";

const { rules, majorPairs } = alertsSchema.parse({});

/** The reason of a condition after ten polls in which a change holds. */
function reasonOf(name: string, change: Change): string | undefined {
  let history = EMPTY_HISTORY;
  let reason: string | undefined;
  for (let atMs = START_MS; atMs <= START_MS + 100_000; atMs += 10_000) {
    const frame = change(healthyFrame(atMs));
    history = advanceHistory(history, frame.observation, 60_000);
    const result = evaluateConditions(rules, { ...frame, history, majorPairs }).get(name);
    reason = result?.kind === "active" ? result.reason : undefined;
  }
  return reason;
}

const bad: Change = (frame) => ({ ...frame, recent: { ...frame.recent, "5m": { ...NO_BLOCKS, bad: 300n } } });
const callsFail = all(withFailingCalls(START_MS), bad);
const blind = withNode(() => ({ prices: failed() }));
const noPrices = withPrices(() => ({ pairs: [] }));
const alone = withSharedVotes({ missed: 30, missing: 0 });
const together = withSharedVotes({ missed: 30, missing: 14 });

describe("the reason of an alert about votes", () => {
  it.each([
    ["oracle-calls-failing", callsFail],
    ["sidecar-down", all(callsFail, blind)],
    ["all-prices-missing", noPrices],
    ["empty-prices-counted", noPrices],
  ])("%s says whether the validator is alone", (name, change) => {
    const before = reasonOf(name, all(change, withoutPageValues("sharedVotes")));
    expect(before).toBeDefined();
    expect(before).not.toContain("other validator");
    expect(reasonOf(name, all(change, alone))).toBe(
      `${before}; alone: none of the 19 other validators misses votes`,
    );
    expect(reasonOf(name, all(change, together))).toBe(
      `${before}; not alone: 14 of the 19 other validators miss votes too`,
    );
  });
});

describe("the reason of not-signing", () => {
  const silent = withPage(({ lastSignedHeight = 0n }) => ({ lastSignedHeight: lastSignedHeight - 21n }));
  const withCommits = (missing: number): Change =>
    withChain(() => ({
      validator: up({
        size: 20,
        isInSet: true,
        votingPower: 10n,
        signedLatest: false,
        commits: { seen: 10, missed: 10, others: 19, missing, power: { others: 190n, missing: 60n } },
      }),
    }));

  it("says who else misses, and when the validator is jailed", () => {
    expect(reasonOf("not-signing", all(silent, withCommits(6)))).toBe(
      "the validator's last signature is 21 blocks old; jail in 2 h 38 min (9,489 blocks) if this continues; not alone: 6 of the 19 other validators miss commits too, with 31 % of their power",
    );
    expect(reasonOf("not-signing", all(silent, withCommits(0)))).toContain(
      " if this continues; alone: none of the 19 other validators misses commits",
    );
  });

  it("has neither without a chain", () => {
    const none = withChain(() => ({ slashing: failed(), validator: failed() }));
    expect(reasonOf("not-signing", all(silent, none))).toBe(
      "the validator's last signature is 21 blocks old",
    );
  });
});

describe("an oracle that fails for many validators", () => {
  const inhibitsOf = (name: string): readonly string[] =>
    CONDITIONS.find((one) => one.name === name)?.inhibits ?? [];

  it("is the cause of the blocks, and not the own sidecar", () => {
    const alert = (name: string) => ({
      alert: name,
      sinceMs: START_MS,
      resolvedAtMs: START_MS + 600_000,
      inhibits: inhibitsOf(name),
    });
    const causes = (...names: readonly string[]) => causesOf(names.map(alert));
    expect(causes("sidecar-down", "oracle-calls-failing")).toEqual([{ cause: "sidecar-down", bad: 300n }]);
    expect(causes("sidecar-down", "oracle-calls-failing", "network-votes-missing")).toEqual([
      { cause: "network-votes-missing", bad: 300n },
    ]);
  });

  it("a signing window that fills is never the cause of a block", () => {
    expect(inhibitsOf("validator-jailed")).toEqual(
      expect.arrayContaining([
        "not-signing",
        "not-in-validator-set",
        "jail-near",
        "jail-risk",
        "oracle-calls-failing",
      ]),
    );
    const alert = { alert: "jail-near", sinceMs: START_MS, inhibits: inhibitsOf("jail-near") };
    expect(causesOf([alert])).toEqual([{ cause: "no known cause", bad: 300n }]);
  });
});

/** Causes of 300 lost blocks. */
function causesOf(alerts: readonly ExplainingAlert[]) {
  const lost = {
    startMs: Math.floor((START_MS + 600_000) / 3_600_000) * 3_600_000,
    counts: { ...NO_BLOCKS, bad: 300n },
    estimated: NO_BLOCKS,
  };
  const ledger = ledgerViewOf({
    hours: [lost],
    misses: [{ fromMs: START_MS, toMs: START_MS + 600_000, good: 0n, bad: 300n }],
  });
  return incidentsOf({ ledger, alerts, policy: SPECIFIED_POLICY }, START_MS, START_MS + 600_001).map(
    ({ cause, bad: missed }) => ({ cause, bad: missed }),
  );
}

it("a validator that is not in the set names the key that the chain has for its operator", () => {
  const out = withChain(() => ({ validator: up({ size: 20, isInSet: false, votingPower: 0n }) }));
  const rotated = withChain(({ slashing }) =>
    slashing?.state === "up"
      ? { slashing: up({ ...slashing.value, rotatedTo: "neutronvalcons1new" }) }
      : expect.unreachable(),
  );
  expect(reasonOf("not-in-validator-set", out)).toBe("the validator is not in the set, which has 20 others");
  expect(reasonOf("not-in-validator-set", all(out, rotated))).toBe(
    "the validator is not in the set, which has 20 others; the validator's consensus key was changed to neutronvalcons1new: correct consensus_address",
  );
});
