import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { isRecord, type JsonObject } from "../../../../platform/base/json.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { CliContext } from "../../../../platform/cli/cli-context.ts";
import {
  AUTHORITY_HELP,
  sendAuthorityMessage,
  sendJsonMessage,
  txMessageCommand,
} from "../../../../localnet/cli/module-tx.ts";
import type { TxOptions } from "../../../../localnet/cli/tx-options.ts";
import { coinArgument } from "../../../../localnet/chain/modules/staking/cli/arguments.ts";

const PACKAGE = "osmosis.tokenfactory.v1beta1";

/** `relaywatch tx tokenfactory`. */
export function txTokenFactoryCommand(context: CliContext): Command {
  return new Command()
    .addCommand(createDenomCommand(context))
    .addCommand(mintCommand(context))
    .addCommand(burnCommand(context))
    .addCommand(forceTransferCommand(context))
    .addCommand(changeAdminCommand(context))
    .addCommand(setMetadataCommand(context))
    .addCommand(setHookCommand(context))
    .addCommand(updateParamsCommand(context));
}

/** Sends a message of the signing account. */
function send(name: string, fields: JsonObject, options: TxOptions, context: CliContext): Promise<void> {
  const message = { type: `${PACKAGE}.${name}`, fields: (sender: string) => ({ sender, ...fields }) };
  return sendJsonMessage(message, options, context);
}

function createDenomCommand(context: CliContext): Command {
  return txMessageCommand("create-denom", "create the denomination factory/<your address>/<subdenom>")
    .argument("<subdenom>", "up to 44 characters")
    .action((subdenom: string, options: TxOptions) =>
      sendJsonMessage(
        {
          type: `${PACKAGE}.MsgCreateDenom`,
          fields: (sender) => ({ sender, subdenom }),
          printed: [["denomination", "new_token_denom"]],
        },
        options,
        context,
      ),
    );
}

function mintCommand(context: CliContext): Command {
  return txMessageCommand("mint", "create coins; only the admin of the denomination can")
    .addArgument(coinArgument())
    .option("--to <address>", "who receives the coins; default: the signing account")
    .action((amount: JsonObject, options: TxOptions & { readonly to?: string }) =>
      send("MsgMint", { amount, mintToAddress: options.to ?? "" }, options, context),
    );
}

function burnCommand(context: CliContext): Command {
  return txMessageCommand("burn", "destroy coins; only the admin of the denomination can")
    .addArgument(coinArgument())
    .option("--from-address <address>", "whose coins; default: those of the signing account")
    .action((amount: JsonObject, options: TxOptions & { readonly fromAddress?: string }) =>
      send("MsgBurn", { amount, burnFromAddress: options.fromAddress ?? "" }, options, context),
    );
}

function forceTransferCommand(context: CliContext): Command {
  return txMessageCommand(
    "force-transfer",
    "move coins of any account; only the admin of the denomination can",
  )
    .addArgument(coinArgument())
    .argument("<from>", "address that loses the coins")
    .argument("<to>", "address that receives them")
    .action((amount: JsonObject, from: string, to: string, options: TxOptions) =>
      send(
        "MsgForceTransfer",
        { amount, transferFromAddress: from, transferToAddress: to },
        options,
        context,
      ),
    );
}

function changeAdminCommand(context: CliContext): Command {
  return txMessageCommand("change-admin", "give a denomination another admin")
    .argument("<denom>", "factory/<creator>/<subdenom>")
    .argument("<new-admin>", "address of the new admin")
    .action((denom: string, newAdmin: string, options: TxOptions) =>
      send("MsgChangeAdmin", { denom, new_admin: newAdmin }, options, context),
    );
}

function setMetadataCommand(context: CliContext): Command {
  return txMessageCommand("set-denom-metadata", "describe a denomination: name, symbol, units")
    .addArgument(
      new Argument(
        "<metadata>",
        'JSON: {"base":"factory/…","display":"…","name":"…","symbol":"…","denom_units":[{"denom":"factory/…","exponent":0}]}',
      ).argParser(parseObject),
    )
    .action((metadata: JsonObject, options: TxOptions) =>
      send("MsgSetDenomMetadata", { metadata }, options, context),
    );
}

function setHookCommand(context: CliContext): Command {
  return txMessageCommand("set-before-send-hook", "choose the contract that is called before payments")
    .argument("<denom>", "factory/<creator>/<subdenom>")
    .argument("[contract]", "address of the contract; none: no contract is called")
    .addHelpText("after", "\nThe params must allow the contract's code for the creator of the denomination.")
    .action((denom: string, contract: string | undefined, options: TxOptions) =>
      send("MsgSetBeforeSendHook", { denom, contract_addr: contract ?? "" }, options, context),
    );
}

interface ParamsOptions extends TxOptions {
  readonly fee: readonly JsonObject[];
  readonly feeCollector?: string;
  readonly creationGas: string;
  readonly hook: readonly JsonObject[];
}

function updateParamsCommand(context: CliContext): Command {
  return txMessageCommand("update-params", "replace all params: fee, gas, allowed hooks")
    .addOption(
      listOption("--fee <json>", 'a coin: {"denom":"untrn","amount":"1000"}; can be given several times'),
    )
    .option("--fee-collector <address>", "who receives the fee")
    .option("--creation-gas <n>", "gas of a new denomination", "0")
    .addOption(
      listOption(
        "--hook <json>",
        'a code that may be a hook: {"code_id":"1","denom_creator":"…"}; can be given several times',
      ),
    )
    .addHelpText("after", AUTHORITY_HELP)
    .action((options: ParamsOptions) =>
      sendAuthorityMessage(
        {
          type: `${PACKAGE}.MsgUpdateParams`,
          fields: {
            params: {
              denom_creation_fee: [...options.fee],
              denom_creation_gas_consume: options.creationGas,
              fee_collector_address: options.feeCollector ?? "",
              whitelisted_hooks: [...options.hook],
            },
          },
        },
        options,
        context,
      ),
    );
}

function listOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .default([], "none")
    .argParser((text: string, previous: readonly JsonObject[]) => [...previous, parseObject(text)]);
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(errorText(error));
  }
  if (!isJsonObject(value)) throw new InvalidArgumentError("a JSON object was expected");
  return value;
}

/** What `JSON.parse` returns for an object has values of JSON only. */
function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
