import type { JsonObject } from "../../../../src/platform/base/json.ts";

/** A message that is wrong in one way. */
export interface WrongUsage {
  /** Name of the message without `Msg`. */
  readonly message: string;
  readonly name: string;
  /** Fields that replace those of a valid message. */
  readonly change: JsonObject;
  /** Codespace and code, joined by a slash. */
  readonly code: string;
  /** For a validation: the text after the prefix. For an execution: a part of the text. */
  readonly text: string;
}

/** Values of the names with a dollar sign in the tables. */
export type Placeholders = Readonly<Record<string, string>>;

// One case per line: message | name | change | code | text.
const VALIDATION = `
Deposit | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
Deposit | creator of another chain | {"creator":"$COSMOS"} | dex/1149 | invalid creator address (invalid Bech32 prefix; expected neutron, got cosmos): Invalid Address
Deposit | receiver that is no address | {"receiver":"nobody"} | dex/1149 | invalid receiver address (decoding bech32 failed: invalid bech32 string length 6): Invalid Address
Withdrawal | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
Withdrawal | creator of another chain | {"creator":"$COSMOS"} | dex/1149 | invalid creator address (invalid Bech32 prefix; expected neutron, got cosmos): Invalid Address
Withdrawal | receiver that is no address | {"receiver":"nobody"} | dex/1149 | invalid receiver address (decoding bech32 failed: invalid bech32 string length 6): Invalid Address
PlaceLimitOrder | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
PlaceLimitOrder | creator of another chain | {"creator":"$COSMOS"} | dex/1149 | invalid creator address (invalid Bech32 prefix; expected neutron, got cosmos): Invalid Address
PlaceLimitOrder | receiver that is no address | {"receiver":"nobody"} | dex/1149 | invalid receiver address (decoding bech32 failed: invalid bech32 string length 6): Invalid Address
MultiHopSwap | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
MultiHopSwap | creator of another chain | {"creator":"$COSMOS"} | dex/1149 | invalid creator address (invalid Bech32 prefix; expected neutron, got cosmos): Invalid Address
MultiHopSwap | receiver that is no address | {"receiver":"nobody"} | dex/1149 | invalid receiver address (decoding bech32 failed: invalid bech32 string length 6): Invalid Address
WithdrawFilledLimitOrder | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
CancelLimitOrder | empty creator | {"creator":""} | dex/1149 | invalid creator address (empty address string is not allowed): Invalid Address
Deposit | empty token | {"token_a":""} | dex/1157 | TokenA denom (invalid denom: ): Invalid token denom
Deposit | malformed token | {"token_b":"a b"} | dex/1157 | TokenB denom (invalid denom: a b): Invalid token denom
Deposit | equal tokens | {"token_b":"TokenA"} | dex/1157 | tokenA cannot equal tokenB: Invalid token denom
Deposit | fewer ticks | {"tick_indexes_a_to_b":[]} | dex/1110 | Transaction input arrays are not of the same length.
Deposit | more fees | {"fees":[1,5,10]} | dex/1110 | Transaction input arrays are not of the same length.
Deposit | tick above the range | {"tick_indexes_a_to_b":["559680","10"]} | dex/1117 | abs(tick) + fee must be < 559,680
Deposit | huge tick | {"tick_indexes_a_to_b":["-9223372036854775808","10"]} | dex/1117 | abs(tick) + fee must be < 559,680
Deposit | huge fee | {"fees":["18446744073709551615","5"]} | dex/1148 | Fee must must a legal fee amount:
Withdrawal | empty token | {"token_a":""} | dex/1157 | TokenA denom (invalid denom: ): Invalid token denom
Withdrawal | malformed token | {"token_b":"a b"} | dex/1157 | TokenB denom (invalid denom: a b): Invalid token denom
Withdrawal | equal tokens | {"token_b":"TokenA"} | dex/1157 | tokenA cannot equal tokenB: Invalid token denom
Withdrawal | fewer ticks | {"tick_indexes_a_to_b":[]} | dex/1110 | Transaction input arrays are not of the same length.
Withdrawal | more fees | {"fees":[1,5,10]} | dex/1110 | Transaction input arrays are not of the same length.
Withdrawal | tick above the range | {"tick_indexes_a_to_b":["559680"]} | dex/1117 | abs(tick) + fee must be < 559,680
Withdrawal | huge tick | {"tick_indexes_a_to_b":["-9223372036854775808"]} | dex/1117 | abs(tick) + fee must be < 559,680
Withdrawal | huge fee | {"fees":["18446744073709551615"]} | dex/1148 | Fee must must a legal fee amount:
Deposit | fewer amounts | {"amounts_b":["1"]} | dex/1110 | Transaction input arrays are not of the same length.
Deposit | fewer options | {"options":[{}]} | dex/1110 | Transaction input arrays are not of the same length.
Deposit | no position | {"amounts_a":[],"amounts_b":[],"tick_indexes_a_to_b":[],"fees":[],"options":[]} | dex/1120 | At least one deposit amount must be > 0.
Deposit | negative amount | {"amounts_a":["-1","1"]} | dex/1120 | At least one deposit amount must be > 0.
Deposit | two amounts of zero | {"amounts_a":["0","1"],"amounts_b":["0","1"]} | dex/1120 | At least one deposit amount must be > 0.
Deposit | one pool twice | {"tick_indexes_a_to_b":[0,0],"fees":[1,1]} | dex/1153 | Can only provide a single deposit amount for each tick, fee pair
Deposit | swap on deposit without autoswap | {"options":[{"disable_autoswap":true,"swap_on_deposit":true},{}]} | dex/1167 | Cannot disable autoswap when using swap_on_deposit
Deposit | slop tolerance above 100 % | {"options":[{"swap_on_deposit":true,"swap_on_deposit_slop_tolerance_bps":10001},{}]} | dex/1169 | Slop tolerance must be between 0 and 10000
Withdrawal | no position | {"shares_to_remove":[],"tick_indexes_a_to_b":[],"fees":[]} | dex/1129 | Withdraw amount must be > 0.
Withdrawal | zero shares | {"shares_to_remove":["0"]} | dex/1129 | Withdraw amount must be > 0.
Withdrawal | negative shares | {"shares_to_remove":["-10"]} | dex/1129 | Withdraw amount must be > 0.
PlaceLimitOrder | malformed token in | {"token_in":"1a"} | dex/1157 | Error TokenIn denom (invalid denom: 1a): Invalid token denom
PlaceLimitOrder | empty token out | {"token_out":""} | dex/1157 | Error TokenOut denom (invalid denom: ): Invalid token denom
PlaceLimitOrder | equal tokens | {"token_out":"TokenA"} | dex/1157 | tokenIn cannot equal tokenOut: Invalid token denom
PlaceLimitOrder | zero amount | {"amount_in":"0"} | dex/1130 | Limit order amount must be > 0.
PlaceLimitOrder | negative amount | {"amount_in":"-5"} | dex/1130 | Limit order amount must be > 0.
PlaceLimitOrder | no amount | {"amount_in":null} | dex/1130 | Limit order amount must be > 0.
PlaceLimitOrder | timed order without a time | {"order_type":"GOOD_TIL_TIME"} | dex/1136 | Limit orders of type GOOD_TIL_TIME must supply an ExpirationTime.
PlaceLimitOrder | time of an order that is not timed | {"expiration_time":"2030-01-01T00:00:00Z"} | dex/1137 | Only Limit orders of type GOOD_TIL_TIME can supply an ExpirationTime.
PlaceLimitOrder | maximum of zero | {"order_type":"FILL_OR_KILL","tick_index_in_to_out":1000,"max_amount_out":"0"} | dex/1144 | MaxAmountOut must be nil or > 0.
PlaceLimitOrder | negative maximum | {"order_type":"FILL_OR_KILL","tick_index_in_to_out":1000,"max_amount_out":"-1"} | dex/1144 | MaxAmountOut must be nil or > 0.
PlaceLimitOrder | maximum of a maker order | {"max_amount_out":"1"} | dex/1145 | MaxAmountOut can only be set for taker only limit orders.
PlaceLimitOrder | tick above the range | {"tick_index_in_to_out":559681} | dex/1117 | abs(tick) + fee must be < 559,680
PlaceLimitOrder | tick below the range | {"tick_index_in_to_out":-559681} | dex/1117 | abs(tick) + fee must be < 559,680
PlaceLimitOrder | price of zero | {"limit_sell_price":"0","tick_index_in_to_out":0} | dex/1160 | Invalid price; 0.00000000000000000000000050 < PRICE > 2020125331305056766451886.728
PlaceLimitOrder | negative price | {"limit_sell_price":"-1","tick_index_in_to_out":0} | dex/1160 | Invalid price; 0.00000000000000000000000050 < PRICE > 2020125331305056766451886.728
PlaceLimitOrder | huge price | {"limit_sell_price":"$HUGE","tick_index_in_to_out":0} | dex/1160 | Invalid price; 0.00000000000000000000000050 < PRICE > 2020125331305056766451886.728
PlaceLimitOrder | price and tick | {"limit_sell_price":"1"} | dex/1161 | Only LimitSellPrice or TickIndexInToOut should be specified
PlaceLimitOrder | minimum average of zero | {"min_average_sell_price":"0"} | dex/1165 | MinAverageSellPrice must be nil or > 0
MultiHopSwap | no route | {"routes":[]} | dex/1143 | Must supply at least 1 route for multihop swap
MultiHopSwap | short denomination | {"routes":[{"hops":["a","TokenB"]}]} | dex/1150 | Each route should specify at least two hops - input and output tokens
MultiHopSwap | cycle | {"routes":[{"hops":["TokenA","TokenB","TokenA"]}]} | dex/1151 | Hops cannot have cycles
MultiHopSwap | malformed denomination | {"routes":[{"hops":["TokenA","to ken"]}]} | dex/1157 | invalid denom in route: (invalid denom: to ken): Invalid token denom
MultiHopSwap | different exits | {"routes":[{"hops":["TokenA","TokenB"]},{"hops":["TokenA","TokenC"]}]} | dex/1142 | All multihop routes must have the same exit token
MultiHopSwap | different exits in front of a cycle | {"routes":[{"hops":["TokenA","TokenB"]},{"hops":["TokenA","TokenC"]},{"hops":["TokenA","TokenB","TokenA"]}]} | dex/1142 | All multihop routes must have the same exit token
MultiHopSwap | cycle in front of different exits | {"routes":[{"hops":["TokenA","TokenB"]},{"hops":["TokenA","TokenB","TokenA"]},{"hops":["TokenA","TokenC"]}]} | dex/1151 | Hops cannot have cycles
MultiHopSwap | different entries | {"routes":[{"hops":["TokenA","TokenB"]},{"hops":["TokenC","TokenB"]}]} | dex/1158 | MultihopSwap starting tokens for each route must be the same
MultiHopSwap | zero amount | {"amount_in":"0"} | dex/1125 | MaxAmountIn in must be > 0 for swap.
MultiHopSwap | negative amount | {"amount_in":"-1"} | dex/1125 | MaxAmountIn in must be > 0 for swap.
MultiHopSwap | exit price of zero | {"exit_limit_price":"0"} | dex/1152 | Cannot have negative or zero exit price
MultiHopSwap | negative exit price | {"exit_limit_price":"-0.1"} | dex/1152 | Cannot have negative or zero exit price
UpdateParams | empty authority | {"authority":""} | undefined/1 | authority is invalid: empty address string is not allowed
UpdateParams | fee tier twice | {"params":{"fee_tiers":[1,1]}} | undefined/1 | invalid fee tiers: duplicate fee tier found
UpdateParams | whitelisted text | {"params":{"whitelisted_lps":["me"]}} | undefined/1 | invalid whitelisted LPs: invalid LP address (me): decoding bech32 failed: invalid bech32 string length 2, 
`;

