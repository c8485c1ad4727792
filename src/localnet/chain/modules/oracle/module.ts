import { eachAtPath, genesisSchema } from "../../runtime/genesis.ts";
import * as connect from "../../../../cosmos/proto/gen/connect/oracle/v2/query.ts";
import {
  CurrencyPairState,
  GenesisState,
  type QuotePrice,
} from "../../../../cosmos/proto/gen/slinky/oracle/v1/genesis.ts";
import * as slinky from "../../../../cosmos/proto/gen/slinky/oracle/v1/query.ts";
import type { CurrencyPair } from "../../../../cosmos/proto/gen/slinky/types/v1/currency_pair.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { Context, ChainModule, QueryHandler } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { queryHandlers } from "../../runtime/handlers.ts";
import type { StakingKeeper } from "../staking/keeper.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { createItem, createMap, messageCodec, textCodec, uint64Codec } from "../../store/collections.ts";
import { inflateSync } from "node:zlib";
import { ExtendedCommitInfo } from "../../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { BlockIDFlag } from "../../../../cosmos/proto/gen/tendermint/types/validator.ts";
import { OracleVoteExtension } from "../../../../cosmos/proto/gen/slinky/abci/v1/vote_extensions.ts";
import { concat } from "../../../../platform/base/bytes.ts";

const MODULE_NAME = "oracle";

interface OracleDeps {
  readonly staking: OracleStaking;
  /** Counts a block's votes after the oracle has stored the prices. */
  readonly countVotes: (context: Context, votes: readonly OracleVote[]) => void;
}

/** The module and the functions that the revenue module calls. */
export interface OracleModule extends ChainModule {
  /**
   * Returns a pair's price as an integer scaled by the pair's decimals. Returns 0 if the pair has no price, and undefined if the
   * pair is not tracked.
   */
  readonly priceOf: (
    context: Context,
    pair: string,
  ) => { readonly price: bigint; readonly decimals: number } | undefined;
}

/** Creates the `oracle` module, which stores the prices from a block's votes. */
export function createOracleModule({ staking, countVotes }: OracleDeps): OracleModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [],
    queries: createQueries(),
    preBlock: (context, txs) => {
      const votes = readVotes(txs);
      if (votes === undefined) return;
      storePrices(context, votes, staking);
      countVotes(context, votes);
    },
    initGenesis,
    exportGenesis,
    priceOf: (context, pair) => {
      const state = pairs.get(context, pair);
      return state && { price: BigInt(state.price?.price ?? "0"), decimals: Number(state.decimals) };
    },
  };
}

const SCHEMA = genesisSchema(MODULE_NAME, "slinky.oracle.v1.GenesisState", GenesisState);

/** Maximum number of decimals that a pair may have. */
const MAX_DECIMALS = 36n;

/** Stores the genesis state's currency pairs, prices and next id. Throws `GenesisError` if a pair is invalid or listed twice. */
function initGenesis(context: Context, json: JsonValue | undefined): void {
  const given = SCHEMA.read(json) ?? { currencyPairGenesis: [], nextId: 0n };
  const ids = new Set<bigint>();
  eachAtPath(`app_state.${MODULE_NAME}.currency_pair_genesis`, given.currencyPairGenesis, (one) => {
    const { currencyPair = { Base: "", Quote: "" }, currencyPairPrice: price, nonce, id, decimals } = one;
    const pair = pairText(currencyPair);
    if (parsePair(pair) === undefined) throw new Error(`invalid currency pair: ${pair}`);
    if (pairs.has(context, pair) || ids.has(id)) throw new Error(`duplicate pair or id: ${pair}, ${id}`);
    if (id >= given.nextId) throw new Error(`the id ${id} is not below next_id ${given.nextId}`);
    if (decimals > MAX_DECIMALS) throw new Error(`more than ${MAX_DECIMALS} decimals`);
    ids.add(id);
    pairs.set(context, pair, { price, nonce, id, decimals });
  });
  nextId.set(context, given.nextId);
}

function exportGenesis(context: Context): JsonValue {
  const currencyPairGenesis = [...pairs.entries(context)].map(([pair, { price, ...state }]) => ({
    ...state,
    currencyPair: parsePair(pair),
    currencyPairPrice: price,
  }));
  return SCHEMA.print({ currencyPairGenesis, nextId: nextId.get(context) ?? 0n });
}

