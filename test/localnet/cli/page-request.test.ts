import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addPageOptions, type PageOptions, toPageRequest } from "../../../src/localnet/cli/module-query.ts";

function parse(...args: readonly string[]): ReturnType<typeof toPageRequest> {
  const command = addPageOptions(new Command("test"))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse([...args], { from: "user" });
  return toPageRequest(command.opts<PageOptions>());
}

describe("the page options", () => {
  it("request the first 100 entries by default", () => {
    const none = new Uint8Array();
    expect(parse()).toEqual({ key: none, offset: 0n, limit: 100n, countTotal: false, reverse: false });
  });

  it("are copied to the request", () => {
    const given = parse(
      "--page-key",
      "AAE=",
      "--limit",
      "18446744073709551615",
      "--count-total",
      "--reverse",
    );
    const key = new Uint8Array([0, 1]);
    expect(given).toEqual({ key, offset: 0n, limit: 2n ** 64n - 1n, countTotal: true, reverse: true });
    expect(parse("--offset", "7")).toMatchObject({ offset: 7n });
  });

  it("convert a page number to an offset", () => {
    expect(parse("--page", "3", "--limit", "20")).toMatchObject({ offset: 40n, limit: 20n });
  });

  it.each([
    ["--page", "2", "--offset", "1"],
    ["--page", "2", "--page-key", "AAE="],
    ["--offset", "2", "--page-key", "AAE="],
    ["--page", "0"],
    ["--limit", "-1"],
    ["--limit", "18446744073709551616"],
    ["--page-key", "?"],
  ])("are refused: %s %s %s %s", (...args) => {
    expect(() => parse(...args)).toThrow();
  });
});
