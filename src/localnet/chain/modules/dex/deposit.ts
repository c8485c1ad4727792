import type { MsgDepositResponse } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import {
  addPrec,
  mulPrec,
  PREC_ONE,
  type PrecDec,
  precFromInt,
  quoPrec,
  quoPrecInt,
} from "../../../../platform/base/decimal.ts";
import { checkInt } from "../../../../platform/base/integers.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError } from "../../runtime/errors.ts";
import * as errors from "./errors.ts";
import {
  ErrDoubleSidedSwapOnDeposit,
  ErrSwapOnDepositSlopTolerance,
  ErrTickOutsideRange,
  panicked,
} from "./errors.ts";
import { type DepositFacts, depositLp } from "./events.ts";
import { MODULE_NAME, poolDenom } from "./keys.ts";
import type { DepositEntry, DepositRequest, PositionOptions } from "./messages.ts";
import { moduleParams } from "./params.ts";
import { type Amounts, buyingSide, calcDeposit, getOrCreatePool, savePool, withReserves } from "./pool.ts";
import { calcPrice, MAX_TICK } from "./price.ts";
import { bestRecord, swap, type SwapResult } from "./swap.ts";
import type { DexKeepers, PoolKey, TickLiquidity, TradePairId } from "./types.ts";

/** A position, with its tokens in byte order. */
interface Position {
  readonly key: PoolKey;
  readonly amounts: Amounts;
  readonly options: PositionOptions;
}

/** A position, and whether its creator is whitelisted and so may use any fee. */
interface PermittedPosition extends Position {
  readonly anyFee: boolean;
}

/** Shares issued for a deposit, and the data for its event. */
interface Deposited {
  readonly facts: DepositFacts;
  readonly shares: Coin;
}

/** A position that could not be deposited, and the reason. */
interface Failed {
  readonly error: ModuleError;
}

type Outcome = Deposited | Failed;

/** MsgDeposit: processes positions one by one and discards a failed position's writes (dex.md, "Messages", rule 1). */
export function deposit(context: Context, request: DepositRequest, keepers: DexKeepers): MsgDepositResponse {
  const positions = request.entries.map((entry) => toPosition(request, entry));
  const anyFee = moduleParams.get(context).whitelistedLps.includes(request.creator);
  const outcomes = positions.map((position) => {
    const outcome = tryPosition(context, { ...position, anyFee }, keepers);
    if ("error" in outcome && failsMessage(context, position, outcome)) throw outcome.error;
    return outcome;
  });
  const deposited = outcomes.filter((outcome) => "facts" in outcome);
  for (const { facts } of deposited) context.emit(depositLp(request, facts));
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

/** Behind enemy lines, the position's option decides; any other failure fails the message only in the deployed module. */
function failsMessage({ profile }: Context, { options }: Position, { error }: Failed): boolean {
  const isBel = error.code === errors.ErrDepositBehindEnemyLines().code;
  return isBel ? options.failTxOnBel : profile.deployed("dexFailedPositions");
}

function depositedText(outcome: Outcome, token: 0 | 1): string {
  return "facts" in outcome ? outcome.facts.deposited[token].toString() : "0";
}

/** Returns the position with token0 first. If this swaps the tokens, the amounts are swapped too, and the tick is negated. */
function toPosition({ tokenA, tokenB }: DepositRequest, entry: DepositEntry): Position {
  const { amountA, amountB, tick, fee, options } = entry;
  const isSorted = tokenA < tokenB;
  const pairId = isSorted ? { token0: tokenA, token1: tokenB } : { token0: tokenB, token1: tokenA };
  return {
    key: { pairId, tick: isSorted ? tick : -tick, fee },
    amounts: isSorted ? [amountA, amountB] : [amountB, amountA],
    options,
  };
}

/** Runs a position on its own state layer, which is discarded if the position fails. */
function tryPosition(context: Context, position: PermittedPosition, keepers: DexKeepers): Outcome {
  try {
    return context.atomically((inner) => depositPosition(inner, position, keepers));
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || thrown.codespace !== MODULE_NAME) throw thrown;
    return { error: thrown };
  }
}

function depositPosition(context: Context, position: PermittedPosition, keepers: DexKeepers): Outcome {
  const { key, options } = position;
  const { chainName, bank } = keepers;
  if (!position.anyFee) requireFeeTier(context, key.fee);
  const { amountsIn, offered } = options.swapOnDeposit
    ? swapOnDeposit(context, chainName, {
        key,
        amounts: position.amounts,
        slopToleranceBps: options.slopToleranceBps,
      })
    : { amountsIn: position.amounts, offered: position.amounts };
  if (isBehindEnemyLines(context, key, offered)) {
    const error = errors.ErrDepositBehindEnemyLines(`deposit failed at tick ${key.tick} fee ${key.fee}`);
    // A swap that moved coins is undone. One that moved none has only emitted events, which stay, as on the deployed chain, where every
    // swap stays.
    if (offered !== position.amounts && !context.profile.deployed("dexCrossedSwap")) throw error;
    return { error };
  }
  const pool = getOrCreatePool(context, chainName, key);
  const denom = poolDenom(pool.id);
  const { lower, upper } = pool;
  const state = {
    reserves: [lower.reserves, upper.reserves],
    tick: key.tick,
    fee: key.fee,
    supply: bank.supply(context, denom),
  } as const;
  const { amounts, shares } = calcDeposit(state, offered, !options.disableAutoswap);
  savePool(context, chainName, {
    lower: withReserves(lower, checkInt(lower.reserves + amounts[0])),
    upper: withReserves(upper, checkInt(upper.reserves + amounts[1])),
  });
  if (amounts[0] === 0n && amounts[1] === 0n) throw errors.ErrZeroTrueDeposit();
  if (shares === 0n) throw errors.ErrDepositShareUnderflow();
  const paid = options.swapOnDeposit ? amountsIn : amounts;
  const { pairId, tick, fee } = key;
  const facts = { pairId, tick, fee, deposited: amounts, amountsIn: paid, shares };
  return { facts, shares: { denom, amount: shares } };
}