const all = (context: Context) => ({ currencyPairs: [...tracked(context)].map(({ pair }) => pair) });
const prices = (context: Context, { currencyPairIds }: slinky.GetPricesRequest) => ({
  prices: currencyPairIds.map((text) => priceOf(context, requirePair(text))),
});
const mapping = (context: Context) => ({
  currencyPairMapping: new Map([...tracked(context)].map(({ id, pair }) => [id, pair])),
});

/** Creates the queries of `slinky.oracle.v1`, as on the deployed chain, and of `connect.oracle.v2`. */
function createQueries(): readonly QueryHandler[] {
  return [
    ...queryHandlers(slinky.Query, {
      GetAllCurrencyPairs: all,
      GetPrice: (context, { currencyPair = { Base: "", Quote: "" } }) =>
        priceOf(context, requirePair(pairText(currencyPair))),
      GetPrices: prices,
      GetCurrencyPairMapping: mapping,
    }),
    ...queryHandlers(connect.Query, {
      GetAllCurrencyPairs: all,
      GetPrice: (context, { currencyPair }) => priceOf(context, requirePair(currencyPair)),
      GetPrices: prices,
      GetCurrencyPairMapping: mapping,
      GetCurrencyPairMappingList: (context) => ({
        mappings: [...tracked(context)].map(({ id, pair }) => ({ id, currencyPair: pair })),
      }),
    }),
  ];
}

function* tracked(context: Context): IterableIterator<{ readonly id: bigint; readonly pair: CurrencyPair }> {
  for (const [text, { id }] of pairs.entries(context)) {
    const pair = parsePair(text);
    if (pair !== undefined) yield { id, pair };
  }
}

function requirePair(text: string): string {
  if (parsePair(text) === undefined) throw new QueryError(GrpcCode.Unknown, `invalid currency pair: ${text}`);
  return text;
}

const NO_PRICE: CurrencyPairState["price"] = { price: "0", blockTimestamp: undefined, blockHeight: 0n };

/** Returns a pair's price, or zero if the pair has none. Throws gRPC code 2 (Unknown) for a pair that is not tracked. */
function priceOf(context: Context, pair: string): slinky.GetPriceResponse {
  const state = pairs.get(context, pair);
  if (state === undefined)
    throw new QueryError(
      GrpcCode.Unknown,
      `no price / nonce reported for CurrencyPair: ${pair}, the module is not tracking this CurrencyPair`,
    );
  const { price = NO_PRICE, nonce, decimals, id } = state;
  return { price, nonce, decimals, id };
}

/** Currency pair states, keyed by pair, for example "BTC/USD". */
const pairs = createMap(MODULE_NAME, Uint8Array.of(0), textCodec, messageCodec(CurrencyPairState));
const nextId = createItem(MODULE_NAME, Uint8Array.of(1), uint64Codec);

/** Formats a pair as "BTC/USD". */
function pairText({ Base, Quote }: CurrencyPair): string {
  return `${Base}/${Quote}`;
}

/** Parses a pair such as "BTC/USD", or returns undefined for any other string. */
function parsePair(text: string): CurrencyPair | undefined {
  const [Base = "", Quote = "", ...more] = text.split("/");
  return Base === "" || Quote === "" || more.length > 0 ? undefined : { Base, Quote };
}

/** Methods of the staking keeper that the oracle calls. */
export type OracleStaking = Pick<StakingKeeper, "byConsensus" | "bonded">;

/** Minimum share of the bonded stake that must vote for a price, in thousandths. */
const LEAST_STAKE = 667n;

