import { query, queryCommands } from "../../../../cli/module-query.ts";

const MODULE_ACCOUNT = "NAME name, ADDRESS base_account.address, PERMISSIONS permissions";

/** `relaywatch query auth`. Names and arguments are those of a Cosmos SDK binary. */
export const queryAuthCommand = queryCommands({
  service: "cosmos.auth.v1beta1.Query",
  fields: { name: "<name> name of the module account" },
  queries: {
    params: query("Params", "print the module's parameters"),
    "account|account-info": query(
      "AccountInfo",
      "print number and sequence of an account",
      "ADDRESS address, NUMBER account_number, SEQUENCE sequence",
    ),
    "module-accounts": query("ModuleAccounts", "list the accounts of modules", MODULE_ACCOUNT),
    "module-account": query("ModuleAccountByName", "print the account of a module", MODULE_ACCOUNT),
  },
});
