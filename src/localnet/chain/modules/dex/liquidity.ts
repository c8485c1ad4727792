import * as types from "./types.ts";
import type * as wire from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import { checkInt } from "../../../../platform/base/integers.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError } from "../../runtime/errors.ts";
import * as errors from "./errors.ts";
import type { DepositEntry, DepositRequest, WithdrawalEntry, WithdrawalRequest } from "./messages.ts";
import { moduleParams } from "./params.ts";
import * as pools from "./pool.ts";
import { calcPrice, MAX_TICK } from "./price.ts";
import { bestRecord, swap, type SwapResult } from "./swap.ts";
import * as events from "./events.ts";

/** A position to deposit. The position's tokens and amounts are in byte order of the denominations. */
interface Position {
  readonly key: types.PoolKey;
  readonly amounts: pools.Amounts;
  readonly options: wire.DepositOptions;
  /** True if the creator is whitelisted and may therefore use any fee. */
  readonly anyFee: boolean;
}

interface Deposited {
  readonly facts: events.DepositFacts;
  readonly shares: Coin;
}

interface Failed {
  readonly error: ModuleError;
}

type Outcome = Deposited | Failed;

/** MsgDeposit: deposits the positions one by one, and discards a failed position's writes (dex.md, "Messages", rule 1). */
export function deposit(
  context: Context,
  request: DepositRequest,
  keepers: types.DexKeepers,
): wire.MsgDepositResponse {
  const anyFee = moduleParams.get(context).whitelistedLps.includes(request.creator);
  const outcomes = request.entries.map((entry) => {
    const position = toPosition(request, entry, anyFee);
    const outcome = tryPosition(context, position, keepers);
    if ("error" in outcome && failsMessage(context, position, outcome)) throw outcome.error;
    return outcome;
  });
  const deposited = outcomes.filter((outcome) => "facts" in outcome);
  for (const { facts } of deposited) context.emit(events.depositLp(request, facts));
  const shares = sumCoins(deposited.map((outcome) => outcome.shares));
  transferCoins(context, { request, deposited, shares }, keepers);
  return {
    reserve0Deposited: outcomes.map((outcome) => depositedText(outcome, 0)),
    reserve1Deposited: outcomes.map((outcome) => depositedText(outcome, 1)),
    failedDeposits: outcomes.flatMap((outcome, index) =>
      "error" in outcome ? [{ depositIdx: BigInt(index), error: outcome.error.message }] : [],
    ),
    sharesIssued: shares.map(toWireCoin),
  };
}

/**
 * Returns whether a failed position fails the message. If the position is behind enemy lines (see {@link isBehindEnemyLines}), the
 * option `failTxOnBel` decides. Any other failure fails the message only in the deployed module.
 */
function failsMessage({ profile }: Context, { options }: Position, { error }: Failed): boolean {
  const isBel = error.code === errors.ErrDepositBehindEnemyLines().code;
  return isBel ? options.failTxOnBel : profile.deployed("dexFailedPositions");
}

function depositedText(outcome: Outcome, token: 0 | 1): string {
  return "facts" in outcome ? outcome.facts.deposited[token].toString() : "0";
}

/** Converts a deposit to a position with token0 first. If the message lists token1 first, swaps the amounts and negates the tick. */
function toPosition({ tokenA, tokenB }: DepositRequest, entry: DepositEntry, anyFee: boolean): Position {
  const { amountA, amountB, tick, fee, options } = entry;
  const isSorted = tokenA < tokenB;
  const pairId = isSorted ? { token0: tokenA, token1: tokenB } : { token0: tokenB, token1: tokenA };
  return {
    key: { pairId, tick: isSorted ? tick : -tick, fee },
    amounts: isSorted ? [amountA, amountB] : [amountB, amountA],
    options,
    anyFee,
  };
}

/** Deposits a position in a separate state branch, which is discarded if the deposit fails. */
function tryPosition(context: Context, position: Position, keepers: types.DexKeepers): Outcome {
  try {
    return context.atomically((inner) => depositPosition(inner, position, keepers));
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || thrown.codespace !== types.MODULE_NAME) throw thrown;
    return { error: thrown };
  }
}

