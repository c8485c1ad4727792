import { expect, it } from "vitest";
import { formatDuration } from "../../../src/platform/base/text.ts";

it("formats durations in seconds up to ten minutes, then in two units", () => {
  const texts = [-5, 0, 999, 200_000, 599_999, 600_000, 725_000, 10_920_000, 86_400_000, 187_200_000].map(
    formatDuration,
  );
  expect(texts).toEqual([
    "0 s",
    "0 s",
    "0 s",
    "200 s",
    "599 s",
    "10 min",
    "12 min 5 s",
    "3 h 2 min",
    "1 d",
    "2 d 4 h",
  ]);
});
