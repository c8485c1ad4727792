import { Argument, Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { type Coin, parseCoins } from "../../staking/cli/arguments.ts";

/** `relaywatch tx bank`. */
export function txBankCommand(context: CliContext): Command {
  return new Command().addCommand(sendCommand(context));
}

function sendCommand(context: CliContext): Command {
  return txMessageCommand("send", "send coins")
    .argument("<to>", "bech32 address that receives the coins")
    .addArgument(new Argument("<coins>", "coins: 1000untrn, or 5uatom,1000untrn").argParser(parseCoins))
    .action((toAddress: string, amount: readonly Coin[], options: TxOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.bank.v1beta1.MsgSend",
          fields: (fromAddress) => ({
            from_address: fromAddress,
            to_address: toAddress,
            amount: [...amount],
          }),
        },
        options,
        context,
      ),
    );
}
