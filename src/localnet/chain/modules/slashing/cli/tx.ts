import { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { operatorOf } from "../../staking/cli/arguments.ts";

/** `relaywatch tx slashing`. */
export function txSlashingCommand(context: CliContext): Command {
  return new Command().addCommand(
    txMessageCommand("unjail", "release the validator of the signing account").action((options: TxOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.slashing.v1beta1.MsgUnjail",
          fields: (sender) => ({ validator_addr: operatorOf(sender) }),
        },
        options,
        context,
      ),
    ),
  );
}