function depositPosition(context: Context, position: Position, keepers: types.DexKeepers): Outcome {
  const { key, options } = position;
  const { chainName, bank } = keepers;
  if (!position.anyFee) requireFeeTier(context, key.fee);
  const { amountsIn, offered } = options.swapOnDeposit
    ? swapOnDeposit(context, chainName, position)
    : { amountsIn: position.amounts, offered: position.amounts };
  if (isBehindEnemyLines(context, key, offered)) {
    const error = errors.ErrDepositBehindEnemyLines(`deposit failed at tick ${key.tick} fee ${key.fee}`);
    // If a swap changed the offered amounts, throw to undo the swap. The deployed chain does not undo such a swap. If nothing was
    // swapped, keep the events.
    if (offered !== position.amounts && !context.profile.deployed("dexCrossedSwap")) throw error;
    return { error };
  }
  const pool = pools.getOrCreatePool(context, chainName, key);
  const denom = types.poolDenom(pool.id);
  const { lower, upper } = pool;
  const state = {
    reserves: [lower.reserves, upper.reserves],
    tick: key.tick,
    fee: key.fee,
    supply: bank.supply(context, denom),
  } as const;
  const { amounts, shares } = pools.calcDeposit(state, offered, !options.disableAutoswap);
  pools.savePool(context, chainName, {
    lower: pools.withReserves(lower, checkInt(lower.reserves + amounts[0])),
    upper: pools.withReserves(upper, checkInt(upper.reserves + amounts[1])),
  });
  if (amounts[0] === 0n && amounts[1] === 0n) throw errors.ErrZeroTrueDeposit();
  if (shares === 0n) throw errors.ErrDepositShareUnderflow();
  const paid = options.swapOnDeposit ? amountsIn : amounts;
  const facts = { ...key, deposited: amounts, amountsIn: paid, shares };
  return { facts, shares: { denom, amount: shares } };
}

/** Throws dex/1148 if the fee is not one of the fee tiers. */
function requireFeeTier(context: Context, fee: bigint): void {
  const { feeTiers } = moduleParams.get(context);
  if (feeTiers.includes(fee)) return;
  throw errors.ErrInvalidFee(`[${feeTiers.join(" ")}]`);
}

/** Returns whether the deposit would sell a token below the best price on the opposite side. */
function isBehindEnemyLines(
  context: Context,
  { pairId, tick, fee }: types.PoolKey,
  [amount0, amount1]: pools.Amounts,
): boolean {
  return (
    (amount0 > 0n && isAbove(tick - fee, bestTick(context, pools.buyingSide(pairId, 0)))) ||
    (amount1 > 0n && isAbove(-(tick + fee), bestTick(context, pools.buyingSide(pairId, 1))))
  );
}

function isAbove(tick: bigint, best: bigint | undefined): boolean {
  return best !== undefined && tick > best;
}

function bestTick(context: Context, tradePairId: types.TradePairId): bigint | undefined {
  const best = bestRecord(context, tradePairId);
  return best === undefined ? undefined : tickOf(best);
}

function tickOf(record: types.TickLiquidity): bigint {
  return record.kind === "pool" ? record.reserves.key.tick : record.tranche.key.tick;
}

/** Charges the creator for each token, then mints the shares and sends them to the receiver. Calls the bank even if there are no shares. */
function transferCoins(
  context: Context,
  { request, deposited, shares }: Payments,
  { bank, bech32Prefix }: types.DexKeepers,
): void {
  const creator = parseAddress(bech32Prefix, request.creator);
  const { tokenA, tokenB } = request;
  const tokens = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  for (const [token, denom] of tokens.entries()) {
    const amount = deposited.reduce((sum, { facts }) => checkInt(sum + (facts.amountsIn[token] ?? 0n)), 0n);
    if (amount > 0n) bank.sendToModule(context, creator, types.MODULE_NAME, [{ denom, amount }]);
  }
  bank.mint(context, types.MODULE_NAME, shares);
  bank.sendFromModule(context, types.MODULE_NAME, parseAddress(bech32Prefix, request.receiver), shares);
}

