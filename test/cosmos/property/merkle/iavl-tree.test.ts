import ics23 from "@confio/ics23";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes, equalBytes, toHex } from "../../../../src/platform/base/bytes.ts";
import { createProofVerifier } from "../../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { simpleMapProof, simpleMapRoot } from "../../../../src/cosmos/merkle/simple-map.ts";
import { createTreeStorage } from "../../../support/merkle/tree-storage.ts";

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

describe("IAVL tree", () => {
  it("has the entries of a Map after any operations, restarts and releases, at every kept version", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
        const storage = createTreeStorage();
        let tree = storage.open();
        let model = new Map<string, string>();
        const versions = new Map<bigint, Map<string, string>>();
        const commit = () => {
          const committed = tree.commit();
          storage.keep(committed);
          versions.set(committed.version, new Map(model));
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

  it("iterates over any range like a sorted list", () => {
    fc.assert(
      fc.property(fc.array(key), fc.option(key), fc.option(key), (keys, start, end) => {
        const tree = createTreeStorage().open();
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

describe("proof of any key in any tree", () => {
  it("is valid here and in @confio/ics23, and is invalid for another claim", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 60 }), key, (entries, query) => {
        const tree = createTreeStorage().open();
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
        const stored = tree.get(query);
        const proof = view.proof(query);
        const operations = [proof, simpleMapProof(stores, "bank") ?? proof];
        const root = simpleMapRoot(stores);
        const verify = (claimed: Uint8Array | undefined) =>
          createProofVerifier().verify(root, { store: "bank", key: query, value: claimed, operations }).ok;
        expect(verify(stored)).toBe(true);
        expect(verify(stored === undefined ? Uint8Array.of(1) : undefined)).toBe(false);
        const decoded = ics23.ics23.CommitmentProof.decode(proof);
        const other =
          stored === undefined
            ? ics23.verifyNonMembership(decoded, ics23.iavlSpec, view.rootHash, query)
            : ics23.verifyMembership(decoded, ics23.iavlSpec, view.rootHash, query, stored);
        expect(other).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
