import type { Command } from "commander";
import { fromHex } from "../../platform/base/bytes.ts";
import { errorText, EXIT } from "../../platform/base/errors.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import type { Secret } from "../../platform/base/secret.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { printResult, printResponse } from "../../platform/cli/print-response.ts";
import type { Prompt } from "../../platform/cli/prompt.ts";
import { badKeyring } from "../client/errors.ts";
import { localKey } from "../keyring/key-record.ts";
import { keyCommand, keyJson, type KeyOptions, secretFrom, withKeyring } from "./keyring-options.ts";

interface ArmorOptions extends KeyOptions {
  readonly passphraseFile?: string;
}

/** Minimum that the SDK requires. */
const MIN_PASSPHRASE_CHARACTERS = 8;
const MAX_ARMOR_BYTES = 16_384;

export function exportCommand(context: CliContext): Command {
  return passphraseOption(keyCommand("export", "print a passphrase-encrypted key as ASCII armor"))
    .argument("<name>", "key name or address")
    .addHelpText("after", "\nPrograms built with SDK 0.50 or newer import the armor with `keys import`.")
    .action((name: string, options: ArmorOptions) =>
      withKeyring(options, context, async ({ keyring, prompt }) => {
        const { privateKey, type } = keyring.find(name);
        if (privateKey === undefined)
          throw badKeyring(`${name} is of type ${type} and has no private key in this keyring`);
        const passphrase = await newPassphrase(options, prompt);
        const { encryptArmor } = await import("../keyring/key-armor.ts");
        const armor = await encryptArmor(fromHex(privateKey.reveal()), passphrase);
        printResult({ value: { armor }, text: armor }, options, context);
      }),
    );
}

export function importCommand(context: CliContext): Command {
  return passphraseOption(keyCommand("import", "add a key from ASCII armor written by keys export"))
    .argument("<name>", "name of the new key")
    .argument("<file>", "armor file, from this program or any SDK version")
    .action((name: string, file: string, options: ArmorOptions) =>
      withKeyring(options, context, async ({ keyring, prepare, prompt }) => {
        const armor = readArmor(file);
        const passphrase = await secretFrom(fileIn(options), prompt, "Passphrase of the armor: ");
        const { decryptArmor } = await import("../keyring/key-armor.ts");
        const record = localKey(name, await decryptArmor(armor, passphrase));
        await prepare();
        keyring.add(record);
        printResponse(keyJson(record, options.addressPrefix), options, context);
      }),
    );
}

function passphraseOption(command: Command): Command {
  return command.option("--passphrase-file <file>", "the armor's passphrase; prompted for if omitted");
}

function fileIn({ passphraseFile: file }: ArmorOptions) {
  return { file, option: "--passphrase-file" };
}

async function newPassphrase(options: ArmorOptions, prompt: Prompt): Promise<Secret> {
  const passphrase = await secretFrom(fileIn(options), prompt, "Passphrase to encrypt the key: ");
  if (passphrase.reveal().length >= MIN_PASSPHRASE_CHARACTERS) return passphrase;
  throw new CliError(EXIT.usage, `the passphrase must have at least ${MIN_PASSPHRASE_CHARACTERS} characters`);
}

function readArmor(file: string): string {
  try {
    return readTextFile(file, MAX_ARMOR_BYTES);
  } catch (cause) {
    throw new CliError(EXIT.fatal, `cannot read the armor in ${file}: ${errorText(cause)}`, { cause });
  }
}
