import { describe, expect, it } from "vitest";
import {
  numberFromJson,
  numberToJson,
  durationFromText,
  durationToText,
  timestampFromText,
  timestampToText,
} from "../../../src/cosmos/proto/field-formats.ts";

describe("timestamps", () => {
  it.each([
    [0n, 0, "1970-01-01T00:00:00Z"],
    [-62_135_596_800n, 0, "0001-01-01T00:00:00Z"],
    [253_402_300_799n, 999_999_999, "9999-12-31T23:59:59.999999999Z"],
    [1_795_263_965n, 360_483_943, "2026-11-21T12:26:05.360483943Z"],
    [1n, 500_000_000, "1970-01-01T00:00:01.500Z"],
    [1n, 1000, "1970-01-01T00:00:01.000001Z"],
    [1n, 1_000_100, "1970-01-01T00:00:01.001000100Z"],
    [-1n, 1, "1969-12-31T23:59:59.000000001Z"],
  ])("%s.%s is %s", (seconds, nanos, text) => {
    expect(timestampToText({ seconds, nanos })).toBe(text);
    expect(timestampFromText(text)).toEqual({ seconds, nanos });
  });

  it("accept any offset and up to nine fractional digits", () => {
    expect(timestampFromText("1970-01-01T02:00:00.12+02:00")).toEqual({ seconds: 0n, nanos: 120_000_000 });
  });

  it.each([
    "",
    "yesterday",
    "1970-01-01",
    "1970-01-01T00:00:00",
    "1970-13-01T00:00:00Z",
    "1970-01-01T00:00:00.1234567890Z",
  ])("reject %j", (text) => {
    expect(() => timestampFromText(text)).toThrow("not a timestamp");
  });

  it("outside the years 1 to 9999 are rejected", () => {
    expect(() => timestampToText({ seconds: 253_402_300_800n, nanos: 0 })).toThrow("not a timestamp");
    expect(() => timestampToText({ seconds: 0n, nanos: -1 })).toThrow("not a timestamp");
  });
});

describe("durations", () => {
  it.each([
    [0n, 0, "0s"],
    [1_814_400n, 0, "1814400s"],
    [0n, 500_000_000, "0.500s"],
    [0n, -1, "-0.000000001s"],
    [-2n, -250_000_000, "-2.250s"],
  ])("%s.%s is %s", (seconds, nanos, text) => {
    expect(durationToText({ seconds, nanos })).toBe(text);
    expect(durationFromText(text)).toEqual({ seconds, nanos });
  });

  it("of mixed signs or out of range are rejected", () => {
    expect(() => durationToText({ seconds: 1n, nanos: -1 })).toThrow("not a duration");
    expect(() => durationFromText("315576000001s")).toThrow("not a duration");
    expect(() => durationFromText("5")).toThrow("not a duration");
  });
});

describe("numbers", () => {
  it("print decimals with 18 digits and integers without leading zeros", () => {
    expect(numberToJson("2500000000000000", "dec")).toBe("0.002500000000000000");
    expect(numberToJson("-1500000000000000000", "dec")).toBe("-1.500000000000000000");
    expect(numberToJson("", "dec")).toBe("0");
    expect(numberToJson("010", "int")).toBe("8");
    expect(numberToJson("0x1", "dec")).toBe("0.000000000000000001");
    expect(() => numberToJson("1.5", "dec")).toThrow("not an integer");
    expect(numberToJson("-495", "prec-dec")).toBe("-0.000000000000000000000000495");
  });

  it("are parsed", () => {
    expect(numberFromJson("0.0025", "dec")).toBe("2500000000000000");
    expect(numberFromJson("12", "int")).toBe("12");
    expect(numberFromJson("1.05", "prec-dec")).toBe("1050000000000000000000000000");
    expect(() => numberFromJson("1e5", "prec-dec")).toThrow("failed to set decimal string");
    expect(numberFromJson("0x1f", "int")).toBe("31");
    expect(numberFromJson("010", "int")).toBe("8");
    expect(() => numberFromJson("08", "int")).toThrow("not an integer");
  });
});
