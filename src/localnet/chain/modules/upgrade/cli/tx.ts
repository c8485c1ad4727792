import { Argument, Command, InvalidArgumentError } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { AUTHORITY_HELP, sendAuthorityMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";

interface PlanOptions extends TxOptions {
  readonly info: string;
}

/** `relaywatch tx upgrade`. Names are those of a Cosmos SDK binary. */
export function txUpgradeCommand(context: CliContext): Command {
  return new Command()
    .addCommand(
      txMessageCommand("software-upgrade", "plan an upgrade; replaces the plan before")
        .argument("<name>", "name of the upgrade")
        .addArgument(new Argument("<height>", "height of the upgrade").argParser(parseHeight))
        .option("--info <text>", "anything about the upgrade", "")
        .addHelpText("after", AUTHORITY_HELP)
        .action((name: string, height: string, { info, ...options }: PlanOptions) =>
          sendAuthorityMessage(
            { type: "cosmos.upgrade.v1beta1.MsgSoftwareUpgrade", fields: { plan: { name, height, info } } },
            options,
            context,
          ),
        ),
    )
    .addCommand(
      txMessageCommand("cancel-software-upgrade", "drop the planned upgrade")
        .addHelpText("after", AUTHORITY_HELP)
        .action((options: TxOptions) =>
          sendAuthorityMessage(
            { type: "cosmos.upgrade.v1beta1.MsgCancelUpgrade", fields: {} },
            options,
            context,
          ),
        ),
    );
}

function parseHeight(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new InvalidArgumentError("a height above zero was expected");
}
