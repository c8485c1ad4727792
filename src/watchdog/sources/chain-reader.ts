import { onSourceError, readingOf } from "./observation.ts";
import type { ChainObservation, CountedTo, MonthEdge, Seen } from "./observation.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { monthOf, monthStartMs } from "../../platform/base/month.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import { toUpgradeReading } from "./upgrade-reading.ts";
import { createRest, MAX_BYTES, responseField, type Rest } from "./chain-rest.ts";
import { type PageReader, NOT_CONFIGURED, readText, requireOk, type Scrape } from "./page-reader.ts";
import { toRevenueParams, toRevenueStats } from "./revenue-reading.ts";
import { requireChainId } from "./sample-values.ts";
import { createStandingReader } from "./standing-reader.ts";
import type { ChainTarget, ValidatorTarget } from "./targets.ts";

const BLOCKS = "/cosmos/base/tendermint/v1beta1/blocks";
const PLAN = "/cosmos/upgrade/v1beta1/current_plan";
/** REST paths for the chain's prices: the first for deployed chains, the second for newer oracle modules. */
const PRICES = ["/slinky/oracle/v1/get_prices", "/connect/oracle/v2/get_prices"] as const;

/** Creates a reader for a chain's REST and RPC sources. If no chain is configured, these sources are all "not-configured". */
export function createChainReader(
  target: ValidatorTarget,
  read: PageReader,
  scrape: Scrape,
  clock: Clock,
): (counted: CountedTo | undefined, signal: AbortSignal) => Promise<ChainObservation> {
  const { chain } = target;
  if (chain === undefined) return async () => NO_CHAIN;
  const rest = createRest(chain, read);
  let paths: readonly string[] = PRICES;
  const standing = createStandingReader(target, chain, { rest, scrape, clock });
  const prices = async (signal: AbortSignal) => {
    const query = chain.pairs.map((pair) => `currency_pair_ids=${encodeURIComponent(pair)}`).join("&");
    const { root, path } = await rest.ofAnyModule(paths, `?${query}`, signal);
    paths = [path, ...paths.filter((other) => other !== path)];
    return toChainPrices(root, chain.pairs);
  };
  const byRest: BlockAt = async (height, signal) =>
    toBlock(await rest.get(`${BLOCKS}/${height ?? "latest"}`, signal));
  const { rpc } = chain;
  /** Reads the latest block over REST or, if that fails, its header over RPC, because counting by month needs block times. */
  const readHead = async (counted: CountedTo | undefined, signal: AbortSignal): Promise<Seen<Head>> => {
    const headBy = (blockAt: BlockAt): Promise<Seen<Head>> =>
      scrape("the latest block", signal, async (inner) => {
        const block = await blockAt(undefined, inner);
        return { block, monthEdge: await findMonthEdge(block, counted, blockAt, inner) };
      });
    const seen = await headBy(byRest);
    if (seen.state === "up" || rpc === undefined) return seen;
    const other = await headBy(async (height, inner) => {
      const url = urlBelow(rpc, `block${height === undefined ? "" : `?height=${height}`}`);
      const text = await readText(await requireOk(await read(url.href, inner)), MAX_BYTES);
      return toHeader(responseField(text).member("result").required());
    });
    return other.state === "up" ? other : seen;
  };
  return async (counted, signal) => {
    const [head, priceSeen, revenue, upgrade, slashing] = await Promise.all([
      readHead(counted, signal),
      chain.pairs.length === 0 ? NOT_CONFIGURED : scrape("the chain's prices", signal, prices),
      scrape("the revenue module", signal, (inner) => readRevenue(target, chain, rest, inner)),
      scrape("the upgrade module", signal, async (inner) =>
        toUpgradeReading(await rest.ofModule(PLAN, inner)),
      ),
      standing?.slashing(signal),
    ]);
    const block = readingOf(head)?.block;
    const { validator, peers } = (await standing?.inSet(block, signal)) ?? { validator: NOT_CONFIGURED };
    return {
      head: head.state === "up" ? { ...head, value: toChainHead(head.value) } : head,
      validator,
      prices: priceSeen,
      revenue,
      upgrade,
      ...(slashing === undefined ? {} : { slashing }),
      ...(peers === undefined ? {} : { peers }),
    };
  };
}

