import { Command } from "commander";
import { stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type LocalnetAccount, localnetAccounts } from "../network/chains.ts";

/** `relaywatch localnet accounts`. */
export function accountsCommand(context: CliContext): Command {
  return new Command().option("--json", "print JSON").action((options: { readonly json?: true }) => {
    const accounts = localnetAccounts();
    if (options.json) context.print(stringifyJson(accounts.map(toJson), 2));
    else printAccounts(accounts, context);
  });
}

function toJson({ name, address, mnemonic, hdPath, chainId, coins, gasPrice }: LocalnetAccount) {
  return {
    name,
    address,
    mnemonic,
    hd_path: hdPath,
    chain_id: chainId,
    coins: coins.map(({ denom, amount }) => ({ denom, amount })),
    gas_price: { denom: gasPrice.denom, amount: gasPrice.amount },
  };
}

function printAccounts(accounts: readonly LocalnetAccount[], context: CliContext): void {
  context.print("PUBLIC TEST KEYS: everybody who reads this can spend from these accounts");
  for (const { chainId, name, address, mnemonic, hdPath, coins, gasPrice } of accounts) {
    const amounts = coins.map(({ denom, amount }) => `${amount}${denom}`).join(", ");
    context.print(`${chainId}  ${name}  ${address}
    coins: ${amounts}  gas price: ${gasPrice.amount}${gasPrice.denom} or more  HD path: ${hdPath}
    ${mnemonic}`);
  }
}
