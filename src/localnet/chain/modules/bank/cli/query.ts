import { query, queryCommands } from "../../../../cli/module-query.ts";

const COINS = {
  columns: "DENOM denom, AMOUNT amount",
  coin: { denom: "denom", amount: "amount" },
};
const METADATA = "BASE base, DISPLAY display, SYMBOL symbol, NAME name";

/** `relaywatch query bank`. Names and arguments are those of a Cosmos SDK binary. */
export const queryBankCommand = queryCommands({
  service: "cosmos.bank.v1beta1.Query",
  queries: {
    params: query("Params", "print the module's parameters"),
    balances: query("AllBalances", "list the coins of an account", COINS),
    balance: query("Balance", "print an account's coins of one denomination", COINS),
    "spendable-balances": query("SpendableBalances", "list the coins that an account can spend", COINS),
    "total-supply|total": query("TotalSupply", "list the supply of all denominations", COINS),
    "total-supply-of": query("SupplyOf", "print the supply of one denomination", COINS),
    "denoms-metadata": query("DenomsMetadata", "list what denominations are called", METADATA),
    "denom-metadata": query("DenomMetadataByQueryString", "print what a denomination is called", METADATA),
    "denom-owners": query("DenomOwnersByQuery", "list who owns a denomination", {
      columns: "ADDRESS address, AMOUNT balance.amount",
      coin: { denom: "balance.denom", amount: "balance.amount" },
    }),
  },
});