interface Payments {
  readonly request: DepositRequest;
  readonly deposited: readonly Deposited[];
  readonly shares: readonly Coin[];
}

/** The amounts that the creator pays, and the amounts left to deposit after the swaps. */
interface SwappedOffer {
  readonly amountsIn: pools.Amounts;
  readonly offered: pools.Amounts;
}

/** Before a deposit, swaps the offered tokens against liquidity with a better price than the deposit's. */
function swapOnDeposit(context: Context, chainName: string, position: Position): SwappedOffer {
  const { amounts } = position;
  const first = swapToken(context, chainName, position, 0);
  const second = swapToken(context, chainName, position, 1);
  if (first !== undefined && second !== undefined) throw errors.ErrDoubleSidedSwapOnDeposit();
  if (first !== undefined) return afterSwap(amounts, first, 0);
  return second === undefined ? { amountsIn: amounts, offered: amounts } : afterSwap(amounts, second, 1);
}

/** Swaps one offered token, or returns undefined if nothing can be swapped. */
function swapToken(
  context: Context,
  chainName: string,
  { key, amounts, options }: Position,
  token: 0 | 1,
): SwapResult | undefined {
  if (amounts[token] === 0n) return undefined;
  const { pairId, tick, fee } = key;
  // Stop one tick before the pool side to which the token would be added, because a swap at the pool side's tick is no better than
  // the deposit.
  const limitPrice = calcPriceOrPanic((token === 0 ? tick - fee : -(tick + fee)) - 1n);
  const tradePairId = pools.buyingSide(pairId, token);
  const result = swap(context, chainName, { tradePairId, amountIn: amounts[token], limitPrice });
  if (result.amountIn === 0n) return undefined;
  requireWithinSlop(result, limitPrice, options.swapOnDepositSlopToleranceBps);
  return result;
}

/** Throws dex/1168 if the swap's average price exceeds the limit by the slop tolerance or more. */
function requireWithinSlop(
  { amountIn, amountOut }: SwapResult,
  limit: decimal.PrecDec,
  slopToleranceBps: bigint,
): void {
  // Compare the swap's average price, instead of the price at its last tick, with the highest accepted price.
  const tolerance = decimal.quoPrec(decimal.precFromInt(slopToleranceBps), decimal.precFromInt(10_000n));
  const highest = decimal.mulPrec(limit, decimal.addPrec(decimal.PREC_ONE, tolerance));
  if (decimal.quoPrecInt(decimal.precFromInt(amountIn), amountOut) >= highest)
    throw errors.ErrSwapOnDepositSlopTolerance();
}

/**
 * Returns the amounts to pay and to deposit after one token was swapped. If the remainder of this token is too small to buy
 * anything, the creator does not pay the remainder.
 */
function afterSwap(
  amounts: pools.Amounts,
  { amountIn, amountOut, filled }: SwapResult,
  token: 0 | 1,
): SwappedOffer {
  const paid = filled ? amountIn : amounts[token];
  const left = paid - amountIn;
  return token === 0
    ? { amountsIn: [paid, amounts[1]], offered: [left, amounts[1] + amountOut] }
    : { amountsIn: [amounts[0], paid], offered: [amounts[0] + amountOut, left] };
}

/** Like {@link calcPrice}, but throws the error for a Go panic if the tick is too low, because the deployed module panics. */
function calcPriceOrPanic(tick: bigint): decimal.PrecDec {
  if (tick < -MAX_TICK) throw errors.panicked(errors.ErrTickOutsideRange().message);
  return calcPrice(tick);
}

interface Withdrawn {
  readonly facts: events.WithdrawalFacts;
  readonly shares: Coin;
}

