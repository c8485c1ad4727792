import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import {
  newInner,
  newLeaf,
  decodeNode,
  decodeNodeId,
  encodeNode,
  encodeNodeId,
  IavlError,
} from "../../../src/cosmos/merkle/iavl/node.ts";

const noChild = () => {
  throw new Error("a leaf has no children");
};

describe("node id", () => {
  it.each([
    [{ version: 1, nonce: 1 }, "000000000000000100000001"],
    [{ version: 2 ** 32 + 5, nonce: 2 ** 32 - 1 }, "0000000100000005ffffffff"],
    [{ version: Number.MAX_SAFE_INTEGER, nonce: 0x01020304 }, "001fffffffffffff01020304"],
  ])("has 8 bytes of version and 4 bytes of nonce: %o", (id, hex) => {
    expect(toHex(encodeNodeId(id))).toBe(hex);
    expect(decodeNodeId(fromHex(hex))).toEqual(id);
  });

  it.each(["00", "0020000000000000ffffffff"])("is refused if it is malformed: %s", (hex) => {
    expect(() => decodeNodeId(fromHex(hex))).toThrow(IavlError);
  });
});

describe("saved node", () => {
  const id = { version: 300, nonce: 2 };

  it("is encoded as in cosmos/iavl: a leaf", () => {
    const bytes = encodeNode(newLeaf(utf8("key"), utf8("value")), fromHex(""), noChild);
    expect(toHex(bytes)).toBe(`000203${toHex(utf8("key"))}05${toHex(utf8("value"))}`);
    expect(decodeNode(id, bytes)).toMatchObject({ kind: "leaf", id, size: 1 });
  });

  it("is encoded as in cosmos/iavl: an inner node", () => {
    const node = newInner(utf8("b"), newLeaf(utf8("a"), utf8("1")), newLeaf(utf8("b"), utf8("2")));
    const hash = new Uint8Array(32).fill(7);
    const bytes = encodeNode(node, hash, (child) => ({ version: 200, nonce: child === node.left ? 1 : 3 }));
    expect(toHex(bytes)).toBe(`0204016220${"07".repeat(32)}00900302900306`);
    expect(decodeNode(id, bytes)).toEqual({
      kind: "inner",
      height: 1,
      size: 2,
      key: utf8("b"),
      id,
      hash,
      left: { version: 200, nonce: 1 },
      right: { version: 200, nonce: 3 },
    });
  });

  it.each([
    ["", "an early end"],
    ["0002036b65", "an early end"],
    ["0004036b65790176", "a leaf with size 2"],
    ["0002036b6579017600", "bytes after the end"],
    ["020401620107", "a hash of 1 bytes"],
    ["020401622007".repeat(32) + "02", "children in the format of iavl 0.x"],
  ])("is refused if it is malformed: %j", (hex, what) => {
    expect(() => decodeNode(id, fromHex(hex))).toThrow(`a saved tree node is broken: it has ${what}`);
  });
});
