import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../src/base/bytes.ts";
import { createCacheStore } from "../../../src/chain/store/cache-store.ts";
import type { Entry, KVStore } from "../../../src/chain/store/kv-store.ts";

type Model = Map<string, string>;

/** A store as plain as can be: a map, sorted whenever somebody iterates. */
function mapStore(model: Model): KVStore {
  const entries = (start?: Uint8Array, end?: Uint8Array): Entry[] =>
    [...model]
      .filter(
        ([key]) => (start === undefined || key >= toHex(start)) && (end === undefined || key < toHex(end)),
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [Buffer.from(key, "hex"), Buffer.from(value, "hex")]);
  const get = (key: Uint8Array): Uint8Array | undefined => {
    const value = model.get(toHex(key));
    return value === undefined ? undefined : Buffer.from(value, "hex");
  };
  return {
    get,
    has: (key) => model.has(toHex(key)),
    set: (key, value) => {
      model.set(toHex(key), toHex(value));
    },
    delete: (key) => {
      model.delete(toHex(key));
    },
    iterate: (start, end) => entries(start, end).values(),
    iterateReverse: (start, end) => entries(start, end).toReversed().values(),
  };
}

const shortKey = fc.uint8Array({ minLength: 1, maxLength: 2, max: 6 });
/** Long keys are looked up in another way than short ones; both must sort among each other. */
const key = fc.oneof(
  shortKey,
  shortKey.map((end) => Uint8Array.of(...new Uint8Array(12).fill(3), ...end)),
  shortKey.map((start) => Uint8Array.of(...start, ...new Uint8Array(40).fill(0xff))),
);
const operation = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value: fc.uint8Array({ maxLength: 3 }) }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.record({ kind: fc.constant("write" as const) }),
);
const bound = fc.option(key, { nil: undefined });

function listing(entries: Iterable<Entry>): readonly string[] {
  return [...entries].map(([each, value]) => `${toHex(each)}=${toHex(value)}`);
}

describe("two cache layers above a store", () => {
  it("read and iterate as one map, in both directions, whatever was written through", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), bound, bound, (operations, start, end) => {
        const truth = mapStore(new Map());
        const lower = createCacheStore(mapStore(new Map()));
        const upper = createCacheStore(lower);
        for (const [index, each] of operations.entries()) {
          if (each.kind === "write") (index % 2 === 0 ? upper : lower).write();
          else if (each.kind === "set") for (const store of [upper, truth]) store.set(each.key, each.value);
          else for (const store of [upper, truth]) store.delete(each.key);
        }
        expect(listing(upper.iterate(start, end))).toEqual(listing(truth.iterate(start, end)));
        expect(listing(upper.iterateReverse(start, end))).toEqual(listing(truth.iterateReverse(start, end)));
        for (const [each, value] of truth.iterate())
          expect(toHex(upper.get(each) ?? utf8("none"))).toBe(toHex(value));
        upper.write();
        expect(listing(lower.iterate())).toEqual(listing(truth.iterate()));
      }),
    );
  });

  it("do not disturb an iteration that is under way", () => {
    const store = createCacheStore(
      mapStore(
        new Map([
          ["01", "aa"],
          ["03", "cc"],
        ]),
      ),
    );
    const seen: string[] = [];
    for (const [each] of store.iterate()) {
      seen.push(toHex(each));
      store.delete(Uint8Array.of(3));
      store.set(Uint8Array.of(2), Uint8Array.of(0xbb));
    }
    expect(seen).toEqual(["01", "03"]);
    expect(listing(store.iterate())).toEqual(["01=aa", "02=bb"]);
  });

  it("refuse an empty key", () => {
    expect(() => createCacheStore(mapStore(new Map())).set(new Uint8Array(0), Uint8Array.of(1))).toThrow(
      "empty",
    );
  });
});
