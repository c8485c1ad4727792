import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../platform/cli/cli-context.ts";
import { column } from "../../../../platform/cli/table.ts";
import { PARAMS_TABLE, serviceQueryCommands } from "../../../../localnet/cli/module-query.ts";

/** Creates the group of a service that has the query `Params` only. */
function paramsCommand(service: string, description: string) {
  return (context: CliContext): Command =>
    serviceQueryCommands(
      {
        service,
        arguments: {},
        tables: { Params: PARAMS_TABLE },
        queries: [{ name: "params", rpc: "Params", description }],
      },
      context,
    );
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
export function queryFeeBurnerCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.feeburner.Query",
      arguments: {},
      tables: {
        Params: PARAMS_TABLE,
        TotalBurnedNeutronsAmount: {
          path: "total_burned_neutrons_amount.coin",
          columns: [column("AMOUNT", "amount"), column("DENOM", "denom")],
        },
      },
      queries: [
        { name: "params", rpc: "Params", description: "print the burned denomination and the treasury" },
        {
          name: "total-burned-neutrons-amount",
          rpc: "TotalBurnedNeutronsAmount",
          description: "print the fees that were burned",
        },
      ],
    },
    context,
  );
}

/** `relaywatch query interchaintxs`. */
export function queryInterchainTxsCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.interchaintxs.v1.Query",
      arguments: {
        owner_address: () => new Argument("<owner>", "address of the contract"),
        interchain_account_id: () => new Argument("<interchain-account-id>", "name of the account"),
        connection_id: () => new Argument("<connection-id>", "connection of the account"),
      },
      tables: {
        Params: PARAMS_TABLE,
        InterchainAccountAddress: { path: "", columns: [column("ADDRESS", "interchain_account_address")] },
      },
      queries: [
        {
          name: "params",
          rpc: "Params",
          description: "print the limit of messages and the fee of an account",
        },
        {
          name: "interchain-account",
          rpc: "InterchainAccountAddress",
          description: "print the address of an account on another chain",
          arguments: ["owner_address", "connection_id", "interchain_account_id"],
        },
      ],
    },
    context,
  );
}
