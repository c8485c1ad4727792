import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { parseHeight, timeoutFields } from "../../../src/localnet/cli/tx/ibc.ts";

it("a height is a revision and a height, and nothing else", () => {
  expect(parseHeight("1-5000")).toEqual({ revisionNumber: 1n, revisionHeight: 5000n });
  for (const text of ["5000", "1-", "x1-5", "1-5x", "1-5-6", ""])
    expect(() => parseHeight(text), text).toThrow(InvalidArgumentError);
});

it("a transfer times out after ten minutes, unless a time or only a height is given", () => {
  const timeoutHeight = { revision_number: "1", revision_height: "5000" };
  expect(timeoutFields({}, 1_000)).toEqual({ timeout_timestamp: "601000000000" });
  expect(timeoutFields({ timeout: 2_000 }, 1_000)).toEqual({ timeout_timestamp: "3000000000" });
  expect(timeoutFields({ timeoutHeight }, 1_000)).toEqual({
    timeout_height: timeoutHeight,
    timeout_timestamp: "0",
  });
  expect(timeoutFields({ timeout: 2_000, timeoutHeight }, 1_000)).toEqual({
    timeout_height: timeoutHeight,
    timeout_timestamp: "3000000000",
  });
});
