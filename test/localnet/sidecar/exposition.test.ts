import { describe, expect, it } from "vitest";
import {
  createFamily,
  formatGoFloat,
  writeExposition,
} from "../../../src/localnet/sidecar/sidecar-families.ts";

describe("formatGoFloat", () => {
  it.each([
    [0, "0"],
    [1091, "1091"],
    [104_046, "104046"],
    [999_999, "999999"],
    [1_000_000, "1e+06"],
    [1_841_042, "1.841042e+06"],
    [9_712_345_000, "9.712345e+09"],
    [9.223372036854776e18, "9.223372036854776e+18"],
    [97_123.45, "97123.45"],
    [0.412345, "0.412345"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [-2_500_000, "-2.5e+06"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "+Inf"],
    [Number.NEGATIVE_INFINITY, "-Inf"],
  ])("%d", (value, text) => {
    expect(formatGoFloat(value)).toBe(text);
  });
});

describe("writeExposition", () => {
  it("sorts families, labels and series, and omits families without a series", () => {
    const latency = createFamily({ name: "a_ms", help: "Time.", type: "histogram", bounds: [1, 2] });
    latency.observe({ provider: "x" }, 2);
    latency.observe({ provider: "x" }, 9);
    const count = createFamily({ name: "a_b_total", help: "Count.", type: "counter" });
    count.add({ status: "b", chain: "c" });
    count.add({ chain: "c", status: "b" }, 2);
    count.add({ chain: "c", status: "a" });
    const unused = createFamily({ name: "a_c", help: "Nothing.", type: "gauge" });
    expect(writeExposition([latency, unused, count])).toBe(
      [
        "# HELP a_b_total Count.",
        "# TYPE a_b_total counter",
        'a_b_total{chain="c",status="a"} 1',
        'a_b_total{chain="c",status="b"} 3',
        "# HELP a_ms Time.",
        "# TYPE a_ms histogram",
        'a_ms_bucket{provider="x",le="1"} 0',
        'a_ms_bucket{provider="x",le="2"} 1',
        'a_ms_bucket{provider="x",le="+Inf"} 2',
        'a_ms_sum{provider="x"} 11',
        'a_ms_count{provider="x"} 2',
        "",
      ].join("\n"),
    );
  });

  it("has no series that was deleted, and begins it anew, with its labels in any order", () => {
    const count = createFamily({ name: "a_total", help: "Count.", type: "counter" });
    count.add({ status: "b", chain: "c" }, 5);
    count.delete({ chain: "c", status: "b" });
    expect(count.write()).toBe("");
    count.add({ status: "b", chain: "c" });
    expect(count.write()).toContain('a_total{chain="c",status="b"} 1\n');
  });
});
