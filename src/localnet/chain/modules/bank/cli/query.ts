import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

/** `relaywatch query bank`. Names and arguments are those of a Cosmos SDK binary. */
export function queryBankCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "cosmos.bank.v1beta1.Query", arguments: ARGUMENTS, tables: TABLES, queries: QUERIES },
    context,
  );
}

const ARGUMENTS = {
  address: () => new Argument("<address>", "bech32 address of the account"),
  denom: () => new Argument("<denom>", "denomination"),
};

const COIN = {
  columns: [column("DENOM", "denom"), column("AMOUNT", "amount")],
  coin: { denom: "denom", amount: "amount" },
};
const METADATA = [
  column("BASE", "base"),
  column("DISPLAY", "display"),
  column("SYMBOL", "symbol"),
  column("NAME", "name"),
];

const TABLES = {
  AllBalances: { path: "balances", ...COIN },
  Balance: { path: "balance", ...COIN },
  SpendableBalances: { path: "balances", ...COIN },
  TotalSupply: { path: "supply", ...COIN },
  SupplyOf: { path: "amount", ...COIN },
  Params: PARAMS_TABLE,
  DenomsMetadata: { path: "metadatas", columns: METADATA },
  DenomMetadataByQueryString: { path: "metadata", columns: METADATA },
  DenomOwnersByQuery: {
    path: "denom_owners",
    columns: [column("ADDRESS", "address"), column("AMOUNT", "balance.amount")],
    coin: { denom: "balance.denom", amount: "balance.amount" },
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "balances",
    rpc: "AllBalances",
    description: "list the coins of an account",
    arguments: ["address"],
    isList: true,
  },
  {
    name: "balance",
    rpc: "Balance",
    description: "print an account's coins of one denomination",
    arguments: ["address", "denom"],
  },
  {
    name: "spendable-balances",
    rpc: "SpendableBalances",
    description: "list the coins that an account can spend",
    arguments: ["address"],
    isList: true,
  },
  {
    name: "total-supply",
    alias: "total",
    rpc: "TotalSupply",
    description: "list the supply of all denominations",
    isList: true,
  },
  {
    name: "total-supply-of",
    rpc: "SupplyOf",
    description: "print the supply of one denomination",
    arguments: ["denom"],
  },
  {
    name: "denoms-metadata",
    rpc: "DenomsMetadata",
    description: "list what denominations are called",
    isList: true,
  },
  {
    name: "denom-metadata",
    rpc: "DenomMetadataByQueryString",
    description: "print what a denomination is called",
    arguments: ["denom"],
  },
  {
    name: "denom-owners",
    rpc: "DenomOwnersByQuery",
    description: "list who owns a denomination",
    arguments: ["denom"],
    isList: true,
  },
];
