import { query, queryCommands } from "../../../../localnet/cli/module-query.ts";

/** Creates the group of a service that has the query `Params` only. */
function paramsCommand(service: string, description: string): ReturnType<typeof queryCommands> {
  return queryCommands({ service, queries: { params: query("Params", description) } });
}

/** `relaywatch query globalfee`. */
export const queryGlobalFeeCommand = paramsCommand(
  "gaia.globalfee.v1beta1.Query",
  "print the prices and exceptions for a chain without a fee market",
);

/** `relaywatch query dynamicfees`. */
export const queryDynamicFeesCommand = paramsCommand(
  "neutron.dynamicfees.v1.Query",
  "print the prices of other denominations",
);

/** `relaywatch query consensus`. */
export const queryConsensusCommand = paramsCommand(
  "cosmos.consensus.v1.Query",
  "print the limits of blocks and evidence",
);

/** `relaywatch query interchain-accounts`: the side that executes transactions of other chains. */
export const queryInterchainAccountsCommand = paramsCommand(
  "ibc.applications.interchain_accounts.host.v1.Query",
  "print whether other chains may control accounts, and which messages they may send",
);

/** `relaywatch query feeburner`. */
export const queryFeeBurnerCommand = queryCommands({
  service: "neutron.feeburner.Query",
  queries: {
    params: query("Params", "print the burned denomination and the treasury"),
    "total-burned-neutrons-amount": query("TotalBurnedNeutronsAmount", "print the fees that were burned", {
      columns: "AMOUNT coin.amount, DENOM coin.denom",
    }),
  },
});

/** `relaywatch query interchaintxs`. */
export const queryInterchainTxsCommand = queryCommands({
  service: "neutron.interchaintxs.v1.Query",
  fields: {
    owner_address: "<owner> address of the contract",
    connection_id: "<connection-id> connection of the account",
    interchain_account_id: "<interchain-account-id> name of the account",
  },
  queries: {
    params: query("Params", "print the limit of messages and the fee of an account"),
    "interchain-account": query(
      "InterchainAccountAddress",
      "print the address of an account on another chain",
      { columns: "ADDRESS", takes: ["owner_address", "connection_id", "interchain_account_id"] },
    ),
  },
});
