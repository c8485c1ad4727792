import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { formatPrecDec } from "../../../../src/platform/base/decimal.ts";
import { calcPrice, MAX_TICK } from "../../../../src/localnet/chain/modules/dex/price.ts";

/** SHA-256 of the prices of a range of ticks, each as a line. */
function hashPrices(from: bigint, to: bigint): string {
  const hash = createHash("sha256");
  for (let tick = from; tick <= to; tick++) hash.update(`${formatPrecDec(calcPrice(tick))}\n`);
  return hash.digest("hex");
}

describe("the price table", () => {
  it("is that of the deployed module, digit by digit", () => {
    const positive = "5e6fc55b02f81335efc1feeddf95dec13d539ea11494dadb4bdd4e3e8acf1252";
    const all = "0db6b258983944820140d3a9f9f1613ef78d775df49c89f685ce6fa668c22574";
    expect(hashPrices(0n, MAX_TICK)).toBe(positive);
    expect(hashPrices(-MAX_TICK, MAX_TICK)).toBe(all);
  });
});
