import type { Command } from "commander";
import { unchecked } from "../../localnet/cli/command-inputs.ts";
import { query, queryCommands, type QueryGroup } from "../../localnet/cli/module-query.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { forOptionalModule } from "../../localnet/cli/chain-connection.ts";

/** `relaywatch query MODULE`, for the workbench's modules. */
const BENCH_QUERIES = {
  tokenfactory: {
    service: "osmosis.tokenfactory.v1beta1.Query",
    fields: {
      creator: "<creator> the denomination's creator",
      subdenom: "<subdenom> the denomination's last part",
    },
    queries: {
      params: query("Params", "print the fee and gas for a new denomination, and the allowed hooks"),
      "denom-authority-metadata": query("DenomAuthorityMetadata", "print a denomination's admin", {
        columns: "ADMIN Admin",
      }),
      "denoms-from-creator": query("DenomsFromCreator", "list the denominations created by an account", {
        columns: "DENOM",
      }),
      "before-send-hook": query(
        "BeforeSendHookAddress",
        "print the contract called before payments in a denomination",
        "CONTRACT",
      ),
      "full-denom": query("FullDenom", "print a denomination's full name", "DENOM"),
    },
  },
  feerefunder: {
    service: "neutron.feerefunder.Query",
    fields: {
      port_id: "<port-id> the packet's port, e.g. transfer",
      channel_id: "<channel-id> the packet's channel",
      sequence: ["<sequence> packet sequence", unchecked],
    },
    queries: {
      params: query("Params", "print the minimum fee for a contract's packet"),
      "fee-info": query("FeeInfo", "print the locked fee for a packet that has no reply yet", {
        takes: ["port_id", "channel_id", "sequence"],
        columns: "PAYER payer, ACKNOWLEDGEMENT fee.ack_fee, TIMEOUT fee.timeout_fee",
      }),
    },
  },
  feeburner: {
    service: "neutron.feeburner.Query",
    queries: {
      params: query("Params", "print the burned denomination and the treasury"),
      "total-burned-neutrons-amount": query("TotalBurnedNeutronsAmount", "print the burned fees", {
        columns: "AMOUNT coin.amount, DENOM coin.denom",
      }),
    },
  },
  interchaintxs: {
    service: "neutron.interchaintxs.v1.Query",
    fields: {
      owner_address: "<owner> contract address",
      connection_id: "<connection-id> the account's connection",
      interchain_account_id: "<interchain-account-id> the account's name",
    },
    queries: {
      params: query("Params", "print the message limit and the fee for an account"),
      "interchain-account": query(
        "InterchainAccountAddress",
        "print an interchain account's address on the other chain",
        { columns: "ADDRESS", takes: ["owner_address", "connection_id", "interchain_account_id"] },
      ),
    },
  },
  globalfee: params(
    "gaia.globalfee.v1beta1.Query",
    "print the prices and exceptions for a chain without a fee market",
  ),
  dynamicfees: params("neutron.dynamicfees.v1.Query", "print the prices of other denominations"),
  /** the side that executes transactions for other chains */
  "interchain-accounts": params(
    "ibc.applications.interchain_accounts.host.v1.Query",
    "print whether other chains may control accounts, and which messages they may send",
  ),
} as const satisfies Readonly<Record<string, QueryGroup>>;

/** Returns a function that creates `relaywatch query NAME`. If the chain lacks the module, the error explains how to add it. */
export function benchQueries(name: keyof typeof BENCH_QUERIES): (context: CliContext) => Command {
  return benchCommand(queryCommands(BENCH_QUERIES[name]));
}

function params(service: string, description: string): QueryGroup {
  return { service, queries: { params: query("Params", description) } };
}

const IF_ABSENT =
  "a local chain has this module if started with --contract or --profile deployed, or if its --chain-config lists it in local.modules";

/** Creates a workbench module's command. If the chain lacks the module, the error explains how to add it. */
export function benchCommand(create: (context: CliContext) => Command): (context: CliContext) => Command {
  return (context) => create(forOptionalModule(context, IF_ABSENT));
}
