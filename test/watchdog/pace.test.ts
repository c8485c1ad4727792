import { expect, it } from "vitest";
import { addAnchor, type Anchor, meanBlockTimeMs } from "../../src/watchdog/ledger/ledger.ts";

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
