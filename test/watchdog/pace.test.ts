import { expect, it } from "vitest";
import {
  addAnchor,
  type Anchor,
  countObservation,
  EMPTY_LEDGER,
  meanBlockTimeMs,
} from "../../src/watchdog/ledger/ledger.ts";
import { nodePage, observationOf, up } from "../support/watchdog/observations.ts";

const HOUR = 3_600_000;

/** Anchors of a chain with these hours between two heights, 600 blocks apart. */
function anchorsOf(hours: readonly number[]): readonly Anchor[] {
  let now: Anchor = { timeMs: 0, height: 0n };
  let anchors: readonly Anchor[] = [now];
  for (const length of hours) {
    now = { timeMs: now.timeMs + length * HOUR, height: now.height + 600n };
    anchors = addAnchor(anchors, now);
  }
  return anchors;
}

const meanOf = (hours: readonly number[]): number | undefined => {
  const anchors = anchorsOf(hours);
  return meanBlockTimeMs(anchors, anchors.at(-1));
};

it("the time between blocks is the mean of the last day", () => {
  expect(meanOf(Array.from({ length: 30 }, () => 1))).toBe(6000);
  expect(meanOf([1, 1.1])).toBe(6300);
  expect(meanOf([])).toBeUndefined();
});

it("an hour with a halt in it does not count, and a chain that became slower does", () => {
  expect(meanOf([1, 1, 3, 1, 1])).toBe(6000);
  expect(meanOf([3, ...Array.from({ length: 12 }, () => 1)])).toBe(6000);
  expect(meanOf([1, 1, 2, 2, 2, 2])).toBeGreaterThan(6000);
});

it("a halt that no block has ended does not count", () => {
  const anchors = anchorsOf([1, 1]);
  const last = anchors.at(-1) ?? expect.unreachable("no anchor");
  expect(meanBlockTimeMs(anchors, { ...last, timeMs: last.timeMs + 5 * HOUR })).toBe(6000);
});

it("the first reading of a node has the mean since the node's start", () => {
  const first = observationOf(HOUR, [
    { metrics: up(nodePage(590n, 10n, { height: 1000n, processStartMs: 0 })) },
  ]);
  const { ledger } = countObservation(EMPTY_LEDGER, first, { intervalMs: 5000 });
  expect(ledger.anchors).toEqual([
    { timeMs: 0, height: 400n },
    { timeMs: HOUR, height: 1000n },
  ]);
  expect(meanBlockTimeMs(ledger.anchors, ledger.anchors.at(-1))).toBe(6000);
  const second = observationOf(2 * HOUR, [
    { metrics: up(nodePage(1190n, 10n, { height: 1600n, processStartMs: 0 })) },
  ]);
  expect(countObservation(ledger, second, { intervalMs: 5000 }).ledger.anchors).toEqual([
    ...ledger.anchors,
    { timeMs: 2 * HOUR, height: 1600n },
  ]);
});
