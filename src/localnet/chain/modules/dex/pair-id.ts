import * as errors from "./errors.ts";
import type { PairId, TradePairId } from "./types.ts";

/** Parses "A<>B" in any order. Throws dex/1119 for another form and dex/1102 for equal tokens. */
export function parsePairId(text: string): PairId {
  const [first, second, ...more] = text.split("<>");
  if (first === undefined || second === undefined || more.length > 0) throw errors.ErrInvalidPairIdStr(text);
  if (first === second) throw errors.ErrInvalidTradingPair(text);
  return first < second ? { token0: first, token1: second } : { token0: second, token1: first };
}

/** Returns the side of a pair that sells `makerDenom`. For a denomination that is not of the pair, the other side is token0. */
export function sideSelling({ token0, token1 }: PairId, makerDenom: string): TradePairId {
  return { makerDenom, takerDenom: makerDenom === token0 ? token1 : token0 };
}
