import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/platform/base/bytes.ts";
import { createIavlTree } from "../../../src/cosmos/merkle/iavl/tree.ts";

interface VectorVersion {
  readonly ops:
    | readonly { readonly set?: string; readonly value?: string; readonly remove?: string }[]
    | null;
  readonly version: number;
  readonly root: string;
  readonly proofs?: readonly { readonly key: string; readonly proof: string }[];
}

const cases: readonly { readonly name: string; readonly versions: readonly VectorVersion[] }[] = JSON.parse(
  readFileSync(new URL("iavl-trees.json", import.meta.url), "utf8"),
);

describe("recorded IAVL trees", () => {
  it("are all in the file", () => {
    const versions = cases.flatMap((tree) => tree.versions);
    expect(cases.map((tree) => tree.name)).toEqual([
      "random",
      "ascending keys",
      "descending keys",
      "grow, then empty it",
      "many removals",
      "one large version",
    ]);
    expect(versions).toHaveLength(90);
    expect(versions.flatMap((version) => version.proofs ?? [])).toHaveLength(96);
  });

  it.each(cases)("have the roots and proofs of cosmos/iavl: $name", ({ versions }) => {
    const tree = createIavlTree();
    for (const { ops, version, root, proofs } of versions) {
      for (const op of ops ?? []) {
        if (op.set !== undefined) tree.set(fromHex(op.set), fromHex(op.value ?? ""));
        if (op.remove !== undefined) tree.remove(fromHex(op.remove));
      }
      const commit = tree.commit();
      expect([Number(commit.version), toHex(commit.rootHash)]).toEqual([version, root]);
      const view = tree.at(commit.version);
      for (const { key, proof } of proofs ?? [])
        expect(toHex(view?.proof(fromHex(key)) ?? new Uint8Array())).toBe(proof);
    }
  });
});
