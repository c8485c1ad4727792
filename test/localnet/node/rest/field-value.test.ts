import { describe, expect, it } from "vitest";
import { parseFieldValue } from "../../../../src/localnet/node/rest/request-message.ts";
import { requireMessage } from "../../../../src/cosmos/proto/registry.ts";

const orderBy = requireMessage("cosmos.tx.v1beta1.GetTxsEventRequest").field["orderBy"];
if (orderBy === undefined) throw new Error("no such field");

describe("an enum in a path", () => {
  it.each(["ORDER_BY_ASC", "1", "0x1"])("%s", (text) =>
    expect(parseFieldValue(orderBy, text, "path")).toBe(1),
  );

  it.each(["asc", "7"])("%s is refused", (text) =>
    expect(() => parseFieldValue(orderBy, text, "path")).toThrow(`${text} is not valid`),
  );
});
