import { Argument, Command, Option } from "commander";
import { z } from "zod";
import { errorText, EXIT } from "../../../../../platform/base/errors.ts";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import { readTextFile } from "../../../../../platform/base/read-text.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { coinArgument, operatorArgument, operatorOf, parseCoin, parseRate } from "./arguments.ts";

const PACKAGE = "cosmos.staking.v1beta1";
const COMPLETES = ["completes", "completion_time"] as const;

/** `relaywatch tx staking`. Names and arguments are those of a Cosmos SDK binary. */
export function txStakingCommand(context: CliContext): Command {
  return new Command()
    .addCommand(createValidatorCommand(context))
    .addCommand(editValidatorCommand(context))
    .addCommand(delegateCommand(context))
    .addCommand(unbondCommand(context))
    .addCommand(redelegateCommand(context))
    .addCommand(cancelUnbondCommand(context));
}

function createValidatorCommand(context: CliContext): Command {
  return txMessageCommand("create-validator", "register the signing account as a validator")
    .argument("<file>", "JSON file with key, amount, description and commission")
    .addHelpText("after", FILE_HELP)
    .action((file: string, options: TxOptions) => {
      const fields = readValidatorFile(file);
      return sendJsonMessage(
        {
          type: `${PACKAGE}.MsgCreateValidator`,
          fields: (sender) => ({ ...fields, validator_address: operatorOf(sender) }),
        },
        options,
        context,
      );
    });
}

const FILE_HELP = `
The file has the members of a Cosmos SDK binary:
{
  "pubkey": {"@type": "/cosmos.crypto.ed25519.PubKey", "key": "…"},
  "amount": "1000000untrn",
  "moniker": "name",
  "identity": "", "website": "", "security": "", "details": "",
  "commission-rate": "0.1", "commission-max-rate": "0.2", "commission-max-change-rate": "0.01",
  "min-self-delegation": "1"
}`;

interface EditOptions extends TxOptions {
  readonly newMoniker: string;
  readonly identity: string;
  readonly website: string;
  readonly securityContact: string;
  readonly details: string;
  readonly commissionRate?: string;
  readonly minSelfDelegation?: bigint;
}

/** A text that the chain replaces with the present one. */
const KEEP = "[do-not-modify]";

function editValidatorCommand(context: CliContext): Command {
  return txMessageCommand("edit-validator", "change the validator of the signing account")
    .addOption(textOption("--new-moniker <text>", "name"))
    .addOption(textOption("--identity <text>", "identity, for instance of keybase"))
    .addOption(textOption("--website <text>", "website"))
    .addOption(textOption("--security-contact <text>", "address for security reports"))
    .addOption(textOption("--details <text>", "other details"))
    .addOption(
      new Option("--commission-rate <decimal>", "new rate; at most one change in 24 hours").argParser(
        parseRate,
      ),
    )
    .addOption(
      new Option("--min-self-delegation <amount>", "new minimum; it can only rise").argParser(parseUint64),
    )
    .action((options: EditOptions) =>
      sendJsonMessage(
        { type: `${PACKAGE}.MsgEditValidator`, fields: (sender) => editFields(options, sender) },
        options,
        context,
      ),
    );
}

function textOption(flags: string, description: string): Option {
  return new Option(flags, description).default(KEEP, "unchanged");
}

function editFields(options: EditOptions, sender: string): JsonObject {
  const { identity, website, details, commissionRate, minSelfDelegation } = options;
  return {
    description: {
      moniker: options.newMoniker,
      identity,
      website,
      security_contact: options.securityContact,
      details,
    },
    validator_address: operatorOf(sender),
    ...(commissionRate === undefined ? {} : { commission_rate: commissionRate }),
    ...(minSelfDelegation === undefined ? {} : { min_self_delegation: minSelfDelegation.toString() }),
  };
}

function delegateCommand(context: CliContext): Command {
  return txMessageCommand("delegate", "delegate coins to a validator")
    .addArgument(operatorArgument())
    .addArgument(coinArgument())
    .action((validator: string, amount: JsonObject, options: TxOptions) =>
      sendJsonMessage(
        { type: `${PACKAGE}.MsgDelegate`, fields: (sender) => pair(sender, validator, amount) },
        options,
        context,
      ),
    );
}

