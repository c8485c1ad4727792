import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RegisteredQuery } from "../../src/relayer/chain/registered-query.ts";
import { createServiceOrder, type ServiceOrder, sortByNeed } from "../../src/relayer/submit/service-order.ts";
import { sampleQuery } from "./samples.ts";

const WINDOW = 100;

function idsByNeed(order: ServiceOrder, queries: readonly RegisteredQuery[]): readonly bigint[] {
  return sortByNeed(queries, (query) => order.needOf(query)).map(({ id }) => id);
}

const answeredAt = (id: bigint, lastLocalHeight: bigint, fields: Partial<RegisteredQuery> = {}) =>
  sampleQuery({ id, lastLocalHeight, ...fields });

describe("the order of service", () => {
  it("has the longest due first, of any period, and then the lower id", () => {
    const queries = [
      answeredAt(1n, 90n, { updatePeriod: 9n }),
      answeredAt(2n, 97n, { updatePeriod: 1n }),
      answeredAt(0n, 99n, { updatePeriod: 1n }),
      answeredAt(3n, 90n, { updatePeriod: 9n }),
      answeredAt(4n, 89n, { updatePeriod: 9n }),
      answeredAt(5n, 92n, { updatePeriod: 9n }),
    ];
    // Due at 98, 98, 99, 99, 100, 101.
    expect(idsByNeed(createServiceOrder(), queries)).toEqual([2n, 4n, 1n, 3n, 0n, 5n]);
  });

  it("counts a query without a result as due since it was registered", () => {
    const queries = [
      answeredAt(1n, 90n),
      answeredAt(2n, 0n, { registeredAtHeight: 96n }),
      answeredAt(3n, 0n),
    ];
    expect(idsByNeed(createServiceOrder(), queries)).toEqual([3n, 1n, 2n]);
  });

  it("does not end a turn before the result is included: one that never left is due as before", () => {
    const order = createServiceOrder();
    const query = answeredAt(1n, 90n);
    const before = order.needOf(query);
    expect(order.needOf(query, { count: 1, sentAt: 99n })).toEqual({
      ...before,
      turn: before.turn + 1,
      had: before.had + 1,
      dueAt: 105n,
    });
    expect(order.needOf(query)).toEqual(before);
  });

  it("is a turn later behind each further result of the query", () => {
    const order = createServiceOrder();
    const query = answeredAt(1n, 90n);
    const { turn } = order.needOf(query);
    const behind = order.needOf(query, { count: 3, sentAt: 99n });
    expect([behind.turn - turn, behind.had - turn, behind.dueAt]).toEqual([3, 3, 115n]);
  });

  it("lets a query catch up three turns at most, and none after a failure or as a newcomer", () => {
    const order = createServiceOrder();
    const [busy, lost, failed] = [answeredAt(1n, 90n), answeredAt(2n, 90n), answeredAt(3n, 90n)];
    for (const query of [busy, lost, failed]) order.recordIncluded(query);
    for (let turn = 0; turn < 9; turn++) order.recordIncluded(busy);
    order.recordFailed(failed.id);
    const turns = [busy, lost, failed, answeredAt(4n, 0n)].map((query) => order.needOf(query).turn);
    expect(turns).toEqual([10, 7, 9, 9]);
  });

  it("lets queries that are further behind take turns too", () => {
    const order = createServiceOrder();
    const [busy, first, second] = [answeredAt(1n, 90n), answeredAt(2n, 89n), answeredAt(3n, 90n)];
    for (const query of [busy, first, second]) order.recordIncluded(query);
    order.recordIncluded(first);
    for (let turn = 0; turn < 9; turn++) order.recordIncluded(busy);
    // Both may catch up the same number of turns.
    expect([first, second].map((query) => order.needOf(query).turn)).toEqual([7, 7]);
    expect(idsByNeed(order, [busy, first, second])).toEqual([3n, 2n, 1n]);
    order.recordIncluded(second);
    expect(idsByNeed(order, [busy, first, second])).toEqual([2n, 3n, 1n]);
  });

  it("forgets removed queries", () => {
    const order = createServiceOrder();
    const query = answeredAt(1n, 90n);
    for (let turn = 0; turn < 3; turn++) order.recordIncluded(query);
    order.forget((id) => id === 1n);
    expect(order.needOf(query).turn).toBe(2);
  });

  it("answers queries of equal period equally often over any 100 blocks, whatever fits and whichever fail", () => {
    const blocks = fc.array(fc.record({ room: fc.integer({ min: 3, max: 9 }), failing: fc.nat(29) }), {
      minLength: WINDOW,
      maxLength: WINDOW + 40,
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 30 }),
        blocks,
        fc.array(fc.nat(29), { maxLength: 4 }),
        (count, all, bad) => {
          const isBad = (id: bigint): boolean => bad.includes(Number(id));
          const order = createServiceOrder();
          let queries = Array.from({ length: count }, (_, id) =>
            answeredAt(BigInt(id), 0n, { updatePeriod: 1n }),
          );
          const answers = all.map(({ room, failing }, block) => {
            // Queries of their own that fail now and then, and are away then.
            const away = (id: bigint): boolean => isBad(id) && Number(id) % 3 === failing % 3;
            const due = queries.filter(({ id }) => !away(id));
            const ids = new Set(idsByNeed(order, due).slice(0, room));
            for (const query of queries) {
              if (away(query.id)) order.recordFailed(query.id);
              else if (ids.has(query.id)) order.recordIncluded(query);
            }
            queries = queries.map((query) =>
              ids.has(query.id) ? { ...query, lastLocalHeight: BigInt(block + 1) } : query,
            );
            return ids;
          });
          const good = queries.map(({ id }) => id).filter((id) => !isBad(id));
          for (let from = 0; from + WINDOW <= answers.length; from++) {
            const counts = good.map(
              (id) => answers.slice(from, from + WINDOW).filter((ids) => ids.has(id)).length,
            );
            expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
