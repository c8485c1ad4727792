import type { Option } from "commander";
import { parseCoin, requiredOption } from "../../../../localnet/cli/command-inputs.ts";
import { message, messageCommands } from "../../../../localnet/cli/module-tx.ts";

/** `relaywatch tx feerefunder`. */
export const txFeeRefunderCommand = messageCommands({
  service: "neutron.feerefunder.Msg",
  messages: {
    "update-params": message("UpdateParams", "set the least fee of a contract's packet", {
      takes: [],
      options: {
        "params.min_fee.ack_fee": feeOption("--ack-fee <coin>", "for an acknowledgement"),
        "params.min_fee.timeout_fee": feeOption("--timeout-fee <coin>", "for a timeout"),
      },
    }),
  },
});

function feeOption(flags: string, description: string): () => Option {
  const words = `${description}, such as 1000untrn; can be given several times`;
  return requiredOption(flags, words, (text, previous) => [
    ...(Array.isArray(previous) ? previous : []),
    parseCoin(text),
  ]);
}
