import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { sendJsonMessage, txMessageCommand } from "../json-message.ts";
import type { TxOptions } from "../send-message.ts";
import { operatorOf } from "../stake-arguments.ts";

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
