import { message, messageCommands } from "../../../../cli/module-tx.ts";

/** `relaywatch tx bank`. */
export const txBankCommand = messageCommands({
  service: "cosmos.bank.v1beta1.Msg",
  fields: {
    to_address: "<to> bech32 address that receives the coins",
    amount: "<coins> coins: 1000untrn, or 5uatom,1000untrn",
  },
  messages: { send: message("Send", "send coins") },
});
