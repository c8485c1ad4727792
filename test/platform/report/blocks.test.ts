import { expect, it } from "vitest";
import { list, paragraph, right, table } from "../../../src/platform/report/blocks.ts";

it("a list without items and a paragraph without text are no blocks", () => {
  expect([list([]), paragraph(undefined)]).toEqual([[], []]);
  expect([...list(["one"]), ...paragraph("text")]).toEqual([
    { kind: "list", items: ["one"] },
    { kind: "text", text: "text" },
  ]);
});

it("a table's plain titles are those of left-aligned columns, and it stands without rows too", () => {
  expect(table(["Name", right("Count")], [])).toEqual([
    { kind: "table", columns: [{ title: "Name" }, { title: "Count", align: "right" }], rows: [] },
  ]);
});
