import ics23 from "@confio/ics23";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes, equalBytes, toHex } from "../../../src/base/bytes.ts";
import { createProofVerifier } from "../../../src/merkle/ics23/proof-verifier.ts";
import { simpleMapProof, simpleMapRoot } from "../../../src/merkle/simple-map.ts";
import { createMemoryStorage } from "../../unit/merkle/memory-storage.ts";

const key = fc.uint8Array({ minLength: 1, maxLength: 2 }).map((bytes) => bytes.map((byte) => byte % 6));
const value = fc.uint8Array({ minLength: 1, maxLength: 3 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("set" as const), key, value }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), key }) },
  { weight: 2, arbitrary: fc.constant({ kind: "commit" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "release" as const }) },
);

type Entries = readonly (readonly [string, string])[];

function entriesOf(entries: Iterable<readonly [Uint8Array, Uint8Array]>): Entries {
  return [...entries].map(([entryKey, entryValue]) => [toHex(entryKey), toHex(entryValue)] as const);
}

function modelEntries(model: ReadonlyMap<string, string>): Entries {
  return [...model].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe("IAVL tree against a Map", () => {
  it("agrees after any operations, at every kept version, over restarts and releases", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
        const storage = createMemoryStorage();
        let tree = storage.open();
        let model = new Map<string, string>();
        const versions = new Map<bigint, Map<string, string>>();
        const commit = () => {
          const made = tree.commit();
          storage.keep(made);
          versions.set(made.version, new Map(model));
        };
        for (const one of steps) {
          if (one.kind === "set") {
            tree.set(one.key, one.value);
            model.set(toHex(one.key), toHex(one.value));
          } else if (one.kind === "remove") {
            expect(tree.remove(one.key)).toBe(model.delete(toHex(one.key)));
          } else if (one.kind === "commit") commit();
          else if (one.kind === "release") {
            const [oldest] = tree.versions();
            if (oldest === undefined || oldest === tree.version()) continue;
            storage.release(tree, oldest);
            versions.delete(oldest);
          } else {
            model = new Map(versions.get(tree.version()));
            tree = storage.open();
          }
          expect(tree.size()).toBe(model.size);
        }
        commit();
        expect(entriesOf(tree.iterate())).toEqual(modelEntries(model));
        expect(entriesOf(tree.iterate(undefined, undefined, "descending"))).toEqual(
          modelEntries(model).toReversed(),
        );
        for (const [version, entries] of versions) {
          expect(entriesOf(tree.at(version)?.iterate() ?? [])).toEqual(modelEntries(entries));
        }
      }),
      { numRuns: 150 },
    );
  });

  it("iterates any range as a sorted list does", () => {
    fc.assert(
      fc.property(fc.array(key), fc.option(key), fc.option(key), (keys, start, end) => {
        const tree = createMemoryStorage().open();
        for (const one of keys) tree.set(one, one);
        const inRange = keys
          .toSorted(compareBytes)
          .filter((one, index, all) => index === 0 || !equalBytes(one, all[index - 1] ?? one))
          .filter(
            (one) =>
              (start === null || compareBytes(one, start) >= 0) &&
              (end === null || compareBytes(one, end) < 0),
          )
          .map((one) => toHex(one));
        const range = [start ?? undefined, end ?? undefined] as const;
        expect(entriesOf(tree.iterate(...range)).map(([one]) => one)).toEqual(inRange);
        expect(entriesOf(tree.iterate(...range, "descending")).map(([one]) => one)).toEqual(
          inRange.toReversed(),
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe("proofs of any tree", () => {
  it("verify here and with another implementation, and prove nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 60 }), key, (entries, asked) => {
        const tree = createMemoryStorage().open();
        for (const [index, [one, content]] of entries.entries()) {
          tree.set(one, content);
          if (index % 7 === 6) tree.commit();
        }
        const view = tree.at(tree.commit().version);
        if (view === undefined) throw new Error("the committed version is not kept");
        const stores = [
          { name: "bank", hash: view.rootHash },
          { name: "acc", hash: view.rootHash },
        ];
        const held = tree.get(asked);
        const proof = view.proof(asked);
        const operations = [proof, simpleMapProof(stores, "bank") ?? proof];
        const root = simpleMapRoot(stores);
        const verify = (claimed: Uint8Array | undefined) =>
          createProofVerifier().verify(root, { store: "bank", key: asked, value: claimed, operations }).ok;
        expect(verify(held)).toBe(true);
        expect(verify(held === undefined ? Uint8Array.of(1) : undefined)).toBe(false);
        const decoded = ics23.ics23.CommitmentProof.decode(proof);
        const other =
          held === undefined
            ? ics23.verifyNonMembership(decoded, ics23.iavlSpec, view.rootHash, asked)
            : ics23.verifyMembership(decoded, ics23.iavlSpec, view.rootHash, asked, held);
        expect(other).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
