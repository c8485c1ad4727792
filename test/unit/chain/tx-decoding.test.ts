import { describe, expect, it } from "vitest";
import { fromHex } from "../../../src/base/bytes.ts";
import { rejectNonCanonicalTx } from "../../../src/chain/runtime/tx-bytes.ts";
import { ModuleError } from "../../../src/chain/runtime/module-error.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";

describe("the canonical form of a transaction", () => {
  it.each([
    ["000000", "invalid length; proto: invalid field number"],
    ["0801", "expected 2 wire type, got 0"],
    ["12000a00", "txRaw must follow ADR-027, got tagNum 1 after tagNum 2"],
    ["0a8000", "length prefix varint for tagNum 1 is not as short as possible, read 2, only need 1"],
    ["0a05ff", "invalid length; unexpected EOF"],
    ["0a", "invalid length; unexpected EOF"],
    ["0affffffffffffffffffff01", "invalid length; proto: variable length integer overflow"],
  ])("%s is refused", (hex, text) => {
    expect(() => rejectNonCanonicalTx(fromHex(hex))).toThrow(
      new ModuleError("sdk", 2, `${text}: tx parse error`, "tx parse error"),
    );
  });

  it.each(["", "0a00", "0a011212020a0b1a01001a00"])("%j passes", (hex) => {
    expect(() => rejectNonCanonicalTx(fromHex(hex))).not.toThrow();
  });
});

describe("what is no transaction", () => {
  const { app } = startTestChain(testGenesis([{ key: createTestKey("a"), untrn: 1n }]));

  it.each([
    [
      "000000",
      1,
      "undefined",
      "failed to decode tx: invalid length; proto: invalid field number: tx parse error",
    ],
    ["", 18, "sdk", "must contain at least one message: invalid request"],
  ])("%j is answered as a real chain answers it", (hex, code, codespace, log) => {
    expect(app.checkTx(fromHex(hex), false)).toMatchObject({
      code,
      codespace,
      log,
      gasWanted: 0n,
      gasUsed: 0n,
    });
  });

  it("never throws, whatever the bytes", () => {
    for (let seed = 0; seed < 500; seed++) {
      const bytes = Uint8Array.from(
        { length: seed % 40 },
        (_, index) => (seed * 31 + index * index * 7) % 256,
      );
      expect(app.checkTx(bytes, false).code).not.toBe(0);
    }
  });
});
