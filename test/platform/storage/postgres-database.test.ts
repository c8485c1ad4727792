import { expect, it } from "vitest";
import { bound } from "../../../src/platform/storage/postgres-database.ts";

it("stores texts with NUL, which PostgreSQL refuses, with another character, and integers above 2^53 exactly", () => {
  expect(bound(["a\0b\0", 7, null, 9_007_199_254_740_993n])).toEqual(["a�b�", 7, null, "9007199254740993"]);
  expect(bound()).toEqual([]);
});
