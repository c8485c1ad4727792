import { describe, expect, it } from "vitest";
import { countObservation, EMPTY_LEDGER } from "../../src/watchdog/ledger/ledger.ts";
import type { NodeReading, Seen } from "../../src/watchdog/sources/observation.ts";
import { countsOf, nodePage, observationOf, up } from "../support/watchdog/observations.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const OPTIONS = { intervalMs: 5000 };
const DOWN: Seen<NodeReading> = { state: "error", failure: { code: "refused", text: "" }, durationMs: 1 };

/** Good and failed calls and height of a node at one poll; undefined: it cannot be read. */
type Reading = readonly [good: bigint, bad: bigint, height: bigint] | undefined;

/** Counts polls of the nodes "a" and "b", 5 s apart. The first poll begins the count. */
function count(...polls: readonly (readonly [Reading, Reading])[]) {
  const seen = (reading: Reading): Seen<NodeReading> =>
    reading === undefined ? DOWN : up(nodePage(reading[0], reading[1], { height: reading[2] }));
  const ledger = polls.reduce(
    (sum, [a, b], index) =>
      countObservation(
        sum,
        observationOf(NOON + index * 5000, [
          { name: "a", metrics: seen(a) },
          { name: "b", metrics: seen(b) },
        ]),
        OPTIONS,
      ).ledger,
    EMPTY_LEDGER,
  );
  const { good, bad, unknown } = countsOf(ledger, "2026-11");
  return [good, bad, unknown];
}

const START: readonly [Reading, Reading] = [
  [100n, 0n, 1000n],
  [50n, 0n, 1000n],
];

describe("several nodes of one validator", () => {
  it("are never added", () => {
    expect(
      count(START, [
        [105n, 0n, 1005n],
        [55n, 0n, 1005n],
      ]),
    ).toEqual([5n, 0n, 0n]);
  });

  it("count the node that has prices", () => {
    const aFails = [
      [102n, 3n, 1005n],
      [55n, 0n, 1005n],
    ] as const;
    const bFails = [
      [107n, 3n, 1010n],
      [56n, 4n, 1010n],
    ] as const;
    expect(count(START, aFails)).toEqual([5n, 0n, 0n]);
    expect(count(START, aFails, bFails)).toEqual([10n, 0n, 0n]);
  });

  it("count a failure that all have", () => {
    expect(
      count(START, [
        [103n, 2n, 1005n],
        [53n, 2n, 1005n],
      ]),
    ).toEqual([3n, 2n, 0n]);
  });

  it("count each block once when the first node is gone for a while", () => {
    const polls = [
      [undefined, [55n, 0n, 1005n]],
      [undefined, [60n, 0n, 1010n]],
      [
        [115n, 0n, 1015n],
        [65n, 0n, 1015n],
      ],
      [[120n, 0n, 1020n], undefined],
    ] as const;
    expect(count(START, ...polls)).toEqual([20n, 0n, 0n]);
  });

  it("count each block once when no node could be read, and then one after the other", () => {
    const polls = [
      [undefined, undefined],
      [[110n, 0n, 1010n], undefined],
      [
        [115n, 0n, 1015n],
        [65n, 0n, 1015n],
      ],
    ] as const;
    expect(count(START, ...polls)).toEqual([15n, 0n, 0n]);
  });

  it("do not count a block twice that only one of them has already", () => {
    const polls = [
      [
        [106n, 0n, 1006n],
        [55n, 0n, 1005n],
      ],
      [undefined, [60n, 0n, 1010n]],
      [undefined, [65n, 0n, 1015n]],
    ] as const;
    expect(count(START, ...polls)).toEqual([15n, 0n, 0n]);
  });

  it("leave a block unknown that the next node had counted before the last one left", () => {
    const polls = [
      [
        [105n, 0n, 1005n],
        [56n, 0n, 1006n],
      ],
      [undefined, [60n, 0n, 1010n]],
    ] as const;
    expect(count(START, ...polls)).toEqual([9n, 0n, 1n]);
  });

  it("prefer a node that votes to one that does not", () => {
    expect(
      count(
        [
          [100n, 0n, 1000n],
          [0n, 0n, 1000n],
        ],
        [
          [103n, 2n, 1005n],
          [0n, 0n, 1005n],
        ],
      ),
    ).toEqual([3n, 2n, 0n]);
  });
});
