import { parsePrometheusText } from "../support/watchdog/prometheus-page.ts";
import { describe, expect, it } from "vitest";
import {
  createPrometheusTextParser,
  PrometheusTextError,
} from "../../src/watchdog/prometheus/text-parser.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function only(line: string): unknown {
  const { samples } = parsePrometheusText(bytes(line));
  expect(samples).toHaveLength(1);
  const [sample] = samples;
  return { ...sample, labels: Object.fromEntries(sample?.labels ?? []) };
}

function errorOf(text: string | Uint8Array, limits = {}): PrometheusTextError {
  try {
    parsePrometheusText(typeof text === "string" ? bytes(text) : text, limits);
  } catch (error) {
    if (error instanceof PrometheusTextError) return error;
    throw error;
  }
  throw new Error("the page was accepted");
}

describe("samples", () => {
  it.each([
    ["up 1", { name: "up", labels: {}, value: 1 }],
    ["  up\t1  ", { name: "up", labels: {}, value: 1 }],
    ["up{} 1", { name: "up", labels: {}, value: 1 }],
    ["a:b_c9 -1.5e-3", { name: "a:b_c9", labels: {}, value: -0.0015 }],
    ["votes 1.841042e+06", { name: "votes", labels: {}, value: 1_841_042 }],
    ["x .5", { name: "x", labels: {}, value: 0.5 }],
    ["x 5.", { name: "x", labels: {}, value: 5 }],
    ["x NaN", { name: "x", labels: {}, value: Number.NaN }],
    ["x Nan", { name: "x", labels: {}, value: Number.NaN }],
    ["x +Inf", { name: "x", labels: {}, value: Number.POSITIVE_INFINITY }],
    ["x -Inf", { name: "x", labels: {}, value: Number.NEGATIVE_INFINITY }],
    ["x 1 1395066363000", { name: "x", labels: {}, value: 1, timestampMs: 1_395_066_363_000 }],
    ["x 1 -62135596800000", { name: "x", labels: {}, value: 1, timestampMs: -62_135_596_800_000 }],
    ['x{a="b",} 1', { name: "x", labels: { a: "b" }, value: 1 }],
    ['x { a = "b" , c = "d" } 1', { name: "x", labels: { a: "b", c: "d" }, value: 1 }],
    ['x{le="+Inf"}7', { name: "x", labels: { le: "+Inf" }, value: 7 }],
    ['x{a="}{,=#"} 1', { name: "x", labels: { a: "}{,=#" }, value: 1 }],
    [String.raw`x{a="\"q\"\\n\n\t"} 1`, { name: "x", labels: { a: '"q"\\n\n\\t' }, value: 1 }],
    [String.raw`x{a="\\"} 1`, { name: "x", labels: { a: "\\" }, value: 1 }],
    ['x{a="žluťoučký 🐎"} 1', { name: "x", labels: { a: "žluťoučký 🐎" }, value: 1 }],
  ])("%s", (line, expected) => {
    expect(only(line)).toEqual(expected);
  });

  it("reads CRLF, blank lines, other comments and a last line without line feed", () => {
    const page = parsePrometheusText(bytes("# a comment\r\n\r\n#HELP is one too\r\na 1\r\nb 2"));
    expect(page.samples.map(({ name, value }) => [name, value])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  });

  it("reads HELP and TYPE", () => {
    const page = parsePrometheusText(
      bytes(
        String.raw`# HELP a It \"counts\" with \\ and \n here` +
          "\n# TYPE a histogram\n#   TYPE b gauge\n# HELP c\n",
      ),
    );
    expect([...page.help]).toEqual([
      ["a", 'It \\"counts\\" with \\ and \n here'],
      ["c", ""],
    ]);
    expect([...page.types]).toEqual([
      ["a", "histogram"],
      ["b", "gauge"],
    ]);
  });
});

describe("invalid pages", () => {
  it.each([
    ["9x 1", "expected a metric name"],
    ["x", 'expected a blank or "{" after "x"'],
    ["x ", "the value is missing"],
    ["x-y 1", 'expected a blank or "{" after "x"'],
    ["x one", '"one" is not a number'],
    ["x 0x10", '"0x10" is not a number'],
    ["x 1_000", '"1_000" is not a number'],
    ["x 1e", '"1e" is not a number'],
    ["x 1 2 3", "unexpected text after the timestamp"],
    ["x 1 2.5", '"2.5" is not a timestamp in milliseconds'],
    ['x{a="b" 1', 'expected "," or "}" after a label'],
    ['x{a="b} 1', "the value of label a has no closing quote"],
    [String.raw`x{a="b\"} 1`, "the value of label a has no closing quote"],
    ["x{a=b} 1", "the value of label a is not quoted"],
    ['x{a"b"} 1', 'expected "=" after label a'],
    ['x{="b"} 1', "expected a label name"],
    ["x{,} 1", "expected a label name"],
    ['x{a="1",a="2"} 1', "duplicate label a"],
    ['x{a="b"} ', "the value is missing"],
    ["# TYPE x countr", '"countr" is not a metric type'],
    ["# TYPE", "expected a metric name after TYPE"],
    ["# HELP 9 x", "expected a metric name after HELP"],
  ])("%s", (line, text) => {
    const error = errorOf(`good 1\n${line}\nafter 1\n`);
    expect(error.message).toBe(`line 2: ${text}`);
    expect(error.facts).toEqual({ code: "bad-line", line: 2 });
  });

  it.each(["<!doctype html><html></html>", "\r\n\n  <html lang=en>\n", "<?xml version='1.0'?>"])(
    "HTML: %s",
    (page) => {
      expect(errorOf(page).facts).toEqual({ code: "html" });
      expect(errorOf(page).message).toContain("the page is HTML, not metrics");
    },
  );

  it("limits line length and line count, also for an unfinished line", () => {
    expect(errorOf(`a 1\nx${"y".repeat(100)} 1\n`, { lineLength: 50 }).facts).toEqual({
      code: "line-too-long",
      line: 2,
      limit: 50,
    });
    expect(errorOf("a 1\na 1\na 1\n", { lines: 2 }).facts).toEqual({ code: "too-many-lines", limit: 2 });
    const parser = createPrometheusTextParser({ sample: () => {} }, { lineLength: 1000 });
    const chunk = bytes("x".repeat(600));
    parser.push(chunk);
    expect(() => parser.push(chunk)).toThrow("line 1 is longer than 1000 characters");
  });

  it("rejects invalid UTF-8, also a cut character at the end", () => {
    expect(errorOf(new Uint8Array([0x61, 0x20, 0x31, 0x0a, 0xff])).facts.code).toBe("not-utf8");
    expect(errorOf(bytes('x{a="ž"} 1').subarray(0, 6)).facts.code).toBe("not-utf8");
  });
});
