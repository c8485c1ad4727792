import { message, messageCommands } from "../../../../cli/module-tx.ts";

/** `relaywatch tx slashing`. */
export const txSlashingCommand = messageCommands({
  service: "cosmos.slashing.v1beta1.Msg",
  messages: { unjail: message("Unjail", "release the validator of the signing account") },
});
