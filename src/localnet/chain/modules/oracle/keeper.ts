import { CurrencyPairState, type QuotePrice } from "../../../../cosmos/proto/gen/slinky/oracle/v1/genesis.ts";
import type { CurrencyPair } from "../../../../cosmos/proto/gen/slinky/types/v1/currency_pair.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import type { Context } from "../../runtime/context.ts";
import { createItem, createMap, messageCodec, textCodec, uint64Codec } from "../../store/collections.ts";
import type { OracleVote } from "./extended-commit.ts";

export const MODULE_NAME = "oracle";

/** Pair states by pair, for example "BTC/USD". */
export const pairs = createMap(MODULE_NAME, Uint8Array.of(0), textCodec, messageCodec(CurrencyPairState));
/** Id of the next pair. */
export const nextId = createItem(MODULE_NAME, Uint8Array.of(1), uint64Codec);

/** "BTC/USD". */
export function pairText({ Base, Quote }: CurrencyPair): string {
  return `${Base}/${Quote}`;
}

/** Parses "BTC/USD". Returns undefined for any other text. */
export function parsePair(text: string): CurrencyPair | undefined {
  const [Base = "", Quote = "", ...more] = text.split("/");
  return Base === "" || Quote === "" || more.length > 0 ? undefined : { Base, Quote };
}

/** Staking module functions that the oracle calls. */
export interface OracleStaking {
  /** Returns the tokens of the validator with this consensus address. */
  readonly byConsensus: (
    context: Context,
    consensus: Uint8Array,
  ) => { readonly tokens: bigint; readonly operator: Uint8Array } | undefined;
  readonly bonded: (context: Context) => Iterable<{ readonly tokens: bigint }>;
}

/** Minimum share of the bonded stake that must vote for a price, in thousandths. */
const LEAST_STAKE = 667n;

/** For each pair with enough voting stake, stores the stake-weighted median of the prices in the votes. */
export function storePrices(
  context: Context,
  votes: readonly OracleVote[],
  { byConsensus, bonded }: OracleStaking,
): void {
  const total = [...bonded(context)].reduce((sum, { tokens }) => sum + tokens, 0n);
  const weighed = votes.map(({ consensus, deltas }) => ({
    deltas,
    tokens: deltas.size === 0 ? 0n : (byConsensus(context, consensus)?.tokens ?? 0n),
  }));
  for (const [pair, state] of pairs.entries(context)) {
    const current = BigInt(state.price?.price ?? "0");
    const reports = weighed.flatMap(({ deltas, tokens }) => {
      const delta = deltas.get(state.id);
      return delta === undefined || current + delta < 0n ? [] : [{ price: current + delta, tokens }];
    });
    const behind = reports.reduce((sum, { tokens }) => sum + tokens, 0n);
    const median =
      behind === 0n || behind * 1000n < total * LEAST_STAKE ? undefined : medianOf(reports, behind);
    if (median === undefined) continue;
    const price: QuotePrice = {
      price: median.toString(),
      blockTimestamp: nsToTimestamp(context.timeNs),
      blockHeight: context.height,
    };
    pairs.set(context, pair, { ...state, price, nonce: state.nonce + 1n });
  }
}

/** Returns the lowest price such that half of the stake votes for that price or a lower one. */
function medianOf(
  reports: readonly { readonly price: bigint; readonly tokens: bigint }[],
  total: bigint,
): bigint | undefined {
  let sum = 0n;
  const ascending = reports.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  return ascending.find(({ tokens }) => (sum += tokens) >= total / 2n)?.price;
}
