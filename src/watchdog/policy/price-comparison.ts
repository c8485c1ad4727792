import { z } from "zod";
import { ascending } from "../../platform/base/order.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { storedInteger, storedPairs } from "../sources/stored-json.ts";
import type { ChainPrice, NodeObservation, Observation } from "../sources/observation.ts";

/** The prices that one validator's sidecar served at one poll. */
export interface SidecarPrices {
  readonly validator: string;
  /** Name of the node that uses the sidecar. */
  readonly node: string;
  /** Time of the poll that read the prices. */
  readonly atMs: number;
  /** The price of each pair, as a whole number scaled by the pair's decimals. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Each pair's decimals according to the sidecar's metrics. Pairs that are not in the map use the chain's decimals. */
  readonly decimals: ReadonlyMap<string, number>;
}

/** The reference for a sidecar's price: the price stored by the chain, or the median of several sidecars. */
export type PriceReference = "chain" | "sidecars";

/** A sidecar's price and a reference price for the same pair. Both are whole numbers, scaled by `decimals`. */
export interface PriceComparison {
  readonly node: string;
  readonly pair: string;
  readonly reference: PriceReference;
  readonly own: bigint;
  /** The reference price, which is always positive. */
  readonly other: bigint;
  /** Number of decimals of the prices; undefined if neither the chain nor the sidecar states them. */
  readonly decimals: number | undefined;
  /**
   * Absolute difference between the sidecar's price and the reference price. The chain's price is older than the sidecar's, so it
   * is compared with the range of all prices that the sidecar has served since shortly before the chain's price was stored.
   */
  readonly distance: bigint;
  /** Age of the reference price (`other`) when the sidecar was polled, in ms. */
  readonly ageMs: number;
  /** Number of sidecars in the median, including this one; 0 for the chain's price. */
  readonly sidecars: number;
}

/** A price that could not be compared, with a reason phrased to end a sentence. */
export interface NotCompared {
  readonly node: string;
  readonly pair: string;
  readonly reference: PriceReference;
  readonly reason: string;
}

export interface ComparedPrices {
  readonly comparisons: readonly PriceComparison[];
  readonly notCompared: readonly NotCompared[];
}

/** A sidecar's prices at one poll, as stored in the poll history. */
export const storedPrices = z.strictObject({
  atMs: z.number(),
  // 78 digits are enough for any price that a sidecar can report.
  prices: storedPairs(z.string(), storedInteger(78)),
});

type RecentPrices = Readonly<z.output<typeof storedPrices>>;

/** Each node's sidecar prices in recent polls, oldest first. */
interface PriceHistory {
  readonly nodes: ReadonlyMap<string, { readonly recentPrices?: readonly RecentPrices[] }>;
}

export interface ComparisonInput {
  readonly observation: Observation;
  readonly history: PriceHistory;
  /** The prices from other validators' sidecars on the same chain. */
  readonly peers: readonly SidecarPrices[];
  /** Pairs to compare between sidecars, in addition to the pairs whose on-chain price is read. */
  readonly pairs: readonly string[];
  /** Prices from the chain or a peer that are older than this are not compared. */
  readonly maxAgeMs: number;
}

/** Prices in a block can be this much older than the block: one block interval plus the duration of the node's call. */
const BEFORE_BLOCK_MS = 10_000;

/**
 * Compares each of a validator's sidecars with the prices stored by the chain. Returns no comparisons if no chain is configured.
 */
export function compareWithChain({ observation, history, maxAgeMs }: ComparisonInput): ComparedPrices {
  const { chain, nodes, atMs, validator } = observation;
  const stored = chain.prices.state === "up" ? chain.prices.value : [];
  return collected(
    nodes.flatMap((node) => {
      const own = sidecarPrices(validator, node, atMs);
      if (own === undefined) return [];
      const recent = history.nodes.get(node.name)?.recentPrices ?? [];
      return stored.map((price) => compareOne(price, own, recent, maxAgeMs));
    }),
  );
}

