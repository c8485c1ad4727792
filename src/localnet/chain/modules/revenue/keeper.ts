import { Params, type PerformanceRequirement } from "../../../../cosmos/proto/gen/neutron/revenue/params.ts";
import { type Dec18, DEC18_ONE, formatDec18, quoDec18 } from "../../../../platform/base/decimal.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { unregisteredError, ModuleError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { type ChainNames, type Context, event } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import type { StakingKeeper } from "../staking/keeper.ts";
import type { OracleModule, OracleVote } from "../oracle/module.ts";
import type { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { concat, prefixEnd, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { NS_PER_SECOND } from "../../../../platform/base/time.ts";
import { formatAddress } from "../../runtime/address.ts";
import { type Coin, formatCoin } from "../../runtime/coins.ts";
import { bytesCodec, createItem, createMap, messageCodec } from "../../store/collections.ts";
import * as period from "./schedule.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/revenue/genesis.ts";

export const MODULE_NAME = "revenue";

const MAX_TWAP_SECONDS = 2_592_000n;

function requirement(allowed: Dec18, required: Dec18): PerformanceRequirement {
  return { allowedToMiss: allowed.toString(), requiredAtLeast: required.toString() };
}

/** Rules for paying validators (default: the deployed chain's). Shares are stored as the decimal text of share × 10^18. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(1),
  type: Params,
  defaults: {
    rewardAsset: "untrn",
    rewardQuote: { amount: 2500n, asset: "USD" },
    blocksPerformanceRequirement: requirement(DEC18_ONE / 200n, (DEC18_ONE * 9n) / 10n),
    oracleVotesPerformanceRequirement: requirement(DEC18_ONE / 200n, (DEC18_ONE * 9n) / 10n),
    paymentScheduleType: {
      paymentScheduleType: { $case: "emptyPaymentScheduleType", value: {} },
    },
    twapWindow: 86_400n,
  },
  validate: validateParams,
});

function requirementOf(given: PerformanceRequirement | undefined): period.Requirement {
  return { allowed: decimalOf(given?.allowedToMiss), required: decimalOf(given?.requiredAtLeast) };
}

function decimalOf(digits: string | undefined): Dec18 {
  return parseInt256(digits === undefined || digits === "" ? "0" : digits);
}

export function scheduleTypeOf({ paymentScheduleType }: Params): period.ScheduleType {
  return paymentScheduleType?.paymentScheduleType ?? { $case: "emptyPaymentScheduleType", value: {} };
}

/** Throws an unregistered error with the deployed module's text if parameters are invalid. */
function validateParams(params: Params): void {
  const { twapWindow, paymentScheduleType } = params;
  if (twapWindow < 1n || twapWindow > MAX_TWAP_SECONDS)
    throw unregisteredError(`twap window must be between 1 and ${MAX_TWAP_SECONDS}`);
  const both = [
    ["blocks", requirementOf(params.blocksPerformanceRequirement)],
    ["oracle votes", requirementOf(params.oracleVotesPerformanceRequirement)],
  ] as const;
  for (const [name, { allowed, required }] of both) {
    requireShare(`${name} allowed to miss`, allowed);
    requireShare(`${name} required at least`, required);
  }
  for (const [name, { allowed, required }] of both)
    if (allowed + required > DEC18_ONE)
      throw unregisteredError(
        `sum of ${name} allowed to miss and required at least must not be greater than 1.0`,
      );
  if (paymentScheduleType?.paymentScheduleType === undefined)
    throw unregisteredError("payment schedule type is not set");
}

function requireShare(name: string, share: Dec18): void {
  if (share < 0n || share > DEC18_ONE) throw unregisteredError(`${name} must be between 0.0 and 1.0`);
}

export type RevenueOptions = Pick<ChainNames, "chainName" | "bech32Prefix" | "authority">;

export interface RevenueDeps {
  readonly bank: Pick<BankKeeper, "metadata" | "sendFromModule" | "sendToModule">;
  readonly staking: Pick<StakingKeeper, "byConsensus">;
  readonly priceOf: OracleModule["priceOf"];
}

export type Keepers = RevenueOptions & RevenueDeps;

/** The module account from which validators are paid. */
export const TREASURY = "revenue-treasury";

const PRICES = Uint8Array.of(4);

const scheduleItem = createItem(MODULE_NAME, Uint8Array.of(2), messageCodec(wire.PaymentSchedule));
/** Each validator's counts of blocks and votes in the current period, keyed by operator address. */
export const infos = createMap(MODULE_NAME, Uint8Array.of(3), bytesCodec, messageCodec(wire.ValidatorInfo));
const priceCodec = messageCodec(wire.RewardAssetPrice);

export function presentBlock({ height, timeNs }: Context): period.PeriodBlock {
  return { height, seconds: timeNs / NS_PER_SECOND };
}

export function scheduleOf(context: Context): period.Schedule {
  return scheduleItem.get(context)?.paymentSchedule ?? { $case: "emptyPaymentSchedule", value: {} };
}

export function setSchedule(context: Context, paymentSchedule: period.Schedule): void {
  scheduleItem.set(context, { paymentSchedule });
}

/** Counts a block's votes, and pays the validators if the block ends a period. */
export function countVotes(context: Context, votes: readonly OracleVote[], keepers: Keepers): void {
  const params = moduleParams.get(context);
  savePrice(context, params, keepers);
  for (const vote of votes) countVote(context, vote, keepers);
  const block = presentBlock(context);
  const schedule = scheduleOf(context);
  const type = scheduleTypeOf(params);
  if (period.isOfType(schedule, type) && !period.hasEnded(schedule, block)) return;
  payPeriod(context, params, schedule, keepers);
  for (const [operator] of infos.entries(context)) infos.delete(context, operator);
  setSchedule(context, period.startPeriod(type, block));
}

/**
 * Counts one vote. Skips validators that the staking module does not know, because they were created by the genesis document or the
 * control API.
 */
function countVote(context: Context, { consensus, isAbsent, deltas }: OracleVote, keepers: Keepers): void {
  const operator = keepers.staking.byConsensus(context, consensus)?.operator;
  if (operator === undefined) return;
  const info = infos.get(context, operator) ?? {
    valOperAddress: formatAddress(`${keepers.bech32Prefix}valoper`, operator),
    commitedBlocksInPeriod: 0n,
    commitedOracleVotesInPeriod: 0n,
    inActiveValsetForBlocksInPeriod: 0n,
  };
  infos.set(context, operator, {
    ...info,
    commitedBlocksInPeriod: info.commitedBlocksInPeriod + (isAbsent ? 0n : 1n),
    commitedOracleVotesInPeriod: info.commitedOracleVotesInPeriod + (deltas.size > 0 ? 1n : 0n),
    inActiveValsetForBlocksInPeriod: info.inActiveValsetForBlocksInPeriod + 1n,
  });
}

export function performanceOf(info: wire.ValidatorInfo): period.Performance {
  return {
    inActiveSet: info.inActiveValsetForBlocksInPeriod,
    blocks: info.commitedBlocksInPeriod,
    votes: info.commitedOracleVotesInPeriod,
  };
}

export function rate(params: Params, info: wire.ValidatorInfo): Dec18 {
  const ofBlocks = requirementOf(params.blocksPerformanceRequirement);
  const ofVotes = requirementOf(params.oracleVotesPerformanceRequirement);
  return period.ratingOf(performanceOf(info), ofBlocks, ofVotes);
}

/**
 * Pays each validator for the ended period, in operator order. If the treasury cannot make a payment, an event is emitted and the
 * payment is never retried. If no price has ever been stored, this chain pays nobody. The deployed chain halts in this case.
 */
function payPeriod(context: Context, params: Params, schedule: period.Schedule, keepers: Keepers): void {
  const block = presentBlock(context);
  const progress = period.progressOf(schedule, block);
  const base = orNothing(() => baseAmount(context, params, keepers));
  const revenue = (progress * base) / DEC18_ONE;
  const total = period.blocksOf(schedule, block);
  if (revenue === 0n) {
    context.emit(
      event("revenue_distribution_none", {
        revenue_amount: "0",
        effective_period_progress: formatDec18(progress),
      }),
    );
    return;
  }
  for (const [operator, info] of infos.entries(context)) {
    const rating = rate(params, info);
    const { inActiveSet, blocks, votes } = performanceOf(info);
    const amount = period.compensationOf(rating, revenue, { inActiveSet, blocks: total });
    const coin: Coin = { denom: params.rewardAsset, amount };
    const failure = pay(context, operator, coin, keepers);
    context.emit(
      failure === undefined
        ? event("revenue_distribution", {
            validator: info.valOperAddress,
            revenue_amount: formatCoin(coin),
            performance_rating: formatDec18(rating),
            in_active_valset_for_blocks_in_period: String(inActiveSet),
            committed_blocks_in_period: String(blocks),
            committed_oracle_votes_in_period: String(votes),
            total_block_in_period: String(total),
            effective_period_progress: formatDec18(progress),
          })
        : event("revenue_distribution_error", {
            validator: info.valOperAddress,
            payment_failure: failure,
            revenue_amount: formatCoin(coin),
          }),
    );
  }
}

/** Pays a coin from the treasury to an operator's account. Returns the reason if the bank refuses the payment, otherwise undefined. */
function pay(context: Context, operator: Uint8Array, coin: Coin, { bank }: Keepers): string | undefined {
  if (coin.amount === 0n) return undefined;
  try {
    bank.sendFromModule(context, TREASURY, operator, [coin]);
    return undefined;
  } catch (error) {
    if (error instanceof ModuleError) return error.message;
    throw error;
  }
}

function orNothing(read: () => bigint): bigint {
  try {
    return read();
  } catch (error) {
    if (error instanceof ModuleError) return 0n;
    throw error;
  }
}

/**
 * Returns the amount for a full period, in the reward asset. Throws an unregistered error if the price is missing, or if the
 * metadata is missing or incomplete.
 */
export function baseAmount(context: Context, params: Params, keepers: Keepers): bigint {
  const { rewardAsset, rewardQuote } = params;
  const price = twapOf(context);
  if (price === 0n) throw unregisteredError("invalid TWAP: price must be greater than zero");
  const { symbol, denomUnits } = requireMetadata(context, rewardAsset, keepers);
  const unit = denomUnits.find(({ aliases }) => aliases.includes(symbol));
  if (unit === undefined)
    throw unregisteredError(
      `couldn't find exponent for reward asset alias ${symbol} in reward denom metadata`,
    );
  const amount = quoDec18((rewardQuote?.amount ?? 0n) * DEC18_ONE, price);
  return (amount * 10n ** BigInt(unit.exponent)) / DEC18_ONE;
}

function requireMetadata(context: Context, denom: string, { bank }: Keepers): Metadata {
  const metadata = bank.metadata(context, denom);
  if (metadata === undefined) throw unregisteredError(`reward asset ${denom} metadata doesn't exist`);
  return metadata;
}

/** If the reward asset has a positive price, stores the price for this second and deletes all prices before the window. */
function savePrice(
  context: Context,
  { rewardAsset, rewardQuote, twapWindow }: Params,
  keepers: Keepers,
): void {
  const symbol = keepers.bank.metadata(context, rewardAsset)?.symbol;
  const stored =
    symbol === undefined ? undefined : keepers.priceOf(context, `${symbol}/${rewardQuote?.asset ?? ""}`);
  if (stored === undefined || stored.price <= 0n) return;
  const { seconds } = presentBlock(context);
  const before = priceAt(context, "last");
  const absolute = (stored.price * DEC18_ONE) / 10n ** BigInt(stored.decimals);
  const cumulative =
    before === undefined
      ? 0n
      : BigInt(before.cumulativePrice) + BigInt(before.absolutePrice) * (seconds - before.timestamp);
  const store = context.store(MODULE_NAME);
  const record: wire.RewardAssetPrice = {
    cumulativePrice: cumulative.toString(),
    absolutePrice: absolute.toString(),
    timestamp: seconds,
  };
  store.set(concat(PRICES, uint64BigEndian(seconds)), priceCodec.encode(record));
  const since = seconds - twapWindow;
  if (since <= 0n) return;
  for (const [key] of store.iterate(PRICES, concat(PRICES, uint64BigEndian(since)))) store.delete(key);
}

function priceAt(context: Context, end: "first" | "last"): wire.RewardAssetPrice | undefined {
  const store = context.store(MODULE_NAME);
  const range = [PRICES, prefixEnd(PRICES)] as const;
  for (const [, value] of end === "first" ? store.iterate(...range) : store.iterateReverse(...range))
    return priceCodec.decode(value);
  return undefined;
}

/** Returns the mean price of the reward asset over the window, or 0 if there is no price. */
export function twapOf(context: Context): Dec18 {
  const [first, last] = [priceAt(context, "first"), priceAt(context, "last")];
  if (first === undefined || last === undefined) return 0n;
  if (first.timestamp === last.timestamp) return BigInt(last.absolutePrice);
  return (BigInt(last.cumulativePrice) - BigInt(first.cumulativePrice)) / (last.timestamp - first.timestamp);
}
