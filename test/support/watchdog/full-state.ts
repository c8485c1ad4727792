import { NO_ROLLUPS } from "../../../src/watchdog/ledger/rollups.ts";
import type { PollHistory } from "../../../src/watchdog/conditions/poll-history.ts";
import type { Ledger } from "../../../src/watchdog/ledger/ledger.ts";
import { monthRecord, rollup } from "./ledger-view.ts";

const BASELINE = {
  chainId: "c-1",
  success: 9_007_199_254_740_991n,
  failure: 2n,
  height: 9_007_199_254_740_993n,
  processStartMs: 1_795_262_370_310,
  atMs: 1_795_262_970_310,
};

/** A ledger with every field. */
export const FULL_LEDGER: Ledger = {
  chainId: "c-1",
  sources: {
    calls: {
      counterStates: new Map([
        [
          "a",
          {
            baseline: BASELINE,
            conflict: { first: BASELINE, last: BASELINE, alternates: true },
            replacedAtMs: 7,
          },
        ],
        ["b", { baseline: { chainId: "c-1", success: 0n, failure: 0n, atMs: 5 } }],
      ]),
      checkpoint: { atMs: 3, timeMs: 4, height: 9_007_199_254_740_993n, node: "a" },
      rollups: {
        months: new Map([
          ["2026-10", monthRecord("2026-10", 1n, 2n, { finalized: { atMs: 9, hash: "ab" } })],
          [
            "2026-11",
            monthRecord("2026-11", 4n, 5n, {
              estimated: { good: 1n, bad: 0n, unknown: 0n },
              backfilled: { good: 2n, bad: 1n, unknown: 3n },
            }),
          ],
        ]),
        minute: [rollup(60_000, { good: 1n })],
        hour: [{ ...rollup(3_600_000, { bad: 2n }), backfilled: { good: 0n, bad: 1n, unknown: 0n } }],
        day: [rollup(86_400_000, { unknown: 3n })],
      },
    },
    votes: { counterStates: new Map(), rollups: NO_ROLLUPS },
    revenue: { counterStates: new Map(), rollups: NO_ROLLUPS },
  },
  events: {
    recent: [
      { id: 1, kind: "watchdog-start", fromMs: 1, toMs: 1, text: "it began" },
      { id: 2, kind: "node-restart", fromMs: 2, toMs: 5, node: "a", text: 'a "quoted" text' },
    ],
    nextId: 3,
  },
  misses: [
    {
      fromMs: 1,
      toMs: 2,
      good: 0n,
      bad: 3n,
      blocks: { from: 9_007_199_254_740_993n, to: 9_007_199_254_740_995n },
    },
    { fromMs: 3, toMs: 4, good: 1n, bad: 2n },
  ],
  anchors: [{ timeMs: 1, height: 2n }],
  progress: { height: 7n, sinceMs: 8, haltId: 2 },
  processes: new Map([
    [
      "__proto__",
      { sidecarSeenMs: 1, sidecarStartMs: 2, sidecarVersion: "v1", nodeVersion: "v2", changedMs: 3 },
    ],
    ["b", {}],
  ]),
  params: "{}",
};

/** A history with every field. */
export const FULL_HISTORY: PollHistory = {
  nodes: new Map([
    [
      "a",
      {
        progress: { height: 9_007_199_254_740_993n, firstSeenMs: 1, advancedAtMs: 2 },
        seenSinceMs: 1,
        seenMs: 3,
        success: 9_007_199_254_740_991n,
        failure: 2n,
        lastGoodMs: 4,
        lastBadMs: 5,
        latency: {
          calls: 9_007_199_254_740_993n,
          within: new Map([
            [1, 2n],
            [512, 9_007_199_254_740_993n],
          ]),
          recent: { atMs: 6, calls: 4n, within: new Map([[512, 3n]]) },
        },
        tick: { value: 6, sinceMs: 7, hasChanged: true },
        recentPrices: [{ atMs: 3, prices: new Map([["BTC/USD", 10n ** 77n]]) }],
        webSockets: new Map([
          ["__proto__", { reads: 8n, sinceMs: 9, lastReadMs: 10 }],
          ["b_ws", { reads: 0n, sinceMs: 9 }],
        ]),
      },
    ],
    ["b", { progress: {}, webSockets: new Map() }],
  ]),
  chain: { height: 7n, firstSeenMs: 8 },
  upgrade: { name: "v10", height: 9n, info: "", seenMs: 9, doneMs: 10 },
};
