import { Command, Option } from "commander";
import type { JsonObject } from "../../../../platform/base/json.ts";
import type { CliContext } from "../../../../platform/cli/cli-context.ts";
import {
  AUTHORITY_HELP,
  sendAuthorityMessage,
  txMessageCommand,
} from "../../../../localnet/cli/module-tx.ts";
import type { TxOptions } from "../../../../localnet/cli/tx-options.ts";
import { parseCoin } from "../../../../localnet/chain/modules/staking/cli/arguments.ts";

interface FeeOptions extends TxOptions {
  readonly ackFee: readonly JsonObject[];
  readonly timeoutFee: readonly JsonObject[];
}

/** `relaywatch tx feerefunder`. */
export function txFeeRefunderCommand(context: CliContext): Command {
  return new Command().addCommand(
    txMessageCommand("update-params", "set the least fee of a contract's packet")
      .addOption(feeOption("--ack-fee <coin>", "for an acknowledgement"))
      .addOption(feeOption("--timeout-fee <coin>", "for a timeout"))
      .addHelpText("after", AUTHORITY_HELP)
      .action(({ ackFee, timeoutFee, ...options }: FeeOptions) =>
        sendAuthorityMessage(
          {
            type: "neutron.feerefunder.MsgUpdateParams",
            fields: {
              params: { min_fee: { recv_fee: [], ack_fee: [...ackFee], timeout_fee: [...timeoutFee] } },
            },
          },
          options,
          context,
        ),
      ),
  );
}

function feeOption(flags: string, description: string): Option {
  return new Option(flags, `${description}, such as 1000untrn; can be given several times`)
    .makeOptionMandatory()
    .argParser((text: string, previous: readonly JsonObject[] | undefined) => [
      ...(previous ?? []),
      parseCoin(text),
    ]);
}
