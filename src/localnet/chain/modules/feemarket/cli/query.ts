import { query, queryCommands } from "../../../../cli/module-query.ts";

const PRICE = {
  columns: "DENOM denom, PRICE amount",
  coin: { denom: "denom", amount: "amount" },
};

/** `relaywatch query feemarket`. */
export const queryFeeMarketCommand = queryCommands({
  service: "feemarket.feemarket.v1.Query",
  fields: { denom: "<denom> denomination of the fee" },
  queries: {
    params: query("Params", "print the market's parameters"),
    state: query("State", "print the base price of gas and how fast it moves", {
      columns: "BASE GAS PRICE base_gas_price, LEARNING RATE learning_rate",
    }),
    "gas-price": query("GasPrice", "print the price of a unit of gas in one denomination", PRICE),
    "gas-prices": query("GasPrices", "list the prices of a unit of gas", PRICE),
  },
});
