import { describe, expect, it } from "vitest";
import { fromUtf8, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import { createIavlTree, type IavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";
import { IavlError } from "../../../src/cosmos/merkle/iavl/node.ts";
import type { IavlReader } from "../../../src/cosmos/merkle/iavl/view.ts";
import { createTreeStorage } from "../../support/merkle/tree-storage.ts";

function treeOf(keys: readonly string[]): IavlTree {
  const tree = createIavlTree();
  for (const key of keys) tree.set(utf8(key), utf8(`value of ${key}`));
  return tree;
}

function keysOf(
  reader: IavlReader,
  start?: string,
  end?: string,
  order?: "ascending" | "descending",
): string {
  const bound = (text: string | undefined) => (text === undefined ? undefined : utf8(text));
  return [...reader.iterate(bound(start), bound(end), order)].map(([key]) => fromUtf8(key)).join("");
}

function viewAt(tree: IavlTree, version: bigint) {
  const view = tree.at(version);
  if (view === undefined) throw new Error(`version ${version} is not kept`);
  return view;
}

describe("IAVL tree", () => {
  it("has the SHA-256 of no bytes as its root hash while it is empty", () => {
    const tree = createIavlTree();
    const commits = [tree.commit(), tree.commit()];
    expect(commits.map(({ version }) => version)).toEqual([1n, 2n]);
    const nothing = toHex(sha256(utf8("")));
    expect(commits.map(({ rootHash }) => toHex(rootHash))).toEqual([nothing, nothing]);
    expect(commits.map(({ rootId, writes }) => [rootId, writes])).toEqual([
      [undefined, []],
      [undefined, []],
    ]);
    expect(toHex(viewAt(tree, 2n).proof(utf8("k")))).toBe("12030a016b");
  });

  it("commits the same root without writes if nothing changed", () => {
    const tree = treeOf(["a", "b"]);
    const first = tree.commit();
    const second = tree.commit();
    expect(first.writes).toHaveLength(3);
    expect(second).toEqual({ ...first, version: 2n, writes: [] });
  });

  it("changes its hash if a key is set to its present value", () => {
    const tree = treeOf(["a", "b"]);
    const first = tree.commit();
    tree.set(utf8("a"), utf8("value of a"));
    expect(tree.commit().rootHash).not.toEqual(first.rootHash);
  });

  it("starts at the given first version", () => {
    const tree = createIavlTree(undefined, 7n);
    tree.set(utf8("a"), utf8("1"));
    expect(tree.version()).toBe(0n);
    expect(tree.commit().version).toBe(7n);
    expect(tree.version()).toBe(7n);
    expect(tree.commit().version).toBe(8n);
    expect(tree.versions()).toEqual([7n, 8n]);
  });

  it("refuses an empty key and a version that is out of range", () => {
    expect(() => createIavlTree().set(utf8(""), utf8("1"))).toThrow(IavlError);
    expect(() => createIavlTree(undefined, 2n ** 60n)).toThrow("version 1152921504606846976 is out of range");
  });

  it.each([
    [undefined, undefined, "abcdefg"],
    ["b", "e", "bcd"],
    ["bb", "ee", "cde"],
    [undefined, "c", "ab"],
    ["f", undefined, "fg"],
    ["c", "c", ""],
    ["e", "b", ""],
    ["x", undefined, ""],
    [undefined, "A", ""],
  ])("iterates from %s to %s in both directions", (start, end, expected) => {
    const tree = treeOf(Array.from("gfaecbd"));
    expect(keysOf(tree, start, end)).toBe(expected);
    expect(keysOf(tree, start, end, "descending")).toBe(Array.from(expected).toReversed().join(""));
  });

  it("iterates over the tree of the time when the iteration began", () => {
    const tree = treeOf(Array.from("abc"));
    const keys: string[] = [];
    for (const [key] of tree.iterate()) {
      keys.push(fromUtf8(key));
      tree.remove(utf8("c"));
      tree.set(utf8("d"), utf8("new"));
    }
    expect(keys.join("")).toBe("abc");
    expect(keysOf(tree)).toBe("abd");
  });

  it("does not change older versions", () => {
    const tree = treeOf(Array.from("abc"));
    const { rootHash } = tree.commit();
    const proof = viewAt(tree, 1n).proof(utf8("b"));
    tree.remove(utf8("b"));
    tree.set(utf8("a"), utf8("other"));
    tree.commit();
    const view = viewAt(tree, 1n);
    expect([keysOf(view), keysOf(viewAt(tree, 2n))]).toEqual(["abc", "ac"]);
    expect([view.rootHash, view.size(), view.proof(utf8("b"))]).toEqual([rootHash, 3, proof]);
    expect(view.get(utf8("a"))).toEqual(utf8("value of a"));
    expect(tree.at(3n)).toBeUndefined();
  });

  it("discards uncommitted changes on rollback", () => {
    const tree = treeOf(Array.from("abc"));
    const { rootHash } = tree.commit();
    tree.set(utf8("d"), utf8("1"));
    expect([tree.remove(utf8("a")), tree.remove(utf8("x"))]).toEqual([true, false]);
    tree.rollback();
    expect(keysOf(tree)).toBe("abc");
    expect(tree.commit().rootHash).toEqual(rootHash);
  });
});

describe("IAVL tree over a storage", () => {
  function filled(versions: number) {
    const storage = createTreeStorage();
    const tree = storage.open();
    for (let version = 0; version < versions; version++) {
      for (let index = 0; index < 10; index++) {
        tree.set(utf8(`key ${(version * 7 + index * 3) % 50}`), utf8(`${version}.${index}`));
      }
      tree.remove(utf8(`key ${(version * 5) % 50}`));
      storage.keep(tree.commit());
    }
    return { storage, tree };
  }

  it("continues after a restart with the same hashes and proofs", () => {
    const { storage, tree } = filled(20);
    const again = storage.open();
    expect(again.versions()).toEqual(tree.versions());
    expect(keysOf(again)).toBe(keysOf(tree));
    for (const one of [tree, again]) {
      one.set(utf8("key 3"), utf8("after"));
      one.remove(utf8("key 11"));
    }
    expect(again.commit()).toEqual(tree.commit());
    for (const version of [1n, 9n, 21n]) {
      expect(viewAt(again, version).proof(utf8("key 5"))).toEqual(viewAt(tree, version).proof(utf8("key 5")));
    }
  });

  it("reads only the nodes on the path to a key", () => {
    const { storage } = filled(20);
    const tree = storage.open();
    const before = storage.loads();
    tree.get(utf8("key 5"));
    expect(storage.loads() - before).toBeLessThan(8);
  });

  it("reads old versions from the storage again", () => {
    const { storage, tree } = filled(40);
    const before = storage.loads();
    expect(keysOf(viewAt(tree, 1n))).toContain("key 3");
    expect(storage.loads()).toBeGreaterThan(before);
  });

  it.each([
    ["the oldest", [1n, 2n, 3n, 4n, 5n]],
    ["some in the middle", [4n, 3n, 9n, 5n]],
    ["all but the latest", Array.from({ length: 19 }, (_, index) => BigInt(index + 1))],
  ])("keeps all other versions readable when versions are released: %s", (_, released) => {
    const { storage, tree } = filled(20);
    const kept = tree.versions().filter((version) => !released.includes(version));
    const expected = kept.map((version) => keysOf(viewAt(tree, version)));
    const restarted = storage.open();
    for (const version of released) storage.release(restarted, version);
    const again = storage.open();
    expect(again.versions()).toEqual(kept);
    expect(kept.map((version) => keysOf(viewAt(again, version)))).toEqual(expected);
    expect(released.map((version) => again.at(version))).toEqual(released.map(() => undefined));
  });

  it("keeps only the nodes of the latest version when all others are released", () => {
    const { storage, tree } = filled(20);
    for (const version of tree.versions().slice(0, -1)) storage.release(tree, version);
    expect(storage.nodes.size).toBe(2 * tree.size() - 1);
    expect(() => tree.release(20n)).toThrow("version 20 is the latest or is not retained");
    expect(() => tree.release(3n)).toThrow(IavlError);
  });

  it("throws an error that names a missing or broken node", () => {
    const { storage } = filled(3);
    const [root] = [...storage.nodes].toReversed();
    const id = root?.[0] ?? "";
    const bytes = root?.[1] ?? new Uint8Array();
    expect(id).toBe("000000000000000300000001");
    const opened = (change: Uint8Array) => () => {
      storage.nodes.set(id, change);
      return storage.open();
    };
    expect(opened(bytes.slice(0, -1))).toThrow("a saved tree node is broken: it has an early end");
    expect(opened(Uint8Array.of(...bytes, 0))).toThrow("it has bytes after the end");
    expect(opened(Uint8Array.of(1))).toThrow("it has a negative number");
    expect(opened(new Uint8Array(20).fill(0xff))).toThrow("it has a number above 2^53");
    storage.nodes.delete(id);
    expect(() => storage.open()).toThrow("tree node 1 of version 3 is missing from the storage");
  });
});
