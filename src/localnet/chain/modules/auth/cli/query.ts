import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

/** `relaywatch query auth`. Names and arguments are those of a Cosmos SDK binary. */
export function queryAuthCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "cosmos.auth.v1beta1.Query", arguments: ARGUMENTS, tables: TABLES, queries: QUERIES },
    context,
  );
}

const ARGUMENTS = {
  address: () => new Argument("<address>", "bech32 address of the account"),
  name: () => new Argument("<name>", "name of the module account"),
};

const ACCOUNT = [
  column("ADDRESS", "address"),
  column("NUMBER", "account_number"),
  column("SEQUENCE", "sequence"),
];
const MODULE_ACCOUNT = [
  column("NAME", "name"),
  column("ADDRESS", "base_account.address"),
  column("PERMISSIONS", "permissions"),
];

const TABLES = {
  AccountInfo: { path: "info", columns: ACCOUNT },
  ModuleAccounts: { path: "accounts", columns: MODULE_ACCOUNT },
  ModuleAccountByName: { path: "account", columns: MODULE_ACCOUNT },
  Params: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "account",
    alias: "account-info",
    rpc: "AccountInfo",
    description: "print number and sequence of an account",
    arguments: ["address"],
  },
  { name: "module-accounts", rpc: "ModuleAccounts", description: "list the accounts of modules" },
  {
    name: "module-account",
    rpc: "ModuleAccountByName",
    description: "print the account of a module",
    arguments: ["name"],
  },
];
