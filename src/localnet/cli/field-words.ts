import type { FieldTable } from "./command-inputs.ts";

/** Words for arguments that several modules have, by the field that they set. */
export const FIELD_WORDS: FieldTable = {
  address: "<address> bech32 address of the account",
  amount: "<amount> amount with its denomination: 1000000untrn",
  channel_id: "<channel> channel, e.g. channel-0",
  code_id: "<code-id> number of the code",
  connection_id: "<connection> connection, e.g. connection-0",
  contract: "<contract> address of the contract",
  contract_address: "<contract> address of the contract",
  delegator_addr: "<delegator> account address",
  denom: "<denom> denomination",
  port_id: "<port> port, e.g. transfer",
  validator_addr: "<validator> operator address",
  validator_address: "<validator> operator address",
};