/** For each pair with enough voting stake, stores the stake-weighted median of the prices in the votes. */
function storePrices(
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

/**
 * Returns the stake-weighted median: the lowest price for which at least half of the stake voted for this price or a lower price. As
 * deployed, half of an odd stake is rounded down.
 */
function medianOf(
  reports: readonly { readonly price: bigint; readonly tokens: bigint }[],
  total: bigint,
): bigint | undefined {
  let sum = 0n;
  const ascending = reports.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  return ascending.find(({ tokens }) => (sum += tokens) >= total / 2n)?.price;
}

/** A validator's vote on the previous block, which the proposer includes in the next block. */
export interface OracleVote {
  /** The validator's consensus address (20 bytes). */
  readonly consensus: Uint8Array;
  readonly isAbsent: boolean;
  /** The voted price minus the chain's price, by pair id, or empty if the vote has no prices. */
  readonly deltas: ReadonlyMap<bigint, bigint>;
}

/**
 * Reads the votes from a block's first transaction. Returns undefined if the transaction contains no votes, i.e. if vote extensions
 * are off. Only a proposer can add votes to a block, because nodes do not accept the encoded votes as a transaction. Throws for a
 * vote format that this project's nodes do not write.
 */
function readVotes([first]: readonly Uint8Array[]): readonly OracleVote[] | undefined {
  if (first === undefined || !MAGIC.every((byte, index) => first[index] === byte)) return undefined;
  return ExtendedCommitInfo.decode(readFrame(first)).votes.map(
    ({ validator, voteExtension, blockIdFlag }) => ({
      consensus: validator?.address ?? new Uint8Array(0),
      isAbsent: blockIdFlag === BlockIDFlag.BLOCK_ID_FLAG_ABSENT,
      deltas: deltasOf(voteExtension),
    }),
  );
}

/** Maximum size of a decompressed vote extension, in bytes. The maximum size is enough for thousands of prices. */
const MAX_EXTENSION_BYTES = 1_048_576;

function deltasOf(extension: Uint8Array): ReadonlyMap<bigint, bigint> {
  if (extension.length === 0) return new Map();
  const { prices: reported } = OracleVoteExtension.decode(
    inflateSync(extension, { maxOutputLength: MAX_EXTENSION_BYTES }),
  );
  return new Map([...reported].map(([id, bytes]) => [id, readGobInt(bytes)]));
}

// Go's gob encoding of a `big.Int` is one byte for the version and sign, followed by the magnitude.
const POSITIVE = 2;
const NEGATIVE = 3;

/** Encodes an integer as Go's gob encodes a `big.Int`. */
export function writeGobInt(value: bigint): Uint8Array {
  const digits = value === 0n ? "" : (value < 0n ? -value : value).toString(16);
  const magnitude = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return concat(Uint8Array.of(value < 0n ? NEGATIVE : POSITIVE), magnitude);
}

function readGobInt([sign, ...magnitude]: Uint8Array): bigint {
  if (sign !== POSITIVE && sign !== NEGATIVE) throw new Error(`byte ${sign} is not a gob sign byte`);
  const value = magnitude.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return sign === NEGATIVE ? -value : value;
}

// A zstd frame (RFC 8878) with uncompressed blocks, which every zstd reader understands.
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** Frame header descriptor: a single segment, with the content size encoded in 4 bytes. */
const DESCRIPTOR = 0xa0;
const HEADER_BYTES = MAGIC.length + 1 + 4;
const MAX_BLOCK = 128 * 1024;

/** Wraps content in a zstd frame with uncompressed blocks. */
export function writeFrame(content: Uint8Array): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  header.set([...MAGIC, DESCRIPTOR]);
  new DataView(header.buffer).setUint32(MAGIC.length + 1, content.length, true);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < content.length; at += MAX_BLOCK) {
    const block = content.subarray(at, at + MAX_BLOCK);
    const isLast = at + MAX_BLOCK >= content.length;
    const word = (block.length << 3) | (isLast ? 1 : 0);
    blocks.push(Uint8Array.of(word & 0xff, (word >> 8) & 0xff, (word >> 16) & 0xff), block);
  }
  return concat(header, ...blocks);
}

function readFrame(frame: Uint8Array): Uint8Array {
  if (frame[MAGIC.length] !== DESCRIPTOR) throw new Error("the extended commit is compressed");
  const blocks: Uint8Array[] = [];
  for (let at = HEADER_BYTES; at < frame.length; ) {
    const word = (frame[at] ?? 0) | ((frame[at + 1] ?? 0) << 8) | ((frame[at + 2] ?? 0) << 16);
    if ((word & 6) !== 0) throw new Error("the extended commit is compressed");
    const end = at + 3 + (word >> 3);
    blocks.push(frame.subarray(at + 3, end));
    at = end;
  }
  return concat(...blocks);
}
