import { parsePrometheusText } from "../support/watchdog/prometheus-page.ts";
import { describe, expect, it } from "vitest";
import {
  createPrometheusTextParser,
  PrometheusTextError,
} from "../../src/watchdog/prometheus/text-parser.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function only(line: string): unknown {
  const { samples } = parsePrometheusText(bytes(`${line}\n`));
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
    ["x 1 1395066363000", { name: "x", labels: {}, value: 1 }],
    ["x 1 -62135596800000", { name: "x", labels: {}, value: 1 }],
    ["x 1 1700000000.123", { name: "x", labels: {}, value: 1 }],
    ['x{le="1"} 3 # {trace_id="a b"} 0.4 1700000000.123', { name: "x", labels: { le: "1" }, value: 3 }],
    ["x 3 1.7e9 # {} 1", { name: "x", labels: {}, value: 3 }],
    ['{"x"} 1', { name: "x", labels: {}, value: 1 }],
    ['{"http.server",path="/"} 1', { name: "http.server", labels: { path: "/" }, value: 1 }],
    ['x{"label.with.dots"="v",b="c"} 1', { name: "x", labels: { "label.with.dots": "v", b: "c" }, value: 1 }],
    [String.raw`{a="b" , "x\"y" } 1`, { name: 'x"y', labels: { a: "b" }, value: 1 }],
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

  it("reads CRLF, and skips blank lines and comments, whatever they say", () => {
    const page = parsePrometheusText(
      bytes("# a comment\r\n\r\n#HELP is one too\r\na 1\r\n# TYPE a info\n# UNIT a s\nb 2\n# EOF\n"),
    );
    expect(page.samples.map(({ name, value }) => [name, value])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(page.skipped).toBe(0);
  });
});

describe("lines of metrics that nobody needs", () => {
  const needs = (metric: string): boolean => metric === "wanted";
  const parse = (text: string | Uint8Array, limits = {}) =>
    parsePrometheusText(typeof text === "string" ? bytes(text) : text, limits, needs);

  it.each([
    "h {count:24,sum:100.5,schema:0,zero_threshold:0.001,positive_buckets:[1,2]}",
    '{"h"} {count:1,sum:2}',
    'x{a="b" 1',
    "x 1 2 3",
    "}{",
    "x",
    `x${"y".repeat(100)} 1`,
  ])("are skipped and counted: %s", (line) => {
    const page = parse(`wanted 1\n${line}\nwanted{a="2"} 2\nother 3\n`, { lineLength: 90 });
    expect(page.samples.map(({ value }) => value)).toEqual([1, 2]);
    expect(page.skipped).toBe(1);
  });

  it("are skipped with bytes that are not UTF-8, and in parts longer than a line may be", () => {
    const odd = new Uint8Array([...bytes('x{a="'), 0xff, 0xfe, ...bytes('"} 1\nwanted 1\n')]);
    expect(parse(odd)).toMatchObject({ samples: [{ name: "wanted", value: 1 }], skipped: 1 });
    const read: number[] = [];
    const sink = { needs, sample: ({ value }: { value: number }) => read.push(value) };
    const parser = createPrometheusTextParser(sink, { lineLength: 20 });
    parser.push(bytes("long"));
    for (let part = 0; part < 100; part++) parser.push(bytes("y".repeat(30)));
    parser.push(bytes(" 1\nwanted 7\n"));
    expect([parser.end(), read]).toEqual([1, [7]]);
  });

  it.each([
    "wanted",
    "wanted one",
    "wanted-not 1",
    'wanted{a="b 1',
    '{"wanted"} {count:1}',
    '{"wanted",a=b} 1',
  ])("differ from a metric that is needed: %s", (line) => {
    expect(() => parse(`x 1\n${line}\n`)).toThrow(/^line 2: /);
  });
});

describe("invalid pages", () => {
  it.each([
    ["9x 1", "expected a metric name"],
    ["x", 'expected a blank or "{" after "x"'],
    ["x ", "missing value"],
    ["x-y 1", 'expected a blank or "{" after "x"'],
    ["x one", '"one" is not a number'],
    ["x 0x10", '"0x10" is not a number'],
    ["x 1_000", '"1_000" is not a number'],
    ["x 1e", '"1e" is not a number'],
    ["x 1 2 3", "unexpected text after the timestamp"],
    ["x 1 2x", '"2x" is not a timestamp'],
    ['x{a="b" 1', 'expected "," or "}" after a label'],
    ['x{a="b} 1', "the value of label a has no closing quote"],
    [String.raw`x{a="b\"} 1`, "the value of label a has no closing quote"],
    ["x{a=b} 1", "the value of label a is not quoted"],
    ['x{a"b"} 1', 'expected "=" after label a'],
    ['x{="b"} 1', "expected a label name"],
    ["x{,} 1", "expected a label name"],
    ['x{a="1",a="2"} 1', "duplicate label a"],
    ['x{a="b"} ', "missing value"],
    ['x{"y"} 1', '"x" has a second name'],
    ['{"x","y"} 1', 'expected "=" after label y'],
    ['{a="1"} 1', "expected a metric name"],
    ["{", "expected a label name"],
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

  it("rejects invalid UTF-8, with the line", () => {
    const page = new Uint8Array([...bytes('a 1\nx{a="'), 0xff, ...bytes('"} 1\n')]);
    expect(errorOf(page).message).toBe("line 2: invalid UTF-8");
  });

  it.each(["a 1\nb 2", "a 1\n# EO", 'a 1\nx{a="ž', `a 1\n${"#".repeat(70_000)}`])(
    "rejects a page that ends within a line: %#",
    (page) => {
      expect(errorOf(page).message).toBe("the page is incomplete: it ends within line 2");
      expect(errorOf(page).facts).toEqual({ code: "cut-off", line: 2 });
    },
  );
});
