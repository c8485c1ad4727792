import { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { AUTHORITY_HELP, sendAuthorityMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { hookTypesArgument } from "./query.ts";

/** `relaywatch tx harpoon`. */
export function txHarpoonCommand(context: CliContext): Command {
  return new Command().addCommand(
    txMessageCommand("manage-hook-subscription", "replace the hook types for which a contract is called")
      .argument("<contract>", "address of the contract")
      .addArgument(hookTypesArgument())
      .addHelpText("after", `${AUTHORITY_HELP}\nWithout hook types, the contract is called no more.`)
      .action((contract: string, hooks: readonly number[] | undefined, options: TxOptions) =>
        sendAuthorityMessage(
          {
            type: "neutron.harpoon.MsgManageHookSubscription",
            fields: { hook_subscription: { contract_address: contract, hooks: [...(hooks ?? [])] } },
          },
          options,
          context,
        ),
      ),
  );
}
