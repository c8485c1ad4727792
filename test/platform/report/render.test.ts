import { describe, expect, it } from "vitest";
import type { Report, ReportBlock } from "../../../src/platform/report/document.ts";
import { formatCents, formatCount, formatRoundedDuration } from "../../../src/platform/base/text.ts";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import { sparkline } from "../../../src/platform/report/sparkline.ts";

function report(block: ReportBlock, csvCell = ""): Report {
  return {
    title: "T",
    outcome: "fine",
    blocks: [block],
    data: { count: "1" },
    csv: { columns: ["a"], rows: [[csvCell]] },
  };
}

describe("texts of other programs", () => {
  const hostile = "\u001b[2J|<b>`x`_\u0000";
  it("do not control a terminal", () => {
    for (const block of [
      { kind: "text", text: hostile },
      { kind: "heading", text: hostile },
      { kind: "list", items: [hostile] },
      { kind: "table", columns: [{ title: "a" }], rows: [[hostile]] },
      { kind: "sparks", lines: [{ label: hostile, bars: "", note: hostile }] },
    ] as const) {
      const text = renderReport(report(block), "text");
      expect(text).not.toMatch(/[^\P{Cc}\n]/u);
      expect(text).toContain("?[2J");
    }
  });

  it("are no markup", () => {
    const text = renderReport(
      report({ kind: "table", columns: [{ title: "a" }], rows: [[hostile]] }),
      "markdown",
    );
    expect(text).toContain("|  \\[2J\\|\\<b\\>\\`x\\`\\_  |");
  });

  it.each([
    ['a"b', '"a""b"'],
    ["a,b", '"a,b"'],
    ["=1+1", "'=1+1"],
    ["@x", "'@x"],
    ["-12.5", "-12.5"],
    ["-x", "'-x"],
    ["a\nb", '"a\nb"'],
  ])("%j is a plain cell in CSV", (cell, expected) => {
    expect(renderReport(report({ kind: "text", text: "" }, cell), "csv")).toBe(`a\r\n${expected}\r\n`);
  });
});

describe("formats", () => {
  it("breaks long lines and lists", () => {
    const words = Array.from({ length: 40 }, () => "word").join(" ");
    const lines = renderReport(report({ kind: "list", items: [words] }), "text").split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(lines[4]).toMatch(/^ {2}word/);
  });

  it("JSON has title, verdict and data", () => {
    expect(JSON.parse(renderReport(report({ kind: "text", text: "" }), "json"))).toEqual({
      title: "T",
      verdict: "fine",
      count: "1",
    });
  });

  it.each([
    [[], ""],
    [[0, 0], "▁▁"],
    [[0, 1, 8, undefined], "▁▂█·"],
    [[1, 2, 3, 4, 5, 6, 7], "▂▃▄▅▆▇█"],
  ])("bars of %j", (values, bars) => {
    expect(sparkline(values)).toBe(bars);
  });

  it.each([
    [0, "0 s"],
    [59_400, "59 s"],
    [59_600, "1 min"],
    [3_600_000, "1 h"],
    [11_100_000, "3 h 5 min"],
    [86_399_999, "1 d"],
    [187_200_000, "2 d 4 h"],
    [-5, "0 s"],
  ])("%i ms is %s", (ms, text) => {
    expect(formatRoundedDuration(ms)).toBe(text);
  });

  it("numbers and amounts", () => {
    expect([formatCount(0), formatCount(1234n), formatCount(-1234567n)]).toEqual([
      "0",
      "1,234",
      "-1,234,567",
    ]);
    expect([formatCents(5n), formatCents(-295_800n)]).toEqual(["0.05", "-2,958.00"]);
  });
});