/** Throws dex/1148. */
function requireFeeTier(context: Context, fee: bigint): void {
  const { feeTiers } = moduleParams.get(context);
  if (feeTiers.includes(fee)) return;
  throw errors.ErrInvalidFee(`[${feeTiers.join(" ")}]`);
}

/** Returns whether one of the offered sides would sell below the opposite side's best price. */
function isBehindEnemyLines(
  context: Context,
  { pairId, tick, fee }: PoolKey,
  [amount0, amount1]: Amounts,
): boolean {
  return (
    (amount0 > 0n && isAbove(tick - fee, bestTick(context, buyingSide(pairId, 0)))) ||
    (amount1 > 0n && isAbove(-(tick + fee), bestTick(context, buyingSide(pairId, 1))))
  );
}

function isAbove(tick: bigint, best: bigint | undefined): boolean {
  return best !== undefined && tick > best;
}

function bestTick(context: Context, tradePairId: TradePairId): bigint | undefined {
  const best = bestRecord(context, tradePairId);
  return best === undefined ? undefined : tickOf(best);
}

function tickOf(record: TickLiquidity): bigint {
  return record.kind === "pool" ? record.reserves.key.tick : record.tranche.key.tick;
}

/** Transfers a message's coins: first the payment in each token, then the shares, even if no shares were issued. */
function transferCoins(
  context: Context,
  { request, deposited, shares }: Payments,
  { bank, bech32Prefix }: DexKeepers,
): void {
  const creator = parseAddress(bech32Prefix, request.creator);
  const { tokenA, tokenB } = request;
  const tokens = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  for (const [token, denom] of tokens.entries()) {
    const amount = deposited.reduce((sum, { facts }) => checkInt(sum + (facts.amountsIn[token] ?? 0n)), 0n);
    if (amount > 0n) bank.sendToDex(context, creator, [{ denom, amount }]);
  }
  bank.mint(context, shares);
  bank.sendFromDex(context, parseAddress(bech32Prefix, request.receiver), shares);
}

interface Payments {
  readonly request: DepositRequest;
  readonly deposited: readonly Deposited[];
  readonly shares: readonly Coin[];
}

/** Amounts that the creator pays, and amounts left to deposit after the swaps. */
interface SwappedOffer {
  readonly amountsIn: Amounts;
  readonly offered: Amounts;
}

/** A position that swaps before it deposits. */
interface SwappingPosition {
  readonly key: PoolKey;
  readonly amounts: Amounts;
  readonly slopToleranceBps: bigint;
}

/** Swaps each offered token against liquidity that is strictly better than the deposit's price. */
function swapOnDeposit(context: Context, chainName: string, position: SwappingPosition): SwappedOffer {
  const { amounts } = position;
  const first = swapToken(context, chainName, position, 0);
  const second = swapToken(context, chainName, position, 1);
  if (first !== undefined && second !== undefined) throw ErrDoubleSidedSwapOnDeposit();
  if (first !== undefined) return afterSwap(amounts, first, 0);
  return second === undefined ? { amountsIn: amounts, offered: amounts } : afterSwap(amounts, second, 1);
}

/** Swaps one token. Returns undefined if nothing was swapped. */
function swapToken(
  context: Context,
  chainName: string,
  { key, amounts, slopToleranceBps }: SwappingPosition,
  token: 0 | 1,
): SwapResult | undefined {
  if (amounts[token] === 0n) return undefined;
  const { pairId, tick, fee } = key;
  // One tick better than the side of the pool that the token joins: at that tick itself a swap is not better than the deposit.
  const limitPrice = calcPriceOrPanic((token === 0 ? tick - fee : -(tick + fee)) - 1n);
  const tradePairId = buyingSide(pairId, token);
  const result = swap(context, chainName, { tradePairId, amountIn: amounts[token], limitPrice });
  if (result.amountIn === 0n) return undefined;
  requireWithinSlop(result, limitPrice, slopToleranceBps);
  return result;
}

/** Throws dex/1168. */
function requireWithinSlop(
  { amountIn, amountOut }: SwapResult,
  limit: PrecDec,
  slopToleranceBps: bigint,
): void {
  // The swap's average price, not its last tick's price, must be within the tolerance.
  const tolerance = quoPrec(precFromInt(slopToleranceBps), precFromInt(10_000n));
  const highest = mulPrec(limit, addPrec(PREC_ONE, tolerance));
  if (quoPrecInt(precFromInt(amountIn), amountOut) >= highest) throw ErrSwapOnDepositSlopTolerance();
}

/** A filled swap can leave a remainder too small to buy anything; the creator is not charged for it. */
function afterSwap(
  amounts: Amounts,
  { amountIn, amountOut, filled }: SwapResult,
  token: 0 | 1,
): SwappedOffer {
  const paid = filled ? amountIn : amounts[token];
  const left = paid - amountIn;
  return token === 0
    ? { amountsIn: [paid, amounts[1]], offered: [left, amounts[1] + amountOut] }
    : { amountsIn: [amounts[0], paid], offered: [amounts[0] + amountOut, left] };
}

/** At the lowest ticks, the limit price is out of range, and the deployed module panics. */
function calcPriceOrPanic(tick: bigint): PrecDec {
  if (tick < -MAX_TICK) throw panicked(ErrTickOutsideRange().message);
  return calcPrice(tick);
}
