import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

/** `relaywatch query feemarket`. */
export function queryFeeMarketCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "feemarket.feemarket.v1.Query", arguments: ARGUMENTS, tables: TABLES, queries: QUERIES },
    context,
  );
}

const ARGUMENTS = { denom: () => new Argument("<denom>", "denomination of the fee") };

const PRICE = {
  columns: [column("DENOM", "denom"), column("PRICE", "amount")],
  coin: { denom: "denom", amount: "amount" },
};

const TABLES = {
  Params: PARAMS_TABLE,
  State: {
    path: "state",
    columns: [column("BASE GAS PRICE", "base_gas_price"), column("LEARNING RATE", "learning_rate")],
  },
  GasPrice: { path: "price", ...PRICE },
  GasPrices: { path: "prices", ...PRICE },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the market's parameters" },
  { name: "state", rpc: "State", description: "print the base price of gas and how fast it moves" },
  {
    name: "gas-price",
    rpc: "GasPrice",
    description: "print the price of a unit of gas in one denomination",
    arguments: ["denom"],
  },
  { name: "gas-prices", rpc: "GasPrices", description: "list the prices of a unit of gas" },
];
