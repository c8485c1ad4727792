import { describe, expect, it } from "vitest";
import { compareTxs } from "../../src/relayer/preview/preview-results.ts";

/** Transactions in order: "x" was received, "-" was not, "?" is not known. */
const compare = (marks: string) =>
  compareTxs(
    marks.split("").map((mark, index) => ({
      hash: `${index}`,
      received: mark === "?" ? undefined : mark === "x",
    })),
  );

describe("the comparison of transactions", () => {
  it.each(["", "-", "---"])("finds nothing received in %s", (marks) => {
    expect(compare(marks)).toEqual({ kind: "none" });
  });

  it.each(["x", "xxx", "xx--"])("finds the same in %s: the rest is not sent yet", (marks) => {
    expect(compare(marks)).toEqual({ kind: "same" });
  });

  it.each([
    ["-x", ["0"]],
    ["x-x-", ["1"]],
    ["--x", ["0", "1"]],
  ])("finds what was left out in %s", (marks, missing) => {
    expect(compare(marks)).toEqual({ kind: "differs", missing });
  });

  it("decides nothing without all answers", () => {
    expect(compare("x?")).toMatchObject({ kind: "unreadable" });
  });
});
