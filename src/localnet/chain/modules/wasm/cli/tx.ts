import { gzipSync } from "node:zlib";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { type Coin, parseCoins } from "../../staking/cli/arguments.ts";
import * as wire from "../../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { type AccessConfig, AccessType } from "../../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { fromBase64, fromHex, utf8 } from "../../../../../platform/base/bytes.ts";
import { EXIT, errorMessage } from "../../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { cellText, fieldAt } from "../../../../../platform/cli/table.ts";
import { AUTHORITY_HELP, sendAuthorityMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import { sendMessage } from "../../../../cli/send-message.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { addProfileOptions } from "../../../../cli/gas-reports.ts";
import { readContract } from "../../../../cli/contract-code.ts";

interface AmountOptions extends TxOptions {
  readonly amount?: readonly Coin[];
}

interface StoreOptions extends TxOptions {
  readonly instantiateEverybody?: true;
  readonly instantiateNobody?: true;
  readonly instantiateAnyofAddresses?: readonly string[];
}

interface Instantiate2Options extends InstantiateOptions {
  readonly ascii?: true;
  readonly b64?: true;
  readonly fixMsg?: true;
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
    .addCommand(instantiate2Command(context))
    .addCommand(executeCommand(context))
    .addCommand(migrateCommand(context))
    .addCommand(setAdminCommand(context))
    .addCommand(clearAdminCommand(context))
    .addCommand(setLabelCommand(context))
    .addCommand(updateInstantiateConfigCommand(context))
    .addCommand(pinCommand("pin", "MsgPinCodes", context))
    .addCommand(pinCommand("unpin", "MsgUnpinCodes", context));
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
      callsContract: true,
      ...(printed === undefined ? {} : { response: { type: `cosmwasm.wasm.v1.${name}Response`, format } }),
    },
    options,
    context,
  );
}

function storeCommand(context: CliContext): Command {
  const command = txMessageCommand(
    "store",
    "upload a contract's code; the code is checked before it is sent",
  );
  return withPermission(command)
    .alias("upload")
    .argument("<file>", "WebAssembly, plain or compressed with gzip")
    .action((file: string, options: StoreOptions) => {
      const wasmByteCode = new Uint8Array(gzipSync(readContract(file)));
      const instantiatePermission = permissionOf(options);
      const message = (sender: string): ReturnType<WasmMessage["encode"]> =>
        wire.MsgStoreCode.encode({ sender, wasmByteCode, instantiatePermission });
      return send(
        { name: "MsgStoreCode", encode: message, printed: [["code", "code_id"]] },
        options,
        context,
      );
    });
}

/** Who may create contracts of a code. */
function withPermission(command: Command): Command {
  return command
    .addOption(
      new Option("--instantiate-everybody", "everybody may create contracts of it").conflicts([
        "instantiateNobody",
        "instantiateAnyofAddresses",
      ]),
    )
    .addOption(
      new Option("--instantiate-nobody", "only the chain's authority may").conflicts(
        "instantiateAnyofAddresses",
      ),
    )
    .addOption(
      new Option(
        "--instantiate-anyof-addresses <addresses>",
        "only these accounts may; separated by commas",
      ).argParser((text): readonly string[] => text.split(",")),
    );
}

/** Undefined: the chain's default. */
function permissionOf(options: StoreOptions): AccessConfig | undefined {
  const { instantiateAnyofAddresses: addresses } = options;
  if (addresses !== undefined)
    return { permission: AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES, addresses: [...addresses] };
  if (options.instantiateEverybody) return { permission: AccessType.ACCESS_TYPE_EVERYBODY, addresses: [] };
  return options.instantiateNobody ? { permission: AccessType.ACCESS_TYPE_NOBODY, addresses: [] } : undefined;
}

function createCommand(name: string, description: string, context: CliContext): Command {
  return addProfileOptions(withAmount(txMessageCommand(name, description)), context)
    .addArgument(codeArgument())
    .addArgument(messageArgument("message of the instantiation"))
    .requiredOption("--label <text>", "name of the contract")
    .option("--admin <address>", "account that may migrate the contract")
    .option("--no-admin", "nobody may migrate the contract");
}

