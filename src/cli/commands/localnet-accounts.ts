import { Command } from "commander";
import { stringifyJson } from "../../base/json.ts";
import { localnetAccounts } from "../../node/localnet/accounts.ts";
import type { CliContext } from "../cli-context.ts";

/** `relaywatch localnet accounts`. */
export function accountsCommand(context: CliContext): Command {
  return new Command().option("--json", "print JSON").action((options: { readonly json?: true }) => {
    const accounts = localnetAccounts().map(({ name, address, mnemonic, chainId }) => ({
      name,
      address,
      mnemonic,
      chain_id: chainId,
    }));
    if (options.json) {
      context.print(stringifyJson(accounts, 2));
      return;
    }
    context.print("PUBLIC TEST KEYS: everybody who reads this can spend from these accounts");
    for (const { name, chain_id, address, mnemonic } of accounts)
      context.print(`${chain_id}  ${name}  ${address}\n    ${mnemonic}`);
  });
}
