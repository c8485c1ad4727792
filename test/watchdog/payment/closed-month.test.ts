import { expect, it } from "vitest";
import { EMPTY_LEDGER } from "../../../src/watchdog/ledger/ledger.ts";
import { type MonthRecord, NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import { closedMonth } from "../../../src/watchdog/polling/closed-month.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { EMPTY_STATE } from "../../../src/watchdog/state/state-store.ts";

const RECORD: MonthRecord = {
  month: "2026-10",
  counts: { good: 975n, bad: 25n, unknown: 5n },
  estimated: NO_BLOCKS,
  coveredFromMs: 0,
  finalized: { atMs: 1, hash: "ab" },
};

function closed(record: MonthRecord, month = "2026-10") {
  const { calls } = EMPTY_LEDGER.sources;
  const rollups = { ...calls.rollups, months: new Map([[record.month, record]]) };
  const ledger = { ...EMPTY_LEDGER, sources: { ...EMPTY_LEDGER.sources, calls: { ...calls, rollups } } };
  const validator = {
    target: { name: "v", nodes: [], egress: [] },
    policy: { policy: SPECIFIED_POLICY, fromChain: false },
  };
  const state = { ...EMPTY_STATE, ledgers: new Map([["v", ledger]]) };
  return closedMonth(state, { validator, month, assessment: undefined });
}

it("a month is closed when it is finalized and has a block, with its pay by the policy", () => {
  // 97.5 % is five sixths of the way from 95 % to 98 %.
  expect(closed(RECORD)).toEqual({
    month: "2026-10",
    counts: RECORD.counts,
    payCents: 250_000n,
    fullCents: 300_000n,
  });
  const { finalized: _, ...open } = RECORD;
  expect(closed(open)).toBeUndefined();
  expect(closed({ ...RECORD, counts: NO_BLOCKS })).toBeUndefined();
  expect(closed(RECORD, "2026-09")).toBeUndefined();
});
