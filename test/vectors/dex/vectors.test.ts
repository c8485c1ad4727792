import { describe, expect, it } from "vitest";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import { PROFILE_NAMES } from "../../../src/localnet/chain/deviations/deviations.ts";
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

const all = readVectorLines(FILES);

describe("dex vectors", () => {
  it("have for each profile the variant that follows it", () => {
    expect(all).toHaveLength(466);
    const specification = chooseLines(all, "specification");
    expect(specification.lines).toHaveLength(362);
    expect(specification.skipped).toEqual([]);
    expect(specification.lines.filter(({ variant }) => variant === "literal")).toHaveLength(52);
    expect(chooseLines(all, "deployed").lines).toHaveLength(362);
  });

  describe.each(PROFILE_NAMES)("on a chain with the profile %s", (name) => {
    const topics = groupByTopic(chooseLines(all, name).lines);

    it.each([...topics])("%s", (_topic, ofTopic: readonly VectorLine[]) => {
      const failed = ofTopic.flatMap((line) => {
        const difference = runVectorLine(line, profileNamed(name));
        return difference === undefined ? [] : [`${line.id}: ${difference}`];
      });
      expect(failed).toEqual([]);
    });
  });
});