/** MsgWithdrawal: burns the creator's shares and pays the corresponding reserves to the receiver. */
export function withdraw(
  context: Context,
  request: WithdrawalRequest,
  keepers: types.DexKeepers,
): wire.MsgWithdrawalResponse {
  const { tokenA, tokenB } = request;
  const isSorted = tokenA < tokenB;
  const pairId = isSorted ? { token0: tokenA, token1: tokenB } : { token0: tokenB, token1: tokenA };
  /** Shares requested so far, by denomination. The shares are burned after the last position has been processed. */
  const requested = new Map<string, bigint>();
  const withdrawn = request.entries.map((entry) => {
    const position = isSorted ? entry : { ...entry, tick: -entry.tick };
    return withdrawPosition(context, { pairId, creator: request.creator, position, requested }, keepers);
  });
  for (const { facts } of withdrawn) context.emit(events.withdrawLp(request, facts));
  const shares = sumCoins(withdrawn.map((position) => position.shares));
  const totals: pools.Amounts = [totalOf(withdrawn, 0), totalOf(withdrawn, 1)];
  burnShares(context, request.creator, shares, keepers);
  payOut(context, { pairId, totals, receiver: request.receiver }, keepers);
  return {
    reserve0Withdrawn: totals[0].toString(),
    reserve1Withdrawn: totals[1].toString(),
    sharesBurned: shares.map(toWireCoin),
  };
}

interface PositionScope {
  readonly pairId: types.PairId;
  readonly creator: string;
  readonly position: WithdrawalEntry;
  readonly requested: Map<string, bigint>;
}

function withdrawPosition(
  context: Context,
  { pairId, creator, position, requested }: PositionScope,
  { chainName, bank, bech32Prefix }: types.DexKeepers,
): Withdrawn {
  const { tick, fee, shares } = position;
  const pool = pools.getOrCreatePool(context, chainName, { pairId, tick, fee });
  const denom = types.poolDenom(pool.id);
  const already = requested.get(denom) ?? 0n;
  const owned = bank.balance(context, parseAddress(bech32Prefix, creator), denom).amount - already;
  if (owned < shares)
    throw errors.ErrInsufficientShares(`${creator} does not have ${shares} shares of type ${denom}`);
  const { lower, upper } = pool;
  const supply = bank.supply(context, denom) - already;
  const out = pools.calcWithdrawal([lower.reserves, upper.reserves], shares, supply);
  requested.set(denom, already + shares);
  pools.savePool(context, chainName, {
    lower: pools.withReserves(lower, lower.reserves - out[0]),
    upper: pools.withReserves(upper, upper.reserves - out[1]),
  });
  return { facts: { pairId, tick, fee, withdrawn: out, shares }, shares: { denom, amount: shares } };
}

function totalOf(withdrawn: readonly Withdrawn[], token: 0 | 1): bigint {
  return withdrawn.reduce((sum, { facts }) => checkInt(sum + facts.withdrawn[token]), 0n);
}

function burnShares(
  context: Context,
  creator: string,
  shares: readonly Coin[],
  { bank, bech32Prefix }: types.DexKeepers,
): void {
  bank.sendToModule(context, parseAddress(bech32Prefix, creator), types.MODULE_NAME, shares);
  bank.burn(context, types.MODULE_NAME, shares);
}

interface Payout {
  readonly pairId: types.PairId;
  readonly totals: pools.Amounts;
  readonly receiver: string;
}

/** Sends the withdrawn coins to the receiver, first token0 and then token1. */
function payOut(
  context: Context,
  { pairId, totals, receiver }: Payout,
  { bank, bech32Prefix, chainName }: types.DexKeepers,
): void {
  const coins = [
    { denom: pairId.token0, amount: totals[0] },
    { denom: pairId.token1, amount: totals[1] },
  ];
  for (const coin of coins.filter(({ amount }) => amount > 0n)) {
    bank.sendFromModule(context, types.MODULE_NAME, parseAddress(bech32Prefix, receiver), [coin]);
    context.emit(events.totalWithdrawn(chainName, coin));
  }
}