function unbondCommand(context: CliContext): Command {
  return txMessageCommand("unbond", "take coins back from a validator; they arrive after the unbonding time")
    .alias("undelegate")
    .addArgument(operatorArgument())
    .addArgument(coinArgument())
    .action((validator: string, amount: JsonObject, options: TxOptions) =>
      sendJsonMessage(
        {
          type: `${PACKAGE}.MsgUndelegate`,
          fields: (sender) => pair(sender, validator, amount),
          printed: [["amount", "amount.amount"], COMPLETES],
        },
        options,
        context,
      ),
    );
}

function redelegateCommand(context: CliContext): Command {
  return txMessageCommand("redelegate", "move a delegation to another validator")
    .addArgument(operatorArgument("<source>", "operator address that the stake leaves"))
    .addArgument(operatorArgument("<destination>", "operator address that gets the stake"))
    .addArgument(coinArgument())
    .action((source: string, destination: string, amount: JsonObject, options: TxOptions) =>
      sendJsonMessage(
        {
          type: `${PACKAGE}.MsgBeginRedelegate`,
          fields: (sender) => ({
            delegator_address: sender,
            validator_src_address: source,
            validator_dst_address: destination,
            amount,
          }),
          printed: [COMPLETES],
        },
        options,
        context,
      ),
    );
}

function cancelUnbondCommand(context: CliContext): Command {
  return txMessageCommand("cancel-unbond", "delegate coins again that wait for the end of the unbonding time")
    .alias("cancel-unbonding")
    .addArgument(operatorArgument())
    .addArgument(coinArgument())
    .addArgument(
      new Argument("<creation-height>", "height of the undelegation; see unbonding-delegations").argParser(
        parseUint64,
      ),
    )
    .action((validator: string, amount: JsonObject, height: bigint, options: TxOptions) =>
      sendJsonMessage(
        {
          type: `${PACKAGE}.MsgCancelUnbondingDelegation`,
          fields: (sender) => ({
            ...pair(sender, validator, amount),
            creation_height: height.toString(),
          }),
        },
        options,
        context,
      ),
    );
}

function pair(delegator: string, validator: string, amount: JsonObject): JsonObject {
  return { delegator_address: delegator, validator_address: validator, amount };
}

/** Upper bound against a wrong file. */
const MAX_BYTES = 64 * 1024;

const optionalText = z.string().optional();

/** The file of `create-validator` of a Cosmos SDK binary. */
const validatorFile = z.strictObject({
  pubkey: z.strictObject({ "@type": z.string(), key: z.string() }),
  amount: z.string().transform(checkedBy(parseCoin)),
  moniker: z.string().min(1),
  identity: optionalText,
  website: optionalText,
  security: optionalText,
  details: optionalText,
  "commission-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-change-rate": z.string().transform(checkedBy(parseRate)),
  "min-self-delegation": z.string().regex(/^\d{1,77}$/, "a whole number in quotes was expected"),
});

/** Reads a validator file. Returns the fields of `MsgCreateValidator` without the address. Throws `CliError` with every wrong field. */
function readValidatorFile(file: string): JsonObject {
  const parsed = validatorFile.safeParse(readJson(file));
  if (!parsed.success) throw unusable(file, z.prettifyError(parsed.error));
  const { pubkey, amount, moniker, security = "", ...rest } = parsed.data;
  const { identity = "", website = "", details = "" } = rest;
  return {
    description: { moniker, identity, website, security_contact: security, details },
    commission: {
      rate: rest["commission-rate"],
      max_rate: rest["commission-max-rate"],
      max_change_rate: rest["commission-max-change-rate"],
    },
    min_self_delegation: rest["min-self-delegation"],
    pubkey,
    value: amount,
  };
}

function checkedBy<T>(parse: (text: string) => T): (text: string, context: z.RefinementCtx) => T {
  return (text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(errorText(error));
      return z.NEVER;
    }
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_BYTES));
  } catch (error) {
    throw unusable(file, errorText(error));
  }
}

function unusable(file: string, reason: string): CliError {
  return new CliError(EXIT.usage, `cannot use the validator file ${file}: ${reason}`);
}
