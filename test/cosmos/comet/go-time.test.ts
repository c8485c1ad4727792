import { describe, expect, it } from "vitest";
import {
  formatRfc3339Ns,
  GO_ZERO_TIME_NS,
  parseRfc3339Ns,
  goDurationText,
  goTimeText,
} from "../../../src/platform/base/time.ts";

describe("times", () => {
  it.each([
    ["2026-11-21T12:11:53.895305201Z", 1_795_263_113_895_305_201n],
    ["2026-11-21T12:11:53Z", 1_795_263_113_000_000_000n],
    ["1970-01-01T00:00:00Z", 0n],
    ["1969-12-31T23:59:59.999999999Z", -1n],
    ["0001-01-01T00:00:00Z", GO_ZERO_TIME_NS],
  ])("%s is parsed and printed", (text, timeNs) => {
    expect(parseRfc3339Ns(text)).toBe(timeNs);
    expect(formatRfc3339Ns(timeNs)).toBe(text);
  });

  it("may have an offset and fewer digits", () => {
    expect(parseRfc3339Ns("1970-01-01T01:00:00.5+01:00")).toBe(500_000_000n);
  });

  it.each([
    "",
    "2026-11-21",
    "2026-11-21T12:11:53",
    "2026-13-21T12:11:53Z",
    "2026-11-21T12:11:53.1234567890Z",
  ])("%j is refused", (text) => {
    expect(() => parseRfc3339Ns(text)).toThrow("not an RFC 3339 time");
  });

  it("print as in Go's %v", () => {
    expect(goTimeText(1_795_263_113_895_305_200n)).toBe("2026-11-21 12:11:53.8953052 +0000 UTC");
    expect(goTimeText(0n)).toBe("1970-01-01 00:00:00 +0000 UTC");
  });
});

describe("durations print as in Go", () => {
  it.each([
    [0n, "0s"],
    [1n, "1ns"],
    [1_500n, "1.5µs"],
    [250_000_000n, "250ms"],
    [1_500_000_000n, "1.5s"],
    [10_000_000_000n, "10s"],
    [60_000_000_000n, "1m0s"],
    [3_600_000_000_000n, "1h0m0s"],
    [1_209_600_000_000_000n, "336h0m0s"],
    [-10_000_000_000n, "-10s"],
  ])("%s ns: %s", (durationNs, text) => {
    expect(goDurationText(durationNs)).toBe(text);
  });
});
