import { EXIT } from "../../../../../platform/base/errors.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import type { Fields } from "../../../../cli/command-inputs.ts";
import { message, messageCommands } from "../../../../cli/module-tx.ts";

const CONTRACT = "params.contract_address";

/** `relaywatch tx ibc-rate-limit`. */
export const txIbcRateLimitCommand = messageCommands({
  service: "neutron.ibcratelimit.v1beta1.Msg",
  messages: {
    "update-params": message("UpdateParams", "choose the contract that decides which transfers pass", {
      takes: [CONTRACT],
      fields: { [CONTRACT]: "[contract] address of the contract" },
      options: { none: ["--none", "no contract: nothing limits transfers"] },
      complete: checkedContract,
    }),
  },
});

/** The chain accepts any address, and rejects every transfer when it is not a contract. So an empty one must be explicit. */
function checkedContract({ [CONTRACT]: contract, none }: Fields): Fields {
  if ((contract === undefined) !== (none === true))
    throw new CliError(EXIT.usage, "give the address of a contract, or --none");
  return { [CONTRACT]: contract ?? "" };
}
