import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import {
  createCacheStore,
  type Entry,
  type KVStore,
} from "../../../../src/localnet/chain/store/cache-store.ts";
import { usedHeap } from "../../../fuzz/campaign.ts";
import { createRandom } from "../../../fuzz/random.ts";

type Model = Map<string, string>;

/** The model: a map that is sorted for every iteration. */
function mapStore(contents: Model): KVStore {
  const entries = (start?: Uint8Array, end?: Uint8Array): Entry[] =>
    [...contents]
      .filter(
        ([key]) => (start === undefined || key >= toHex(start)) && (end === undefined || key < toHex(end)),
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [Buffer.from(key, "hex"), Buffer.from(value, "hex")]);
  const get = (key: Uint8Array): Uint8Array | undefined => {
    const value = contents.get(toHex(key));
    return value === undefined ? undefined : Buffer.from(value, "hex");
  };
  return {
    get,
    has: (key) => contents.has(toHex(key)),
    set: (key, value) => {
      contents.set(toHex(key), toHex(value));
    },
    delete: (key) => {
      contents.delete(toHex(key));
    },
    iterate: (start, end) => entries(start, end).values(),
    iterateReverse: (start, end) => entries(start, end).toReversed().values(),
  };
}

/** Few keys, so that most operations meet a key that another layer has. */
const shortKey = fc.uint8Array({ minLength: 1, maxLength: 2, max: 1 });
/** Long keys are converted to text in another way than short ones. All must sort together. */
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
  it("read and iterate like one map in both directions, also after writes to the layer below", () => {
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 60, size: "max" }),
        bound,
        bound,
        (operations, start, end) => {
          const model = mapStore(new Map());
          const lower = createCacheStore(mapStore(new Map()));
          const upper = createCacheStore(lower);
          for (const [index, each] of operations.entries()) {
            if (each.kind === "write") (index % 2 === 0 ? upper : lower).write();
            else if (each.kind === "set") for (const store of [upper, model]) store.set(each.key, each.value);
            else for (const store of [upper, model]) store.delete(each.key);
          }
          expect(listing(upper.iterate(start, end))).toEqual(listing(model.iterate(start, end)));
          expect(listing(upper.iterateReverse(start, end))).toEqual(
            listing(model.iterateReverse(start, end)),
          );
          for (const [each, value] of model.iterate())
            expect(toHex(upper.get(each) ?? utf8("none"))).toBe(toHex(value));
          for (const each of operations) {
            if (each.kind === "write") continue;
            expect(upper.has(each.key)).toBe(model.has(each.key));
            if (!model.has(each.key)) expect(upper.get(each.key)).toBeUndefined();
          }
          upper.write();
          expect(listing(lower.iterate())).toEqual(listing(model.iterate()));
        },
      ),
    );
  });

  it("hide writes from an iteration that has started", () => {
    const store = createCacheStore(
      mapStore(
        new Map([
          ["01", "aa"],
          ["03", "cc"],
        ]),
      ),
    );
    const visited: string[] = [];
    for (const [each] of store.iterate()) {
      visited.push(toHex(each));
      store.delete(Uint8Array.of(3));
      store.set(Uint8Array.of(2), Uint8Array.of(0xbb));
    }
    expect(visited).toEqual(["01", "03"]);
    expect(listing(store.iterate())).toEqual(["01=aa", "02=bb"]);
  });

  it("hide writes from many iterations, however many keys were written between them", () => {
    const random = createRandom(7);
    const model = mapStore(new Map());
    const store = createCacheStore(createCacheStore(mapStore(new Map())));
    const open: { readonly expected: readonly string[]; readonly entries: Iterable<Entry> }[] = [];
    const anyKey = (): Uint8Array => Uint8Array.of(random.int(5), random.int(256));
    for (let step = 0; step < 4_000; step++) {
      const each = anyKey();
      const value = Uint8Array.of(step & 0xff);
      if (random.chance(0.2)) for (const one of [store, model]) one.delete(each);
      else for (const one of [store, model]) one.set(each, value);
      // Iterations in quick succession, and after more writes than the order is kept for.
      if (step % 500 > 100 || step % 5 > 0) continue;
      const [start, end] = [
        random.chance(0.5) ? anyKey() : undefined,
        random.chance(0.5) ? anyKey() : undefined,
      ];
      const name = random.chance(0.5) ? "iterate" : "iterateReverse";
      open.push({ expected: listing(model[name](start, end)), entries: store[name](start, end) });
    }
    expect(open.length).toBeGreaterThan(100);
    for (const { expected, entries } of open) expect(listing(entries)).toEqual(expected);
  });

  it("share what they iterate over, however many iterations are open", () => {
    const store = createCacheStore(mapStore(new Map()));
    const keyAt = (at: number): Uint8Array => Uint8Array.of(at >> 8, at & 0xff);
    for (let at = 0; at < 5_000; at++) store.set(keyAt(at), Uint8Array.of(1));
    const before = usedHeap();
    const open = Array.from({ length: 3_000 }, (_, at) => {
      store.set(keyAt(at), Uint8Array.of(2));
      return store.iterate();
    });
    // A copy of all keys for each would be 120 MB.
    expect(usedHeap() - before).toBeLessThan(30_000_000);
    expect(open.map((entries) => entries.next().value?.[1][0])).toEqual(open.map(() => 2));
  });

  it("reject an empty key", () => {
    expect(() => createCacheStore(mapStore(new Map())).set(new Uint8Array(0), Uint8Array.of(1))).toThrow(
      "empty",
    );
  });
});
