import { describe, expect, it } from "vitest";
import { createLookAhead, type LookAhead } from "../../src/relayer/connection/worker.ts";

/** A lead that has seen blocks every `blockMs`. */
function leadWithBlocks(blockMs: number, heights: readonly bigint[] = [1n, 2n, 3n]): LookAhead {
  let nowMs = 0;
  const lead = createLookAhead({ monotonicMs: () => nowMs });
  let last = heights[0] ?? 0n;
  for (const height of heights) {
    nowMs += blockMs * Number(height - last);
    last = height;
    lead.recordHeight(height);
  }
  return lead;
}

describe("the lead of a connection", () => {
  it("is none while blocks or cycles are unknown, or short", () => {
    expect(createLookAhead({ monotonicMs: () => 0 }).blocks(1_000_000)).toBe(0n);
    expect(leadWithBlocks(1_000, [1n]).blocks(1_000_000)).toBe(0n);
    expect(leadWithBlocks(1_000).blocks(600)).toBe(0n);
  });

  it("is a block when cycle and broadcast together take more than 60 % of one", () => {
    const lead = leadWithBlocks(1_000);
    expect(lead.blocks(601)).toBe(1n);
    // The first cycle counts in full weight from 0: 30 %.
    lead.recordCycle(1_000);
    expect([lead.blocks(300), lead.blocks(301)]).toEqual([0n, 1n]);
  });

  it("is two blocks when they take more than 1.3 of one, and never more", () => {
    const lead = leadWithBlocks(1_000);
    expect([lead.blocks(1_300), lead.blocks(1_301), lead.blocks(9_000)]).toEqual([1n, 2n, 2n]);
  });

  it("follows changes of cycle and block by 30 % at each measurement", () => {
    let nowMs = 0;
    const lead = createLookAhead({ monotonicMs: () => nowMs });
    for (const [height, atMs] of [
      [1n, 0],
      [2n, 1_000],
      [3n, 3_000],
    ] as const) {
      nowMs = atMs;
      lead.recordHeight(height);
    }
    // The block is now 1,000 + 30 % of 1,000.
    expect([lead.blocks(780), lead.blocks(781)]).toEqual([0n, 1n]);
    lead.recordCycle(1_000);
    lead.recordCycle(0);
    expect([lead.blocks(570), lead.blocks(571)]).toEqual([0n, 1n]);
  });

  it("divides the time by the heights between two sights, and ignores a repeated or lower height", () => {
    const skipped = leadWithBlocks(1_000, [1n, 5n]);
    expect([skipped.blocks(600), skipped.blocks(601)]).toEqual([0n, 1n]);
    let nowMs = 0;
    const lead = createLookAhead({ monotonicMs: () => nowMs });
    lead.recordHeight(5n);
    nowMs = 1_000;
    lead.recordHeight(5n);
    expect(lead.blocks(10_000)).toBe(0n);
    lead.recordHeight(6n);
    expect([lead.blocks(600), lead.blocks(601)]).toEqual([0n, 1n]);
    nowMs = 9_000;
    // A reset of the chain: the next difference counts from here.
    lead.recordHeight(2n);
    nowMs = 10_000;
    lead.recordHeight(3n);
    expect([lead.blocks(600), lead.blocks(601)]).toEqual([0n, 1n]);
  });

  it("asks the remote chain four times a block, between 50 ms and a second", () => {
    expect(createLookAhead({ monotonicMs: () => 0 }).retryMs()).toBe(250);
    expect(leadWithBlocks(1_000).retryMs()).toBe(250);
    expect(leadWithBlocks(100).retryMs()).toBe(50);
    expect(leadWithBlocks(60_000).retryMs()).toBe(1_000);
  });
});
