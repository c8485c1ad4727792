import { type Command, Option } from "commander";
import { unchecked, parseCoin, parseObject, requiredOption } from "../../localnet/cli/command-inputs.ts";
import { query, queryCommands, type QueryGroup } from "../../localnet/cli/module-query.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { forOptionalModule } from "../../localnet/cli/chain-connection.ts";
import { message, messageCommands, type MessageGroup } from "../../localnet/cli/module-tx.ts";

/** Queries of the workbench modules, as `relaywatch query MODULE`. */
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
      "fee-info": query(
        "FeeInfo",
        "print the fee locked for a packet that is neither acknowledged nor timed out",
        {
          takes: ["port_id", "channel_id", "sequence"],
          columns: "PAYER payer, ACKNOWLEDGEMENT fee.ack_fee, TIMEOUT fee.timeout_fee",
        },
      ),
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
      params: query(
        "Params",
        "print the message limit per transaction, and the fee for registering an account",
      ),
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
  dynamicfees: params("neutron.dynamicfees.v1.Query", "print the prices of other fee denominations"),
  /** Params of the ICS-27 host module, which lets other chains control accounts on this chain. */
  "interchain-accounts": params(
    "ibc.applications.interchain_accounts.host.v1.Query",
    "print whether other chains may control accounts, and which messages they may send",
  ),
} as const satisfies Readonly<Record<string, QueryGroup>>;

/** Returns a function that creates `relaywatch query NAME`. On a chain without the module, the error explains how to add it. */
export function benchQueries(name: keyof typeof BENCH_QUERIES): (context: CliContext) => Command {
  return benchCommand(queryCommands(BENCH_QUERIES[name]));
}

function params(service: string, description: string): QueryGroup {
  return { service, queries: { params: query("Params", description) } };
}

const IF_ABSENT =
  "a local chain has this module if started with --contract or --profile deployed, or if its --chain-config lists it in local.modules";

/** Makes a workbench module's command explain, on a chain without the module, how to add the module. */
function benchCommand(create: (context: CliContext) => Command): (context: CliContext) => Command {
  return (context) => create(forOptionalModule(context, IF_ABSENT));
}

/** Messages of the workbench modules, as `relaywatch tx MODULE`. */
const BENCH_MESSAGES = {
  tokenfactory: {
    service: "osmosis.tokenfactory.v1beta1.Msg",
    fields: {
      subdenom: "<subdenom> up to 44 characters",
      denom: "<denom> factory/<creator>/<subdenom>",
      new_admin: "<new-admin> the new admin's address",
      transferFromAddress: "<from> address whose coins are moved",
      transferToAddress: "<to> address that receives the coins",
      contract_addr: "[contract] contract address; omit it to call no contract",
      metadata:
        '<metadata> JSON: {"base":"factory/…","display":"…","name":"…","symbol":"…","denom_units":[{"denom":"factory/…","exponent":0}]}',
    },
    messages: {
      "create-denom": message("CreateDenom", "create the denomination factory/<your address>/<subdenom>", {
        prints: { denomination: "new_token_denom" },
      }),
      mint: message("Mint", "mint coins, as the denomination's admin", {
        options: {
          mintToAddress: ["--to <address>", "recipient of the coins; default: the signing account"],
        },
      }),
      burn: message("Burn", "burn coins, as the denomination's admin", {
        options: {
          burnFromAddress: [
            "--from-address <address>",
            "account whose coins are burned; default: the signing account",
          ],
        },
      }),
      "force-transfer": message("ForceTransfer", "move coins from any account, as the denomination's admin"),
      "change-admin": message("ChangeAdmin", "change a denomination's admin"),
      "set-denom-metadata": message("SetDenomMetadata", "set a denomination's metadata: name, symbol, units"),
      "set-before-send-hook": message(
        "SetBeforeSendHook",
        "set the contract that is called before payments in a denomination",
        { note: "\nThe params must allow the contract's code for the denomination's creator." },
      ),
      "update-params": message("UpdateParams", "replace all params: fee, gas, allowed hooks", {
        takes: [],
        options: {
          "params.denom_creation_fee": listOption(
            "--fee <json>",
            'coin of the creation fee, e.g. {"denom":"untrn","amount":"1000"}; repeatable',
          ),
          "params.fee_collector_address": ["--fee-collector <address>", "recipient of the fee"],
          "params.denom_creation_gas_consume": () =>
            new Option("--creation-gas <n>", "the gas for creating a denomination").default("0"),
          "params.whitelisted_hooks": listOption(
            "--hook <json>",
            'code that may be a before-send hook, as {"code_id":"1","denom_creator":"…"}; repeatable',
          ),
        },
      }),
    },
  },
  feerefunder: {
    service: "neutron.feerefunder.Msg",
    messages: {
      "update-params": message("UpdateParams", "set the minimum fee for a contract's packet", {
        takes: [],
        options: {
          "params.min_fee.ack_fee": feeOption("--ack-fee <coin>", "the minimum fee for an acknowledgement"),
          "params.min_fee.timeout_fee": feeOption("--timeout-fee <coin>", "the minimum fee for a timeout"),
        },
      }),
    },
  },
} as const satisfies Readonly<Record<string, MessageGroup>>;

/** Returns a function that creates `relaywatch tx NAME`. On a chain without the module, the error explains how to add it. */
export function benchMessages(name: keyof typeof BENCH_MESSAGES): (context: CliContext) => Command {
  return benchCommand(messageCommands(BENCH_MESSAGES[name]));
}

function listOption(flags: string, description: string): () => Option {
  return () =>
    new Option(flags, description)
      .default([], "none")
      .argParser((text: string, previous: readonly unknown[]) => [...previous, parseObject(text)]);
}

function feeOption(flags: string, description: string): () => Option {
  const words = `${description}, e.g. 1000untrn; repeatable`;
  return requiredOption(flags, words, (text, previous) => [
    ...(Array.isArray(previous) ? previous : []),
    parseCoin(text),
  ]);
}