function compareOne(
  stored: ChainPrice,
  own: SidecarPrices,
  recent: readonly RecentPrices[],
  maxAgeMs: number,
): PriceComparison | NotCompared {
  const { pair, blockTimeMs } = stored;
  const pairOf = { node: own.node, pair, reference: "chain" } as const;
  const price = own.prices.get(pair);
  if (price === undefined) return { ...pairOf, reason: "the sidecar has no price" };
  if (blockTimeMs === undefined || stored.price === 0n)
    return { ...pairOf, reason: "the chain has no price" };
  // The difference can be negative, because this machine's clock and the chain's may differ slightly.
  const ageMs = Math.max(0, own.atMs - blockTimeMs);
  if (ageMs > maxAgeMs) {
    const seconds = Math.round(ageMs / 1000);
    return { ...pairOf, reason: `the chain's price is ${seconds} s old, which is too old to compare` };
  }
  const since = recent.filter(({ atMs }) => atMs >= blockTimeMs - BEFORE_BLOCK_MS && atMs <= own.atMs);
  const past = since.flatMap(({ prices }) => prices.get(pair) ?? []);
  // Scale both prices to the larger number of decimals to avoid rounding. If a sidecar reports no decimals, use the chain's.
  const from = own.decimals.get(pair) ?? stored.decimals;
  const to = stored.decimals ?? from;
  const decimals = from === undefined || to === undefined ? undefined : Math.max(from, to);
  const value = raised(price, from, decimals);
  const other = raised(stored.price, to, decimals);
  const range = [value, ...past.map((one) => raised(one, from, decimals))];
  return { ...pairOf, own: value, other, decimals, distance: distanceFrom(range, other), ageMs, sidecars: 0 };
}

/**
 * Returns how far a price is outside the range of the sidecar's recent prices; 0 within the range. If only the latest price were
 * compared, the chain's older price would appear wrong whenever the market moves fast.
 */
function distanceFrom(own: readonly bigint[], other: bigint): bigint {
  const low = own.reduce((a, b) => (a < b ? a : b));
  const high = own.reduce((a, b) => (a > b ? a : b));
  if (other < low) return low - other;
  return other > high ? other - high : 0n;
}

/**
 * Compares each of a validator's sidecars with the median of all sidecars, including other validators' sidecars. If there are
 * only two sidecars, they are compared with each other.
 */
export function compareWithSidecars(input: ComparisonInput): ComparedPrices {
  const { observation, peers, pairs, maxAgeMs } = input;
  const { nodes, atMs, validator, chain } = observation;
  const own = nodes.flatMap((node) => sidecarPrices(validator, node, atMs) ?? []);
  const all = [...own, ...peers.filter((peer) => atMs - peer.atMs <= maxAgeMs)];
  const stored: readonly ComparedPair[] = chain.prices.state === "up" ? chain.prices.value : [];
  const more = pairs.filter((pair) => stored.every((one) => one.pair !== pair));
  const compared: readonly ComparedPair[] = [...stored, ...more.map((pair) => ({ pair }))];
  return collected(own.flatMap((sidecar) => compared.map((pair) => compareWithMedian(sidecar, pair, all))));
}

type ComparedPair = Pick<ChainPrice, "pair" | "decimals">;

/** Compares one pair. `known` is the number of decimals that the chain states. */
function compareWithMedian(
  own: SidecarPrices,
  { pair, decimals: known }: ComparedPair,
  all: readonly SidecarPrices[],
): PriceComparison | NotCompared {
  const pairOf = { node: own.node, pair, reference: "sidecars" } as const;
  const having = all.filter(({ prices }) => prices.has(pair));
  if (!own.prices.has(pair)) return { ...pairOf, reason: "the sidecar has no price" };
  if (having.length < 2) return { ...pairOf, reason: "no other sidecar has a price" };
  const references = having.length === 2 ? having.filter((one) => one !== own) : having;
  const decimals = most(having.flatMap((one) => one.decimals.get(pair) ?? known ?? []));
  const inUnit = (one: SidecarPrices): bigint =>
    raised(one.prices.get(pair) ?? 0n, one.decimals.get(pair) ?? known, decimals);
  const other = median(references.map(inUnit));
  const value = inUnit(own);
  return {
    ...pairOf,
    own: value,
    other,
    decimals,
    distance: distanceFrom([value], other),
    ageMs: Math.max(0, ...references.map(({ atMs }) => own.atMs - atMs)),
    sidecars: having.length,
  };
}

