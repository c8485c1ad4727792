import { OverflowError } from "../../../../platform/base/integers.ts";
import { errorsOf, ModuleError } from "../../runtime/errors.ts";

const dexError = errorsOf("dex");

/** Errors in the codespace "dex" (x/dex types/errors.go), under their Go names. */
export const ErrInvalidTradingPair = dexError(1102, "Invalid token pair:");
export const ErrInsufficientShares = dexError(1104, "Insufficient shares:");
export const ErrUnbalancedTxArray = dexError(1110, "Transaction input arrays are not of the same length.");
export const ErrValidLimitOrderTrancheNotFound = dexError(1111, "Limit order tranche not found:");
export const ErrCancelEmptyLimitOrder = dexError(
  1112,
  "Cannot cancel additional liquidity from limit order tranche:",
);
export const ErrTickOutsideRange = dexError(1117, "abs(tick) + fee must be < 559,680");
export const ErrInvalidPairIdStr = dexError(1119, "PairID does not conform to pattern TokenA<>TokenB");
export const ErrZeroDeposit = dexError(1120, "At least one deposit amount must be > 0.");
export const ErrZeroTrueDeposit = dexError(
  1121,
  "Cannot deposit single-sided liquidity in tick with opposite liquidity while autoswap is disabled",
);
export const ErrWithdrawEmptyLimitOrder = dexError(
  1124,
  "Cannot withdraw additional liqudity from this limit order at this time.",
);
export const ErrZeroSwap = dexError(1125, "MaxAmountIn in must be > 0 for swap.");
export const ErrZeroWithdraw = dexError(1129, "Withdraw amount must be > 0.");
export const ErrZeroLimitOrder = dexError(1130, "Limit order amount must be > 0.");
export const ErrDepositShareUnderflow = dexError(1133, "Deposit amount is too small to issue shares");
export const ErrFoKLimitOrderNotFilled = dexError(
  1134,
  "Fill Or Kill limit order couldn't be executed in its entirety.",
);
export const ErrGoodTilOrderWithoutExpiration = dexError(
  1136,
  "Limit orders of type GOOD_TIL_TIME must supply an ExpirationTime.",
);
export const ErrExpirationOnWrongOrderType = dexError(
  1137,
  "Only Limit orders of type GOOD_TIL_TIME can supply an ExpirationTime.",
);
export const ErrInvalidOrderType = dexError(
  1138,
  "Order type must be one of: GOOD_TIL_CANCELLED, FILL_OR_KILL, IMMEDIATE_OR_CANCEL, JUST_IN_TIME, or GOOD_TIL_TIME.",
);
export const ErrExpirationTimeInPast = dexError(
  1139,
  "Limit order expiration time must be greater than current block time:",
);
export const ErrMultihopExitTokensMismatch = dexError(
  1142,
  "All multihop routes must have the same exit token",
);
export const ErrMissingMultihopRoute = dexError(1143, "Must supply at least 1 route for multihop swap");
export const ErrZeroMaxAmountOut = dexError(1144, "MaxAmountOut must be nil or > 0.");
export const ErrInvalidMaxAmountOutForMaker = dexError(
  1145,
  "MaxAmountOut can only be set for taker only limit orders.",
);
export const ErrInvalidFee = dexError(1148, "Fee must must a legal fee amount:");
export const ErrInvalidAddress = dexError(1149, "Invalid Address");
export const ErrRouteWithoutExitToken = dexError(
  1150,
  "Each route should specify at least two hops - input and output tokens",
);
export const ErrCycleInHops = dexError(1151, "Hops cannot have cycles");
export const ErrZeroExitPrice = dexError(1152, "Cannot have negative or zero exit price");
export const ErrDuplicatePoolDeposit = dexError(
  1153,
  "Can only provide a single deposit amount for each tick, fee pair",
);
export const ErrLimitPriceNotSatisfied = dexError(1154, "Trade cannot be filled at the specified LimitPrice");
export const ErrDexPaused = dexError(1155, "Dex has been paused, all messages are disabled at this time");
export const ErrOverJitPerBlockLimit = dexError(
  1156,
  "Maximum JIT LimitOrders per block has already been reached",
);
export const ErrInvalidDenom = dexError(1157, "Invalid token denom");
export const ErrMultihopEntryTokensMismatch = dexError(
  1158,
  "MultihopSwap starting tokens for each route must be the same",
);
export const ErrTradeTooSmall = dexError(1159, "Specified trade will result in a rounded output of 0");
export const ErrPriceOutsideRange = dexError(
  1160,
  "Invalid price; 0.00000000000000000000000050 < PRICE > 2020125331305056766451886.728",
);
export const ErrInvalidPriceAndTick = dexError(
  1161,
  "Only LimitSellPrice or TickIndexInToOut should be specified",
);
export const ErrDepositBehindEnemyLines = dexError(
  1162,
  "Cannot deposit at a price below the opposing token's current price",
);
export const ErrNoLiquidity = dexError(1164, "No tradable liquidity below LimitSellPrice");
export const ErrZeroMinAverageSellPrice = dexError(1165, "MinAverageSellPrice must be nil or > 0");
export const ErrDoubleSidedSwapOnDeposit = dexError(
  1166,
  "Swap on deposit cannot be performed for Token0 and Token1",
);
export const ErrSwapOnDepositWithoutAutoswap = dexError(
  1167,
  "Cannot disable autoswap when using swap_on_deposit",
);
export const ErrSwapOnDepositSlopTolerance = dexError(
  1168,
  "Swap on deposit true price is less than minimum allowed price",
);
export const ErrInvalidSlopTolerance = dexError(1169, "Slop tolerance must be between 0 and 10000");
export const ErrInsufficientReserves = dexError(1170, "Insufficient reserves for limit order tranche:");
export const ErrTrancheKeyInUse = dexError(
  1171,
  "Tranche key already exists for different trade pair id or tick index",
);

/** Creates the error for a panic in a Go message handler. The SDK recovers from the panic, and the transaction fails with sdk/111222. */
export function panicked(text: string): ModuleError {
  return new ModuleError("sdk", 111_222, `recovered: ${text}: panic`, "panic");
}

/** Runs `work`, and converts an overflow or a division by zero to the error for a Go panic. */
export function orPanic<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof OverflowError) throw panicked(thrown.message);
    if (thrown instanceof RangeError && thrown.message === "Division by zero")
      throw panicked("division by zero");
    throw thrown;
  }
}