function instantiateCommand(context: CliContext): Command {
  return createCommand("instantiate", "create a contract from a stored code", context)
    .alias("init")
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

function instantiate2Command(context: CliContext): Command {
  return createCommand(
    "instantiate2",
    "create a contract whose address is known before; see query build-address",
    context,
  )
    .argument("<salt>", "1 to 64 bytes in hex, or as --ascii or --b64 says")
    .option("--ascii", "the salt is text")
    .option("--b64", "the salt is base64")
    .option("--fix-msg", "the message is part of the address")
    .action((codeId: bigint, msg: Uint8Array, text: string, options: Instantiate2Options) => {
      const admin = adminOf(options);
      const salt = saltOf(text, options);
      const encode: WasmMessage["encode"] = (sender) =>
        wire.MsgInstantiateContract2.encode({
          sender,
          admin,
          codeId,
          label: options.label,
          msg,
          funds: [...(options.amount ?? [])],
          salt,
          fixMsg: options.fixMsg ?? false,
        });
      return send(
        { name: "MsgInstantiateContract2", encode, printed: [["contract", "address"]] },
        options,
        context,
      );
    });
}

function saltOf(text: string, options: Pick<Instantiate2Options, "ascii" | "b64">): Uint8Array {
  const [salt, format] = decodeSalt(text, options);
  if (salt !== undefined && salt.length > 0 && salt.length <= 64) return salt;
  throw new CliError(EXIT.usage, `salt ${text}: 1 to 64 bytes of ${format} were expected`);
}

function decodeSalt(
  text: string,
  { ascii, b64 }: Pick<Instantiate2Options, "ascii" | "b64">,
): readonly [Uint8Array | undefined, string] {
  if (ascii) return [utf8(text), "text"];
  try {
    return b64 ? [fromBase64(text), "base64"] : [fromHex(text), "hex (see --ascii and --b64)"];
  } catch {
    return [undefined, b64 ? "base64" : "hex (see --ascii and --b64)"];
  }
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
  return addProfileOptions(withAmount(txMessageCommand("execute", "call a contract")), context)
    .addArgument(contractArgument())
    .addArgument(messageArgument("message of the call"))
    .action((contract: string, msg: Uint8Array, options: AmountOptions) => {
      const encode: WasmMessage["encode"] = (sender) =>
        wire.MsgExecuteContract.encode({ sender, contract, msg, funds: [...(options.amount ?? [])] });
      return send({ name: "MsgExecuteContract", encode, printed: [["data", "data"]] }, options, context);
    });
}

function migrateCommand(context: CliContext): Command {
  return addProfileOptions(txMessageCommand("migrate", "replace the code of a contract"), context)
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

function setLabelCommand(context: CliContext): Command {
  return txMessageCommand("set-contract-label", "rename a contract")
    .addArgument(contractArgument())
    .argument("<new-label>", "name of the contract")
    .action((contract: string, newLabel: string, options: TxOptions) =>
      send(
        {
          name: "MsgUpdateContractLabel",
          encode: (sender) => wire.MsgUpdateContractLabel.encode({ sender, contract, newLabel }),
        },
        options,
        context,
      ),
    );
}

function updateInstantiateConfigCommand(context: CliContext): Command {
  const command = txMessageCommand("update-instantiate-config", "choose who may create contracts of a code");
  return withPermission(command)
    .addArgument(codeArgument())
    .action((codeId: bigint, options: StoreOptions) => {
      const newInstantiatePermission = permissionOf(options);
      if (newInstantiatePermission === undefined)
        throw new CliError(
          EXIT.usage,
          "--instantiate-everybody, --instantiate-nobody or --instantiate-anyof-addresses was expected",
        );
      return send(
        {
          name: "MsgUpdateInstantiateConfig",
          encode: (sender) =>
            wire.MsgUpdateInstantiateConfig.encode({ sender, codeId, newInstantiatePermission }),
        },
        options,
        context,
      );
    });
}

/** Pinned code needs 2,000 gas for a call instead of 60,000. */
function pinCommand(name: "pin" | "unpin", message: string, context: CliContext): Command {
  return txMessageCommand(name, `${name} codes: a call of a pinned code costs less gas`)
    .argument(
      "<code-id...>",
      "numbers of the codes",
      (text: string, before: readonly bigint[] | undefined) => [...(before ?? []), parseUint64(text)],
    )
    .addHelpText("after", AUTHORITY_HELP)
    .action((codeIds: readonly bigint[], options: TxOptions) =>
      sendAuthorityMessage(
        { type: `cosmwasm.wasm.v1.${message}`, fields: { code_ids: codeIds.map(String) } },
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
