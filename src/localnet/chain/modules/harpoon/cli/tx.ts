import { message, messageCommands } from "../../../../cli/module-tx.ts";
import { parseHookType } from "./query.ts";

/** `relaywatch tx harpoon`. */
export const txHarpoonCommand = messageCommands({
  service: "neutron.harpoon.Msg",
  fields: { hooks: ["[hook-type...] names or numbers of hook types", parseHookType] },
  messages: {
    "manage-hook-subscription": message(
      "ManageHookSubscription",
      "replace the hook types for which a contract is called",
      {
        takes: ["hook_subscription.contract_address", "hook_subscription.hooks"],
        note: "Without hook types, the contract is called no more.",
      },
    ),
  },
});
