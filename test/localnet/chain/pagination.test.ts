import { beforeEach, describe, expect, it } from "vitest";
import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import {
  paginate,
  paginateFiltered,
  type PagedStore,
} from "../../../src/localnet/chain/runtime/pagination.ts";
import type { PageRequest } from "../../../src/cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";

let paged: PagedStore;

beforeEach(() => {
  const { store } = createMemoryChain("local-1");
  for (const key of ["a", "p/1", "p/2", "p/3", "p/4", "p/5", "q"])
    store.set(utf8(key), utf8(`value of ${key}`));
  paged = { store, prefix: utf8("p/") };
});

function request(of: Partial<PageRequest>): PageRequest {
  return { key: new Uint8Array(0), offset: 0n, limit: 0n, countTotal: false, reverse: false, ...of };
}

/** "keys of the page | next key | total". */
function page(of: Partial<PageRequest> | undefined): string {
  const keys: string[] = [];
  const response = paginate(paged, of === undefined ? undefined : request(of), (key) =>
    keys.push(fromUtf8(key)),
  );
  return `${keys.join("")} | ${fromUtf8(response.nextKey)} | ${response.total}`;
}

/** The same for a filter of odd keys. */
function oddPage(of: Partial<PageRequest>): string {
  const keys: string[] = [];
  const response = paginateFiltered(paged, request(of), (key, _value, onPage) => {
    const isOdd = Number(fromUtf8(key)) % 2 === 1;
    if (isOdd && onPage) keys.push(fromUtf8(key));
    return isOdd;
  });
  return `${keys.join("")} | ${fromUtf8(response.nextKey)} | ${response.total}`;
}

describe("a page", () => {
  it.each([
    [undefined, "12345 |  | 5"],
    [{}, "12345 |  | 5"],
    [{ limit: 2n }, "12 | 3 | 0"],
    [{ limit: 5n }, "12345 |  | 0"],
    [{ limit: 2n, countTotal: true }, "12 | 3 | 5"],
    [{ limit: 2n, offset: 3n }, "45 |  | 0"],
    [{ limit: 2n, offset: 1n, countTotal: true }, "23 | 4 | 5"],
    [{ offset: 9n }, " |  | 5"],
    [{ limit: 2n, reverse: true }, "54 | 3 | 0"],
    [{ limit: 2n, key: utf8("3") }, "34 | 5 | 0"],
    [{ limit: 9n, key: utf8("3"), countTotal: true }, "345 |  | 0"],
    [{ limit: 2n, key: utf8("3"), reverse: true }, "32 | 1 | 0"],
    [{ limit: 2n, key: utf8("5"), reverse: true }, "54 | 3 | 0"],
  ])("of %o", (of, expected) => {
    expect(page(of)).toBe(expected);
  });

  it("with key and offset fails", () => {
    expect(() => page({ key: utf8("1"), offset: 1n })).toThrow(
      "invalid request, either offset or key is expected, got both",
    );
  });
});

describe("a filtered page", () => {
  it.each([
    [{}, "135 |  | 3"],
    [{ limit: 1n }, "1 | 3 | 0"],
    [{ limit: 1n, offset: 1n, countTotal: true }, "3 | 5 | 3"],
    [{ limit: 1n, key: utf8("3") }, "3 | 4 | 0"],
    [{ limit: 1n, key: utf8("4") }, "5 |  | 0"],
    [{ limit: 2n, reverse: true }, "53 | 1 | 0"],
  ])("of %o", (of, expected) => {
    expect(oddPage(of)).toBe(expected);
  });

  it("by offset also visits entries outside of the page, until one match after it", () => {
    const seen: string[] = [];
    paginateFiltered(paged, request({ limit: 2n }), (key) => {
      seen.push(fromUtf8(key));
      return true;
    });
    expect(seen.join("")).toBe("123");
  });
});
