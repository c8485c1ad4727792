import { InvalidArgumentError } from "commander";
import { describe, expect, it } from "vitest";
import * as parse from "../../../src/localnet/cli/dex-arguments.ts";

describe("arguments of the dex commands", () => {
  it.each([
    ["[-5]", [-5n]],
    ["[-5,3]", [-5n, 3n]],
    ["[-5],3,[-7]", [-5n, 3n, -7n]],
    ["3,0", [3n, 0n]],
    ["-5", [-5n]],
  ])("ticks %s", (text, ticks) => expect(parse.parseTicks(text)).toEqual(ticks));

  it.each([
    ["10,0x10,010,1_000", ["10", "16", "8", "1000"]],
    ["0", ["0"]],
  ])("amounts %s", (text, amounts) => expect(parse.parseAmounts(text)).toEqual(amounts));

  it("fees, booleans, prices, routes, order types and times", () => {
    expect(parse.parseFees("1,200")).toEqual([1n, 200n]);
    expect(parse.parseBooleans("true,F,1,0")).toEqual([true, false, true, false]);
    expect(parse.parsePrice("0.9")).toBe("900000000000000000000000000");
    expect(parse.parseRoutes("A,B;C,D")).toEqual([{ hops: ["A", "B"] }, { hops: ["C", "D"] }]);
    expect(parse.parseOrderType("GOOD_TIL_TIME")).toBe(4);
    expect(parse.parseExpiration("02/05/2023 15:34:56")).toEqual({ seconds: 1_675_611_296n, nanos: 0 });
  });

  it.each<[string, (text: string) => unknown, string, string]>([
    ["an empty amount", parse.parseAmount, "", "cannot unmarshal"],
    ["an amount with a fraction", parse.parseAmount, "1.5", "cannot unmarshal"],
    ["an amount above 256 bits", parse.parseAmount, (2n ** 256n).toString(), "integer out of range"],
    ["an empty entry", parse.parseAmounts, "1,,2", "cannot unmarshal"],
    ["a tick in hex", parse.parseTick, "0x1", "invalid syntax"],
    ["a tick without digits", parse.parseTick, "[]", "invalid syntax"],
    ["a tick beyond 64 bits", parse.parseTick, "[-9223372036854775809]", "value out of range"],
    ["a negative fee", parse.parseFee, "-1", "invalid syntax"],
    ["a word for a boolean", parse.parseBoolean, "yes", "invalid syntax"],
    ["a price with an exponent", parse.parsePrice, "1e5", "failed to set decimal string"],
    ["a price with 28 digits", parse.parsePrice, `0.${"1".repeat(28)}`, "exceeds max precision"],
    ["an order type in lower case", parse.parseOrderType, "fill_or_kill", "Order type must be one of"],
    ["a number for an order type", parse.parseOrderType, "1", "Order type must be one of"],
    ["a time in ISO form", parse.parseExpiration, "2023-02-05T15:34:56Z", "MM/dd/yyyy HH:mm:ss"],
    ["a day that is not there", parse.parseExpiration, "02/30/2023 00:00:00", "MM/dd/yyyy HH:mm:ss"],
    ["hour 24", parse.parseExpiration, "02/05/2023 24:00:00", "MM/dd/yyyy HH:mm:ss"],
  ])("reject %s", (_name, parser, text, message) => {
    expect(() => parser(text)).toThrow(InvalidArgumentError);
    expect(() => parser(text)).toThrow(message);
  });
});