const EXECUTION = `
Deposit | receiver that is a module | {"receiver":"$DEX_ADDRESS"} | sdk/4 | $DEX_ADDRESS is not allowed to receive funds: unauthorized
Deposit | more than the balance | {"creator":"$POOR"} | sdk/5 | spendable balance 0TokenA is smaller than 1000TokenA: insufficient funds
Deposit | behind enemy lines, which fails the transaction | {"tick_indexes_a_to_b":[5000,10],"options":[{"fail_tx_on_bel":true},{}]} | dex/1162 | deposit failed at tick 5000 fee 1: Cannot deposit at a price below the opposing token's current price
Deposit | largest amount | {"amounts_a":["$MAX_INT","500"]} | sdk/111222 | Int overflow
Deposit | amounts that add up to more than 256 bits | {"amounts_a":["$MAX_INT","$MAX_INT"],"amounts_b":["0","0"]} | sdk/111222 | Int overflow
PlaceLimitOrder | largest amount | {"amount_in":"$MAX_INT"} | sdk/111222 | Int overflow
PlaceLimitOrder | time of the block | {"order_type":"GOOD_TIL_TIME","expiration_time":"2026-09-21T14:13:20Z"} | dex/1139 | Current BlockTime: 2026-09-21 14:13:20 +0000 UTC; Provided ExpirationTime: 2026-09-21 14:13:20 +0000 UTC: Limit order expiration time must be greater than current block time:
MultiHopSwap | receiver that is a module | {"receiver":"$DEX_ADDRESS"} | undefined/1 | failed to send out coin and dust to the receiver: $DEX_ADDRESS is not allowed to receive funds: unauthorized
Withdrawal | receiver that is a module | {"receiver":"$DEX_ADDRESS"} | sdk/4 | $DEX_ADDRESS is not allowed to receive funds: unauthorized
PlaceLimitOrder | receiver that is a module | {"receiver":"$DEX_ADDRESS","order_type":"IMMEDIATE_OR_CANCEL","tick_index_in_to_out":1000} | sdk/4 | $DEX_ADDRESS is not allowed to receive funds: unauthorized
MultiHopSwap | largest amount | {"amount_in":"$MAX_INT"} | sdk/111222 | Int overflow
MultiHopSwap | huge exit price | {"exit_limit_price":"$HUGE"} | undefined/1 | All multihop routes failed limitPrice check or had insufficient liquidity
CancelLimitOrder | empty key | {"tranche_key":""} | dex/1111 | : Limit order tranche not found:
UpdateParams | authority of another chain | {"authority":"$COSMOS"} | undefined/1 | authority is invalid: invalid Bech32 prefix; expected neutron, got cosmos
Withdrawal | pool that was never created | {"tick_indexes_a_to_b":[77]} | dex/1104 | $OWNER does not have 10 shares of type neutron/pool/1: Insufficient shares:
Withdrawal | more shares than there are | {"shares_to_remove":["$MAX_INT"]} | dex/1104 | $OWNER does not have $MAX_INT shares of type neutron/pool/0: Insufficient shares:
PlaceLimitOrder | time that has passed | {"order_type":"GOOD_TIL_TIME","expiration_time":"2020-01-01T00:00:00Z"} | dex/1139 | Limit order expiration time must be greater than current block time:
PlaceLimitOrder | amount that buys nothing | {"tick_index_in_to_out":400000} | dex/1159 | Specified trade will result in a rounded output of 0
PlaceLimitOrder | more than can be filled | {"order_type":"FILL_OR_KILL","tick_index_in_to_out":1000,"amount_in":"100000000"} | dex/1134 | Fill Or Kill limit order couldn't be executed in its entirety.
PlaceLimitOrder | nothing at the limit | {"order_type":"IMMEDIATE_OR_CANCEL","tick_index_in_to_out":-1000} | dex/1164 | No tradable liquidity below LimitSellPrice
PlaceLimitOrder | average below the minimum | {"order_type":"FILL_OR_KILL","tick_index_in_to_out":1000,"min_average_sell_price":"100"} | dex/1154 | Trade cannot be filled at the specified LimitPrice
PlaceLimitOrder | more than the balance | {"creator":"$POOR"} | sdk/5 | spendable balance 0TokenA is smaller than 100TokenA: insufficient funds
WithdrawFilledLimitOrder | unknown tranche | {"tranche_key":"nonsense"} | dex/1111 | nonsense: Limit order tranche not found:
WithdrawFilledLimitOrder | empty key | {"tranche_key":""} | dex/1111 | : Limit order tranche not found:
WithdrawFilledLimitOrder | order of somebody else | {"creator":"$POOR"} | dex/1111 | t||0: Limit order tranche not found:
WithdrawFilledLimitOrder | nothing filled | {} | dex/1124 | Cannot withdraw additional liqudity from this limit order at this time.
CancelLimitOrder | unknown tranche | {"tranche_key":"tk-0"} | dex/1111 | tk-0: Limit order tranche not found:
CancelLimitOrder | order of somebody else | {"creator":"$POOR"} | dex/1111 | t||0: Limit order tranche not found:
MultiHopSwap | pair without liquidity | {"routes":[{"hops":["TokenA","TokenC"]}]} | undefined/1 | All multihop routes failed limitPrice check or had insufficient liquidity
MultiHopSwap | price that nobody pays | {"exit_limit_price":"2"} | undefined/1 | Trade cannot be filled at the specified LimitPrice
UpdateParams | authority of somebody else | {"authority":"$OWNER"} | undefined/1 | invalid authority; expected $AUTHORITY, got $OWNER
`;

/** Errors of the checks without the state. */
export function validationCases(values: Placeholders): readonly WrongUsage[] {
  return parseTable(VALIDATION, values);
}

/** Errors that depend on the state. */
export function executionCases(values: Placeholders): readonly WrongUsage[] {
  return parseTable(EXECUTION, values);
}

function parseTable(table: string, values: Placeholders): readonly WrongUsage[] {
  const filled = table.replaceAll(/\$([A-Z_]+)/g, (_, name: string) => values[name] ?? "");
  return filled
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [message = "", name = "", json = "", code = "", ...text] = line.split(" | ");
      const change: JsonObject = JSON.parse(json);
      return { message, name, change, code, text: text.join(" | ") };
    });
}
