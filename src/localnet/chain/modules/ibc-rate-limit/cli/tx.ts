import { Command, Option } from "commander";
import { EXIT } from "../../../../../platform/base/errors.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import { AUTHORITY_HELP, sendAuthorityMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";

interface UpdateOptions extends TxOptions {
  readonly none?: true;
}

/** `relaywatch tx ibc-rate-limit`. */
export function txIbcRateLimitCommand(context: CliContext): Command {
  return new Command().addCommand(
    txMessageCommand("update-params", "choose the contract that decides which transfers pass")
      .argument("[contract]", "address of the contract")
      .addOption(new Option("--none", "no contract: nothing limits transfers"))
      .addHelpText("after", AUTHORITY_HELP)
      .action((contract: string | undefined, options: UpdateOptions) =>
        sendAuthorityMessage(
          {
            type: TYPE_URL.updateRateLimitParams.slice(1),
            fields: { params: { contract_address: contractOf(contract, options) } },
          },
          options,
          context,
        ),
      ),
  );
}

/** The chain accepts any address, and rejects every transfer when it is not a contract. So an empty one must be explicit. */
function contractOf(contract: string | undefined, { none }: UpdateOptions): string {
  if ((contract === undefined) !== (none === true))
    throw new CliError(EXIT.usage, "give the address of a contract, or --none");
  return contract ?? "";
}
