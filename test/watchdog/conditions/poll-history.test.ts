import { describe, expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { evaluateConditions } from "../../../src/watchdog/conditions/conditions.ts";
import {
  advanceHistory,
  EMPTY_HISTORY,
  type NodeHistory,
  type PollHistory,
} from "../../../src/watchdog/conditions/poll-history.ts";
import {
  all,
  type Change,
  failed,
  healthyFrame,
  latencyOf,
  START_MS,
  withChain,
  withoutPageValues,
  withPage,
  withPrices,
} from "../../support/watchdog/frames.ts";

const { rules, majorPairs } = alertsSchema.parse({});

it("no condition is active at the first poll after an hour without polls", () => {
  let history = EMPTY_HISTORY;
  for (const afterMs of [0, 10_000, 20_000, 3_600_000]) {
    const frame = healthyFrame(START_MS + afterMs);
    history = advanceHistory(history, frame.observation, 60_000);
    const active = [...evaluateConditions(rules, { ...frame, history, majorPairs })].filter(
      ([, { kind }]) => kind === "active",
    );
    expect([afterMs, active]).toEqual([afterMs, []]);
  }
});

describe("the history", () => {
  const GAP_MS = 60_000;
  type Polls = (readonly [second: number, change: Change])[];
  /** The history after polls at these seconds. */
  const after = (...polls: Polls): PollHistory =>
    polls.reduce(
      (history, [second, change]) =>
        advanceHistory(history, change(healthyFrame(START_MS + second * 1000)).observation, GAP_MS),
      EMPTY_HISTORY,
    );
  const nodeAfter = (...polls: Polls): Partial<NodeHistory> => after(...polls).nodes.get("node") ?? {};
  const same: Change = (frame) => frame;
  const counters = (success: bigint, failure: bigint): Change => withPage(() => ({ success, failure }));
  const at = (second: number): number => START_MS + second * 1000;

  it("says when calls were last good and bad, by what grew between two polls without a gap", () => {
    const first = nodeAfter([0, counters(5n, 1n)]);
    expect([first.lastGoodMs, first.lastBadMs, first.seenSinceMs]).toEqual([undefined, undefined, at(0)]);
    const good = nodeAfter([0, counters(5n, 1n)], [60, counters(6n, 1n)]);
    expect([good.lastGoodMs, good.lastBadMs, good.seenSinceMs]).toEqual([at(60), undefined, at(0)]);
    const gap = nodeAfter([0, counters(5n, 1n)], [61, counters(6n, 2n)]);
    expect([gap.lastGoodMs, gap.lastBadMs, gap.seenSinceMs]).toEqual([undefined, undefined, at(61)]);
  });

  it("takes a counter that fell as one that began again at zero", () => {
    const restarted = nodeAfter([0, counters(5n, 3n)], [10, counters(2n, 0n)]);
    expect([restarted.lastGoodMs, restarted.lastBadMs]).toEqual([at(10), undefined]);
  });

  it("says when the heights of node and chain last grew", () => {
    const heights = (node: bigint, chain: bigint): Change =>
      all(
        withPage(() => ({ height: node })),
        withChain(({ head }) => ({
          head: head.state === "up" ? { ...head, value: { ...head.value, height: chain } } : head,
        })),
      );
    const history = after([0, heights(7n, 8n)], [10, heights(9n, 9n)], [20, heights(9n, 9n)]);
    const blind = withChain(() => ({ head: failed() }));
    const progress = { height: 9n, firstSeenMs: at(0), advancedAtMs: at(10) };
    expect([history.chain, history.nodes.get("node")?.progress]).toEqual([progress, progress]);
    expect(advanceHistory(history, blind(healthyFrame(at(30))).observation, GAP_MS).chain).toEqual(progress);
  });

  it("says since when the sidecar shows its timestamp, and whether it was seen to change", () => {
    const tick = (tickedAtMs: number | undefined): Change => withPrices(() => ({ tickedAtMs }));
    expect(nodeAfter([0, tick(5)], [10, tick(5)]).tick).toEqual({
      value: 5,
      sinceMs: at(0),
      hasChanged: false,
    });
    const changed = [
      [0, tick(5)],
      [10, tick(undefined)],
      [20, tick(undefined)],
    ] as const;
    expect(nodeAfter(...changed).tick).toEqual({ value: 0, sinceMs: at(10), hasChanged: true });
    const derived = all(
      tick(9),
      withPrices(() => ({ isDerived: true })),
    );
    expect(nodeAfter(...changed, [30, derived]).tick).toEqual(nodeAfter(...changed).tick);
  });

  it("follows WebSocket providers only, and knows of no message at their first poll", () => {
    const first = nodeAfter([0, same]).webSockets;
    expect([...(first?.keys() ?? [])]).toEqual(["binance_ws", "okx_ws"]);
    expect(first?.get("okx_ws")?.lastReadMs).toBeUndefined();
    expect(nodeAfter([0, same], [10, same]).webSockets?.get("okx_ws")?.lastReadMs).toBe(at(10));
  });

  it("has the node's calls between the last two polls with a new one, by their duration", () => {
    const calls = (quick: bigint, slow: bigint): Change =>
      withPage(() => ({ oracleLatency: latencyOf(quick, slow) }));
    const recent = (...polls: Polls) => {
      const { atMs, calls: count, within } = nodeAfter(...polls).latency?.recent ?? {};
      return atMs === undefined ? undefined : [atMs, count, within?.get(512)];
    };
    expect(recent([0, calls(90n, 10n)])).toBeUndefined();
    expect(recent([0, calls(90n, 10n)], [10, calls(93n, 12n)])).toEqual([at(10), 5n, 3n]);
    expect(recent([0, calls(90n, 10n)], [10, calls(93n, 12n)], [20, calls(93n, 12n)])).toEqual([
      at(10),
      5n,
      3n,
    ]);
    expect(recent([0, calls(90n, 10n)], [61, calls(93n, 12n)])).toBeUndefined();
    expect(recent([0, calls(90n, 10n)], [10, calls(1n, 2n)])).toEqual([at(10), 3n, 1n]);
    expect(recent([0, calls(0n, 9n)], [10, calls(0n, 4n)])).toEqual([at(10), 4n, 0n]);
    // The new process made more calls than the old one.
    expect(recent([0, calls(2n, 1n)], [10, calls(1n, 9n)])).toEqual([at(10), 10n, 1n]);
    expect(nodeAfter([0, calls(1n, 1n)], [10, withoutPageValues("oracleLatency")]).latency).toBeUndefined();
  });
});