/** Returns the prices of a node's sidecar; undefined if they were not read or come from metrics, which contain no values. */
export function sidecarPrices(
  validator: string,
  { name, prices, sidecar }: NodeObservation,
  atMs: number,
): SidecarPrices | undefined {
  if (prices.state !== "up" || prices.value.isDerived) return undefined;
  const decimals = sidecar.state === "up" ? (sidecar.value.decimals ?? NO_DECIMALS) : NO_DECIMALS;
  return { validator, node: name, atMs, prices: prices.value.prices, decimals };
}

const NO_DECIMALS: ReadonlyMap<string, number> = new Map();

/** Returns the deviation in basis points of the reference price, rounded down. */
export function deviationBps({ distance, other }: PriceComparison): bigint {
  return (distance * 10_000n) / other;
}

/** Returns true if the two prices differ by more than `maxBps` basis points, compared exactly as integers. */
export function exceeds({ distance, other }: PriceComparison, maxBps: bigint): boolean {
  return distance * 10_000n > maxBps * other;
}

function raised(value: bigint, from: number | undefined, to: number | undefined): bigint {
  return from === undefined || to === undefined ? value : value * 10n ** BigInt(to - from);
}

/** Returns the median. For an even number of values, this is the mean of the middle two, rounded down. */
function median(values: readonly bigint[]): bigint {
  const sorted = values.toSorted(ascending);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0n;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? upper;
  return (lower + upper) / 2n;
}

function most(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

function collected(results: readonly (PriceComparison | NotCompared)[]): ComparedPrices {
  return {
    comparisons: results.flatMap((one) => ("reason" in one ? [] : [one])),
    notCompared: results.flatMap((one) => ("reason" in one ? [one] : [])),
  };
}

/** Formats a price without trailing zeros, such as "97123.45". If the decimals are unknown, formats the unscaled integer. */
export function formatPrice(value: bigint, decimals: number | undefined): string {
  if (decimals === undefined || decimals === 0) return String(value);
  const digits = value.toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return `${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Formats basis points as a percentage, such as "2.23 %". */
export function formatBps(value: bigint): string {
  return `${value / 100n}.${(value % 100n).toString().padStart(2, "0")} %`;
}

/** Maximum age at which prices are shown in comparisons, unless an alert sets another maximum. */
export const DEFAULT_MAX_AGE_MS = 30_000;

/** Compares a validator's sidecars with the chain and then with the median of all sidecars. */
export function compareAll(
  input: Omit<ComparisonInput, "maxAgeMs">,
  maxAgeMs: Readonly<Record<PriceReference, number>>,
): ComparedPrices {
  const withChain = compareWithChain({ ...input, maxAgeMs: maxAgeMs.chain });
  const withSidecars = compareWithSidecars({ ...input, maxAgeMs: maxAgeMs.sidecars });
  return {
    comparisons: [...withChain.comparisons, ...withSidecars.comparisons],
    notCompared: [...withChain.notCompared, ...withSidecars.notCompared],
  };
}

/** A comparison as the API shows it. Prices are decimal strings, and the deviation is in basis points of the reference price. */
export const comparisonView = jsonView<PriceComparison | NotCompared>(({ value, orNull }) => ({
  node: value(words, ({ node }) => node),
  pair: value(words, ({ pair }) => pair),
  reference: value(words, ({ reference }) => reference),
  own: orNull(words, (one) => ("reason" in one ? undefined : formatPrice(one.own, one.decimals))),
  other: orNull(words, (one) => ("reason" in one ? undefined : formatPrice(one.other, one.decimals))),
  deviation_bps: orNull(z.number(), (one) => ("reason" in one ? undefined : Number(deviationBps(one)))),
  age_seconds: orNull(z.number(), (one) => ("reason" in one ? undefined : one.ageMs / 1000)),
  sidecars: orNull(z.number(), (one) => ("reason" in one ? undefined : one.sidecars)),
  reason: orNull(words, (one) => ("reason" in one ? one.reason : undefined)),
}));

/** Returns the comparisons, followed by the prices that could not be compared. */
export function allResults({ comparisons, notCompared }: ComparedPrices) {
  return [...comparisons, ...notCompared];
}
