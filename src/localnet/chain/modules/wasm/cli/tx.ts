import { gzipSync } from "node:zlib";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { Coin } from "../../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import * as wire from "../../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { utf8 } from "../../../../../platform/base/bytes.ts";
import { EXIT, errorMessage } from "../../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { cellText, fieldAt } from "../../../../../platform/cli/table.ts";
import { txMessageCommand } from "../../../../cli/module-tx.ts";
import { sendMessage, type TxOptions } from "../../../../cli/send-message.ts";
import { readContract } from "../../../../cli/wasm-inspect.ts";

interface AmountOptions extends TxOptions {
  readonly amount?: readonly Coin[];
}

interface InstantiateOptions extends AmountOptions {
  readonly label: string;
  /** False with `--no-admin`. */
  readonly admin?: string | false;
}

/** `relaywatch tx wasm`. Names and arguments are those of wasmd. */
export function txWasmCommand(context: CliContext): Command {
  return new Command()
    .addCommand(storeCommand(context))
    .addCommand(instantiateCommand(context))
    .addCommand(executeCommand(context))
    .addCommand(migrateCommand(context))
    .addCommand(setAdminCommand(context))
    .addCommand(clearAdminCommand(context));
}

/** A message of wasmd with the fields of its response that are printed. */
interface WasmMessage {
  readonly name: string;
  readonly encode: (sender: string) => { finish(): Uint8Array };
  readonly printed?: readonly (readonly [words: string, path: string])[];
}

function send(
  { name, encode, printed }: WasmMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  const format = (response: JsonValue): string =>
    (printed ?? []).map(([words, path]) => `${words}: ${cellText(fieldAt(response, path))}`).join("\n");
  return sendMessage(
    {
      typeUrl: `/cosmwasm.wasm.v1.${name}`,
      encode: (sender) => encode(sender).finish(),
      ...(printed === undefined ? {} : { response: { type: `cosmwasm.wasm.v1.${name}Response`, format } }),
    },
    options,
    context,
  );
}

function storeCommand(context: CliContext): Command {
  return txMessageCommand("store", "upload a contract's code; the code is checked before it is sent")
    .alias("upload")
    .argument("<file>", "WebAssembly, plain or compressed with gzip")
    .action((file: string, options: TxOptions) => {
      const wasmByteCode = new Uint8Array(gzipSync(readContract(file)));
      const message = (sender: string): ReturnType<WasmMessage["encode"]> =>
        wire.MsgStoreCode.encode({ sender, wasmByteCode, instantiatePermission: undefined });
      return send(
        { name: "MsgStoreCode", encode: message, printed: [["code", "code_id"]] },
        options,
        context,
      );
    });
}

function instantiateCommand(context: CliContext): Command {
  return withAmount(txMessageCommand("instantiate", "create a contract from a stored code"))
    .alias("init")
    .addArgument(codeArgument())
    .addArgument(messageArgument("message of the instantiation"))
    .requiredOption("--label <text>", "name of the contract")
    .option("--admin <address>", "account that may migrate the contract")
    .option("--no-admin", "nobody may migrate the contract")
    .action((codeId: bigint, msg: Uint8Array, options: InstantiateOptions) => {
      const admin = adminOf(options);
      const encode: WasmMessage["encode"] = (sender) =>
        wire.MsgInstantiateContract.encode({
          sender,
          admin,
          codeId,
          label: options.label,
          msg,
          funds: [...(options.amount ?? [])],
        });
      return send(
        { name: "MsgInstantiateContract", encode, printed: [["contract", "address"]] },
        options,
        context,
      );
    });
}

/** As with wasmd, one of `--admin` and `--no-admin` must be given: a contract without an admin can never be migrated. */
function adminOf({ admin }: Pick<InstantiateOptions, "admin">): string {
  if (admin === undefined)
    throw new CliError(
      EXIT.usage,
      "--admin ADDRESS, who may migrate the contract, or --no-admin was expected",
    );
  return admin === false ? "" : admin;
}

function executeCommand(context: CliContext): Command {
  return withAmount(txMessageCommand("execute", "call a contract"))
    .addArgument(contractArgument())
    .addArgument(messageArgument("message of the call"))
    .action((contract: string, msg: Uint8Array, options: AmountOptions) => {
      const encode: WasmMessage["encode"] = (sender) =>
        wire.MsgExecuteContract.encode({ sender, contract, msg, funds: [...(options.amount ?? [])] });
      return send({ name: "MsgExecuteContract", encode, printed: [["data", "data"]] }, options, context);
    });
}

function migrateCommand(context: CliContext): Command {
  return txMessageCommand("migrate", "replace the code of a contract")
    .addArgument(contractArgument())
    .addArgument(codeArgument())
    .addArgument(messageArgument("message of the migration"))
    .action((contract: string, codeId: bigint, msg: Uint8Array, options: TxOptions) =>
      send(
        {
          name: "MsgMigrateContract",
          encode: (sender) => wire.MsgMigrateContract.encode({ sender, contract, codeId, msg }),
        },
        options,
        context,
      ),
    );
}

function setAdminCommand(context: CliContext): Command {
  return txMessageCommand("set-contract-admin", "choose the account that may migrate a contract")
    .addArgument(contractArgument())
    .argument("<new-admin>", "address")
    .action((contract: string, newAdmin: string, options: TxOptions) =>
      send(
        {
          name: "MsgUpdateAdmin",
          encode: (sender) => wire.MsgUpdateAdmin.encode({ sender, contract, newAdmin }),
        },
        options,
        context,
      ),
    );
}

function clearAdminCommand(context: CliContext): Command {
  return txMessageCommand("clear-contract-admin", "let nobody migrate a contract any more")
    .addArgument(contractArgument())
    .action((contract: string, options: TxOptions) =>
      send(
        { name: "MsgClearAdmin", encode: (sender) => wire.MsgClearAdmin.encode({ sender, contract }) },
        options,
        context,
      ),
    );
}

function withAmount(command: Command): Command {
  return command.addOption(
    new Option("--amount <coins>", "coins to send along: 5untrn, or 1uibcatom,5untrn").argParser(parseCoins),
  );
}

function parseCoins(text: string): readonly Coin[] {
  return text.split(",").map((part) => {
    const [, amount, denom] = /^(\d{1,77})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(part) ?? [];
    if (amount === undefined || denom === undefined)
      throw new InvalidArgumentError("coins such as 5untrn or 1uibcatom,5untrn were expected");
    return { amount, denom };
  });
}

function codeArgument(): Argument {
  return new Argument("<code-id>", "number of the code").argParser(parseUint64);
}

function contractArgument(): Argument {
  return new Argument("<contract>", "address of the contract");
}

/** JSON, which is sent as it is written. */
function messageArgument(description: string): Argument {
  return new Argument("<json>", description).argParser((text) => {
    try {
      JSON.parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`JSON was expected: ${errorMessage(error)}.`);
    }
    return utf8(text);
  });
}