export const NO_CHAIN: ChainObservation = {
  head: NOT_CONFIGURED,
  validator: NOT_CONFIGURED,
  prices: NOT_CONFIGURED,
  revenue: NOT_CONFIGURED,
};

/** Reads the block at a height, or the latest block. */
type BlockAt = (height: bigint | undefined, signal: AbortSignal) => Promise<Block>;

interface Head {
  readonly block: Block;
  readonly monthEdge: MonthEdge | undefined;
}

function toChainHead({ block: { chainId, height, timeMs }, monthEdge }: Head) {
  return { chainId, height, blockTimeMs: timeMs, ...(monthEdge === undefined ? {} : { monthEdge }) };
}

/**
 * Finds the first block of the month that contains `latest` if the ledger is still in an earlier month. The binary search over heights
 * reads about 4 blocks if the last poll was one interval ago, and 15 if it was six hours ago.
 */
async function findMonthEdge(
  latest: Block,
  counted: CountedTo | undefined,
  blockAt: BlockAt,
  signal: AbortSignal,
): Promise<MonthEdge | undefined> {
  const month = monthOf(latest.timeMs);
  if (counted?.height === undefined || monthOf(counted.timeMs) >= month) return undefined;
  const startMs = monthStartMs(month);
  let [before, after] = [counted.height, latest.height];
  while (after - before > 1n) {
    const middle = (before + after) / 2n;
    const { timeMs } = await blockAt(middle, signal);
    if (timeMs < startMs) before = middle;
    else after = middle;
  }
  return { month, firstHeight: after };
}

async function readRevenue(
  { operatorAddress }: ValidatorTarget,
  { module }: ChainTarget,
  rest: Rest,
  signal: AbortSignal,
) {
  const reading = { params: toRevenueParams(await rest.ofModule(`/${module}/revenue/params`, signal)) };
  if (operatorAddress === undefined) return reading;
  const path = `/${module}/revenue/validator_stats?val_oper_address=${encodeURIComponent(operatorAddress)}`;
  // Return the parameters even if the statistics fail. The chain returns 400 for a validator without blocks in the period, and 500 while it
  // lacks the price needed to compute payments.
  const stats = await rest.find(path, signal).catch(onSourceError(() => undefined, "http-status"));
  return stats === undefined ? reading : { ...reading, stats: toRevenueStats(stats) };
}

/** The parts of a block that the watchdog uses. */
interface Block {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeMs: number;
  /** Base64 addresses of the validators that signed the previous block; absent if only the header was read. */
  readonly signers?: ReadonlySet<string>;
}

/** Reads `/cosmos/base/tendermint/v1beta1/blocks/…`. */
function toBlock(root: JsonField): Block {
  const signatures = root.member("block").member("last_commit").required().member("signatures").elements();
  return {
    ...toHeader(root),
    signers: new Set(
      signatures
        .filter((signature) => signature.member("block_id_flag").asText() === "BLOCK_ID_FLAG_COMMIT")
        .map((signature) => signature.member("validator_address").asText()),
    ),
  };
}

function toHeader(root: JsonField): Block {
  const header = root.member("block").required().member("header").required();
  return {
    chainId: requireChainId(header.member("chain_id").required().asText()),
    height: header.member("height").required().asHeight(),
    timeMs: Number(header.member("time").required().asTimeNs() / NS_PER_MS),
  };
}

/** Parses the response from `…/get_prices` for these pairs, in the given order. */
function toChainPrices(root: JsonField, pairs: readonly string[]) {
  const prices = root.member("prices").required().elements();
  return prices.slice(0, pairs.length).map((entry, index) => {
    const price = entry.member("price");
    const height = price.isPresent() ? price.member("block_height").asHeight() : 0n;
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

/** Returns the price's number of decimals (for example 18 for pairs with ETH), if the chain states it. */
function decimalsOf(field: JsonField): { readonly decimals?: number } {
  if (!field.isPresent()) return {};
  const decimals = field.asUint64();
  if (decimals > 36n) throw field.error(field.path, "at most 36");
  return { decimals: Number(decimals) };
}

/** Reads a non-negative integer of up to 78 digits, because prices can exceed 64 bits. */
function asInteger(field: JsonField): bigint {
  const text = field.asText();
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw field.error(field.path, "an integer");
}
