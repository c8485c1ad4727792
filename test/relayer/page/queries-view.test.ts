import { describe, expect, it } from "vitest";
import {
  PAGE_ROWS,
  parseQueriesView,
  selectQueries,
  SORTS,
  viewHref,
} from "../../../src/relayer/page/query-section.ts";
import type { QueryView } from "../../../src/relayer/health/relayer-status.ts";
import { sampleLateness, sampleView } from "../status-samples.ts";

const view = (text = "") => parseQueriesView(new URLSearchParams(text));
const row = (id: number, fields: Partial<QueryView> = {}): QueryView => ({
  ...sampleView({ id: BigInt(id), cost: undefined }),
  ...fields,
});
const idsOf = (rows: readonly QueryView[], text = "") =>
  selectQueries(rows, view(text)).rows.map(({ id }) => Number(id));

const late = (blocks: bigint, isOverdue = false) => ({ lateness: sampleLateness({ blocks, isOverdue }) });
const error = { code: "rejected", reason: "Out of Gas" } as const;

const ROWS: readonly QueryView[] = [
  row(1, { connectionId: "connection-2", owner: "neutron1zzz", cost: { gas: 5n, fee: 1n } }),
  row(2, { ...late(9n), resultAge: { blocks: 90n, ms: 1, isAtLeast: false } }),
  row(3, { ...late(7n, true), state: "backing_off", error }),
  row(10, { state: "pending", resultAge: undefined, type: "tx" }),
];

describe("the queries of the page", () => {
  it("are sorted by lateness, overdue ones first", () => {
    expect(idsOf(ROWS)).toEqual([3, 2, 1, 10]);
    expect(idsOf(ROWS, "sort=-late")).toEqual([1, 10, 2, 3]);
  });

  it.each([
    ["id", [1, 2, 3, 10]],
    ["-id", [10, 3, 2, 1]],
    ["connection", [2, 3, 10, 1]],
    ["owner", [2, 3, 10, 1]],
    ["age", [10, 2, 1, 3]],
    ["nonsense", [3, 2, 1, 10]],
  ])("are sorted by %s", (sort, ids) => {
    expect(idsOf(ROWS, `sort=${sort}`)).toEqual(ids);
  });

  it.each([
    ["search=10", [10]],
    ["search=OUT OF GAS", [3]],
    ["search=rejected", [3]],
    ["search=connection-2", [1]],
    ["search=zzz", [1]],
    ["search=tx", [10]],
    ["search=nothing", []],
    ["state=overdue", [3]],
    ["state=late", [3, 2]],
    ["state=pending", [10]],
    ["state=backing_off", [3]],
    ["state=<script>", [3, 2, 1, 10]],
    ["state=late&search=2", [2]],
  ])("are selected by %s", (text, ids) => {
    expect(idsOf(ROWS, text)).toEqual(ids);
  });

  it("are cut into pages on the server", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => row(index + 1));
    const last = selectQueries(many, view("sort=id&page=100"));
    expect(last.rows.map(({ id }) => Number(id))).toEqual(
      Array.from({ length: PAGE_ROWS }, (_, at) => 4_951 + at),
    );
    expect(last).toMatchObject({ page: 100, pages: 100, matching: 5_000 });
    expect(selectQueries(many, view("page=9999"))).toMatchObject({ page: 100 });
    for (const page of ["0", "-1", "1.5", "x", "9e99"]) expect(view(`page=${page}`).page).toBe(1);
  });

  it("have addresses that give the same view again", () => {
    for (const sort of SORTS)
      for (const text of [`search=a%26b&state=late&sort=-${sort}&page=3`, `sort=${sort}`]) {
        const chosen = view(text);
        expect(parseQueriesView(new URL(viewHref(chosen), "http://x").searchParams)).toEqual(chosen);
      }
    expect(viewHref(view())).toBe("/?");
    expect(view(`search=${"x".repeat(500)}`).search).toHaveLength(100);
  });
});
