import { describe, expect, it } from "vitest";
import {
  chooseLines,
  groupByTopic,
  readVectorLines,
  type VectorLine,
} from "../../support/dex-vector-lines.ts";
import { runVectorLine } from "../../support/dex-vectors.ts";

const FILES = ["dex-vectors-v603.dev.jsonl.gz", "dex-vectors-v603.spec.dev.jsonl.gz"].map(
  (name) => new URL(name, import.meta.url).pathname,
);

describe("dex vectors", () => {
  const all = readVectorLines(FILES);
  const { lines, skipped } = chooseLines(all);
  const topics = groupByTopic(lines);

  it("reads every line and runs the variant that follows the specification", () => {
    expect(all).toHaveLength(466);
    expect(lines).toHaveLength(362);
    expect(skipped).toEqual([]);
    expect(lines.filter(({ variant }) => variant === "literal")).toHaveLength(52);
  });

  it.each([...topics])("%s", (_topic, ofTopic: readonly VectorLine[]) => {
    const failed = ofTopic.flatMap((line) => {
      const difference = runVectorLine(line);
      return difference === undefined ? [] : [`${line.id}: ${difference}`];
    });
    expect(failed).toEqual([]);
  });
});
