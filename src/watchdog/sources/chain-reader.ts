import { NS_PER_MS } from "../../platform/base/time.ts";
import { decodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import {
  type ChainHead,
  type ChainObservation,
  type ChainPrice,
  type MonthEdge,
  type RevenueView,
  SourceError,
  type ValidatorView,
} from "./observation.ts";
import {
  drain,
  forEachChunk,
  type PageReader,
  requireOk,
  NOT_CONFIGURED,
  type Scrape,
} from "./page-reader.ts";
import { responseField, toRevenueParams, toRevenueStats } from "./revenue-reading.ts";
import { requireChainId } from "./sample-values.ts";
import { NO_UPGRADE_MODULE, toUpgradeView, type UpgradeView } from "../upgrade/upgrade-plan.ts";
import type { ChainTarget, ValidatorTarget } from "./targets.ts";

/** Where the ledger is: the block up to which it counted, and its time. */
export interface CountedTo {
  readonly timeMs: number;
  readonly height?: bigint;
}

/** Reads the chain once. */
export type ChainReader = (counted: CountedTo | undefined, signal: AbortSignal) => Promise<ChainObservation>;

const BLOCKS = "/cosmos/base/tendermint/v1beta1/blocks";
const VALIDATORS = "/cosmos/base/tendermint/v1beta1/validatorsets/latest?pagination.limit=1000";
/** Deployed chains have the first path, newer oracle modules the second. */
const PRICES = ["/slinky/oracle/v1/get_prices", "/connect/oracle/v2/get_prices"] as const;
const MAX_BYTES = 8 * 1024 * 1024;

/** Creates a reader of a chain. Without a target nothing is configured. */
export function createChainReader(target: ValidatorTarget, read: PageReader, scrape: Scrape): ChainReader {
  const { chain } = target;
  if (chain === undefined) return async () => NOTHING;
  const rest = createRest(chain, read);
  let paths: readonly string[] = PRICES;
  const prices = async (signal: AbortSignal): Promise<readonly ChainPrice[]> => {
    const query = chain.pairs.map((pair) => `currency_pair_ids=${encodeURIComponent(pair)}`).join("&");
    const { text, path } = await rest.firstOf(paths, `?${query}`, signal);
    paths = [path, ...paths.filter((other) => other !== path)];
    return toChainPrices(responseField(text), chain.pairs);
  };
  const head = async (counted: CountedTo | undefined, signal: AbortSignal): Promise<HeadRead> => {
    const block = toBlock(responseField(await rest.get(`${BLOCKS}/latest`, signal)));
    const edge = await findMonthEdge(block, counted, rest, signal);
    const { chainId, height, timeMs } = block;
    return {
      block,
      head: { chainId, height, blockTimeMs: timeMs, ...(edge === undefined ? {} : { monthEdge: edge }) },
    };
  };
  return async (counted, signal) => {
    const [headSeen, priceSeen, revenue, upgrade] = await Promise.all([
      scrape("the latest block", signal, (inner) => head(counted, inner)),
      chain.pairs.length === 0 ? NOT_CONFIGURED : scrape("the chain's prices", signal, prices),
      scrape("the revenue module", signal, (inner) => readRevenue(target, chain, rest, inner)),
      scrape("the upgrade module", signal, (inner) => readUpgrade(rest, inner)),
    ]);
    const block = headSeen.state === "up" ? headSeen.value.block : undefined;
    const { consensusAddress: address } = target;
    const validator =
      address === undefined
        ? NOT_CONFIGURED
        : await scrape("the validator set", signal, (inner) => readValidator(address, block, rest, inner));
    return {
      head: headSeen.state === "up" ? { ...headSeen, value: headSeen.value.head } : headSeen,
      validator,
      prices: priceSeen,
      revenue,
      upgrade,
    };
  };
}

const NOTHING: ChainObservation = {
  head: NOT_CONFIGURED,
  validator: NOT_CONFIGURED,
  prices: NOT_CONFIGURED,
  revenue: NOT_CONFIGURED,
};

interface HeadRead {
  readonly block: BlockJson;
  readonly head: ChainHead;
}

interface Rest {
  readonly get: (path: string, signal: AbortSignal) => Promise<string>;
  /** Undefined when the chain does not have the path: 404 and 501. */
  readonly find: (path: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The first path that the chain has. */
  readonly firstOf: (
    paths: readonly string[],
    query: string,
    signal: AbortSignal,
  ) => Promise<{ readonly text: string; readonly path: string }>;
}

function createRest({ rest }: ChainTarget, read: PageReader): Rest {
  const find = async (path: string, signal: AbortSignal): Promise<string | undefined> => {
    const page = await read(new URL(path, rest).href, signal);
    if (page.status === 404 || page.status === 501) {
      await drain(page);
      return undefined;
    }
    await requireOk(page);
    const chunks: Uint8Array[] = [];
    await forEachChunk(page, MAX_BYTES, (chunk) => chunks.push(chunk));
    return Buffer.concat(chunks).toString("utf8");
  };
  const get = async (path: string, signal: AbortSignal): Promise<string> => {
    const text = await find(path, signal);
    if (text === undefined)
      throw new SourceError({ code: "http-status" }, `the chain has no ${path.split("?")[0]}`);
    return text;
  };
  return {
    find,
    get,
    firstOf: async (paths, query, signal) => {
      for (const path of paths) {
        const text = await find(path + query, signal);
        if (text !== undefined) return { text, path };
      }
      throw new SourceError({ code: "http-status" }, `the chain has none of ${paths.join(", ")}`);
    },
  };
}

/**
 * Finds the first block of the month of `latest` when the ledger is in an earlier month. Reads one block for each halving of
 * the heights in between: 4 for a poll, 15 for six hours.
 */
async function findMonthEdge(
  latest: BlockJson,
  counted: CountedTo | undefined,
  rest: Rest,
  signal: AbortSignal,
): Promise<MonthEdge | undefined> {
  const month = monthOf(latest.timeMs);
  if (counted?.height === undefined || monthOf(counted.timeMs) >= month) return undefined;
  const startMs = monthStartMs(month);
  let [before, after] = [counted.height, latest.height];
  while (after - before > 1n) {
    const middle = (before + after) / 2n;
    const { timeMs } = toBlock(responseField(await rest.get(`${BLOCKS}/${middle}`, signal)));
    if (timeMs < startMs) before = middle;
    else after = middle;
  }
  return { month, firstHeight: after };
}

async function readValidator(
  address: string,
  block: BlockJson | undefined,
  rest: Rest,
  signal: AbortSignal,
): Promise<ValidatorView> {
  const members = toValidatorSet(responseField(await rest.get(VALIDATORS, signal)));
  const own = members.find((one) => one.address === address);
  if (own === undefined) return { size: members.length, isInSet: false, votingPower: 0n };
  const signedLatest = block?.signers.has(toBase64(decodeBech32(address).bytes));
  return {
    size: members.length,
    isInSet: true,
    votingPower: own.votingPower,
    ...(signedLatest === undefined ? {} : { signedLatest }),
  };
}

async function readRevenue(
  { operatorAddress }: ValidatorTarget,
  { module }: ChainTarget,
  rest: Rest,
  signal: AbortSignal,
): Promise<RevenueView> {
  const params = await rest.find(`/${module}/revenue/params`, signal);
  // Newer versions of the chain have no revenue module.
  if (params === undefined) return { programme: "none" };
  const view = { programme: "revenue", params: toRevenueParams(responseField(params)) } as const;
  if (operatorAddress === undefined) return view;
  const path = `/${module}/revenue/validator_stats?val_oper_address=${encodeURIComponent(operatorAddress)}`;
  const stats = await rest.find(path, signal).catch((error: unknown) => {
    // The chain answers 400 for a validator without a block in the period, and 500 while it has no price to pay with. The
    // parameters are known all the same.
    if (error instanceof SourceError && error.facts.code === "http-status") return undefined;
    throw error;
  });
  return stats === undefined ? view : { ...view, stats: toRevenueStats(responseField(stats)) };
}

async function readUpgrade(rest: Rest, signal: AbortSignal): Promise<UpgradeView> {
  const text = await rest.find("/cosmos/upgrade/v1beta1/current_plan", signal);
  return text === undefined ? NO_UPGRADE_MODULE : toUpgradeView(responseField(text));
}

/** A block, as far as the watchdog needs it. */
interface BlockJson {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeMs: number;
  /** Addresses of the validators that signed the block before, base64. */
  readonly signers: ReadonlySet<string>;
}

/** A member of the validator set. */
interface MemberJson {
  /** Bech32 consensus address. */
  readonly address: string;
  readonly votingPower: bigint;
}

/** Reads `/cosmos/base/tendermint/v1beta1/blocks/…`. */
function toBlock(root: JsonField): BlockJson {
  const block = root.member("block").required();
  const header = block.member("header").required();
  const signatures = block.member("last_commit").required().member("signatures").elements();
  return {
    chainId: requireChainId(header.member("chain_id").required().asText()),
    height: header.member("height").required().asInt64(),
    timeMs: Number(header.member("time").required().asTimeNs() / NS_PER_MS),
    signers: new Set(
      signatures
        .filter((signature) => signature.member("block_id_flag").asText() === "BLOCK_ID_FLAG_COMMIT")
        .map((signature) => signature.member("validator_address").asText()),
    ),
  };
}

/** Reads `/cosmos/base/tendermint/v1beta1/validatorsets/latest`. */
function toValidatorSet(root: JsonField): readonly MemberJson[] {
  return root
    .member("validators")
    .required()
    .elements()
    .map((validator) => ({
      address: validator.member("address").required().asText(),
      votingPower: validator.member("voting_power").asInt64(),
    }));
}

/** Reads `…/get_prices` for these pairs, in their order. */
function toChainPrices(root: JsonField, pairs: readonly string[]): readonly ChainPrice[] {
  const prices = root.member("prices").required().elements();
  return prices.slice(0, pairs.length).map((entry, index) => {
    const price = entry.member("price");
    const height = price.isPresent() ? price.member("block_height").asInt64() : 0n;
    return {
      pair: pairs[index] ?? "",
      height,
      blockTimeMs:
        height === 0n ? undefined : Number(price.member("block_timestamp").required().asTimeNs() / NS_PER_MS),
      price: price.isPresent() ? asInteger(price.member("price")) : 0n,
      ...decimalsOf(entry.member("decimals")),
    };
  });
}

/** Most decimals of a pair; one of Ethereum has 18. */
const MAX_DECIMALS = 36n;

function decimalsOf(field: JsonField): Pick<ChainPrice, "decimals"> {
  if (!field.isPresent()) return {};
  const decimals = field.asUint64();
  if (decimals > MAX_DECIMALS) throw field.error(field.path, "at most 36");
  return { decimals: Number(decimals) };
}

/** Prices can exceed 64 bits. */
function asInteger(field: JsonField): bigint {
  const text = field.asText();
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw field.error(field.path, "a whole number");
}
