import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { Coin } from "../../../src/cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { Fee } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { decodeFields, type MessageReader } from "../../../src/cosmos/proto/message-fns.ts";

interface Nested {
  inner?: Nested;
}

/** Decodes a message that can contain itself, in field 1. */
function decodeNested(input: MessageReader | Uint8Array, length?: number): Nested {
  return decodeFields<Nested>(input, length, {}, (message, tag, reader) => {
    if (tag !== 10) return false;
    message.inner = decodeNested(reader, reader.uint32());
    return true;
  });
}

/** Bytes of `levels` messages, each in the one before. */
function nest(levels: number): Uint8Array {
  let bytes: Uint8Array = new Uint8Array();
  for (let level = 1; level < levels; level += 1) bytes = new BinaryWriter().uint32(10).bytes(bytes).finish();
  return bytes;
}

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

describe("decodeFields", () => {
  it("reads 100 messages in one another, and no more", () => {
    expect(decodeNested(nest(100)).inner?.inner).toBeDefined();
    expect(() => decodeNested(nest(101))).toThrow("protobuf decode recursion limit exceeded");
  });

  it("counts messages in one another, not beside one another", () => {
    const writer = new BinaryWriter();
    for (let field = 0; field < 200; field += 1) writer.uint32(10).bytes(nest(50));
    expect(decodeNested(writer.finish()).inner).toBeDefined();
  });

  it("skips unknown fields, and known ones of another wire type", () => {
    // Field 1 as a number, field 9 as text, field 2 as it should be.
    expect(Coin.decode(bytesOf("08054a0161120135"))).toEqual({ denom: "", amount: "5" });
  });

  it.each([
    ["a tag of zero", "00", "illegal tag"],
    ["the end of a group that never began", "0c", "illegal tag"],
    ["a text past the end", "0a0561", "premature EOF"],
    // The coin ends within its denomination.
    ["a nested message past its end", "0a020a026162", "premature EOF"],
  ])("refuses %s", (_, hex, error) => {
    expect(() => Fee.decode(bytesOf(hex))).toThrow(error);
  });

  it("goes on with a message that was decoded before", () => {
    const previous = { denom: "untrn", amount: "" };
    expect(Coin.decode(bytesOf("120135"), undefined, previous)).toEqual({ denom: "untrn", amount: "5" });
  });
});
