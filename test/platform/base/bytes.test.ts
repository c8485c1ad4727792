import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareBytes,
  concat,
  fromBase64,
  fromHex,
  prefixEnd,
  readUint64BigEndian,
  toBase64,
  toHex,
  uint64BigEndian,
  utf8,
} from "../../../src/platform/base/bytes.ts";

describe("hex and base64", () => {
  it("round-trip", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(fromHex(toHex(bytes))).toEqual(bytes);
        expect(fromHex(toHex(bytes).toUpperCase())).toEqual(bytes);
        expect(fromBase64(toBase64(bytes))).toEqual(bytes);
      }),
    );
  });

  it("reject other texts", () => {
    for (const text of ["0", "0x00", "zz", "00 "]) expect(() => fromHex(text)).toThrow("not hex");
    for (const text of ["A", "AA", "AA=", "A-_=", "AAAA=", " AAAA"])
      expect(() => fromBase64(text)).toThrow("not base64");
  });
});

describe("UTF-8", () => {
  it("equals TextEncoder for texts of every length, ASCII or not", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 100 }),
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.string({ unit: fc.constantFrom("a", "\u007f", "\u0080", "\ud800", "\u{1f600}"), maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, (each) => {
        expect(utf8(each)).toEqual(new Uint8Array(new TextEncoder().encode(each)));
      }),
    );
  });
});

describe("large texts", () => {
  it("decode without a stack overflow", () => {
    const bytes = new Uint8Array(24 * 1024 * 1024).fill(7);
    expect(fromBase64(toBase64(bytes)).length).toBe(bytes.length);
    expect(fromHex(toHex(bytes)).length).toBe(bytes.length);
  });
});

describe("uint64BigEndian", () => {
  it("round-trips the whole range and rejects other numbers", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(readUint64BigEndian(uint64BigEndian(value))).toBe(value);
      }),
    );
    expect(() => uint64BigEndian(-1n)).toThrow("not a uint64");
    expect(() => uint64BigEndian(2n ** 64n)).toThrow("not a uint64");
  });
});

describe("prefixEnd", () => {
  it("is above every key with the prefix and not above the next key without it", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 4 }),
        fc.uint8Array({ maxLength: 4 }),
        (prefix, rest) => {
          const end = prefixEnd(prefix);
          if (end === undefined) expect(prefix.every((byte) => byte === 0xff)).toBe(true);
          else {
            expect(compareBytes(concat(prefix, rest), end)).toBeLessThan(0);
            expect(compareBytes(prefix, end)).toBeLessThan(0);
            expect(end.length).toBeLessThanOrEqual(prefix.length);
          }
        },
      ),
    );
    expect(prefixEnd(new Uint8Array())).toBeUndefined();
    expect(prefixEnd(Uint8Array.of(1, 0xff))).toEqual(Uint8Array.of(2));
  });
});
