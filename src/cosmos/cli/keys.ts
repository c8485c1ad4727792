import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { Bip39 } from "@cosmjs/crypto";
import { decodeBech32, encodeBech32, fromHex, upperHex } from "../../platform/base/bytes.ts";
import { CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { addOutputOptions, type CliContext, type OutputOptions } from "../../platform/cli/cli-context.ts";
import { printResponse, printResult } from "../../platform/cli/print-response.ts";
import { badKeyring } from "../client-error.ts";
import { type KeyRecord, localKey } from "../keyring/key-record.ts";
import {
  addPrefixOption,
  keyCommand,
  keyJson,
  type KeyOptions,
  publicKeyText,
  secretFrom,
  withKeyring,
} from "./keyring-options.ts";
import { Secret } from "../../platform/base/secret.ts";
import { parseWhole } from "../../platform/cli/options.ts";
import { PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { deriveKey } from "../keyring/derive-key.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import type { Prompt } from "../../platform/cli/prompt.ts";

export function keysCommand(context: CliContext): Command {
  const group = new Command();
  for (const create of [
    addCommand,
    listCommand,
    showCommand,
    deleteCommand,
    exportCommand,
    importCommand,
    parseCommand,
    mnemonicCommand,
  ])
    group.addCommand(create(context));
  return group;
}

function listCommand(context: CliContext): Command {
  return keyCommand("list", "print all keys in the keyring")
    .option("-n, --list-names", "print only the names")
    .action((options: KeyOptions & { readonly listNames?: true }) =>
      withKeyring(options, context, ({ keyring }) => {
        const keys = keyring.list();
        const names = keys.map(({ name }) => name);
        if (options.listNames) return printResult({ value: names, text: names.join("\n") }, options, context);
        printResponse(
          keys.map((key) => keyJson(key, options.addressPrefix)),
          options,
          context,
        );
      }),
    );
}

/** The address types of a key. Each type adds a suffix to the bech32 prefix. */
const KINDS = { acc: "", val: "valoper", cons: "valcons" } as const;

interface ShowOptions extends KeyOptions {
  readonly address?: true;
  readonly pubkey?: true;
  readonly bech: keyof typeof KINDS;
}

function showCommand(context: CliContext): Command {
  return keyCommand("show", "print a key")
    .argument("<name>", "key name or address")
    .addOption(new Option("-a, --address", "print only the address").conflicts("pubkey"))
    .addOption(new Option("-p, --pubkey", "print only the public key"))
    .addOption(
      new Option("--bech <kind>", "the kind of address: account, validator or consensus")
        .choices(Object.keys(KINDS))
        .default("acc"),
    )
    .action((name: string, options: ShowOptions) =>
      withKeyring(options, context, ({ keyring }) => {
        const record = keyring.find(name);
        const key = keyJson(record, `${options.addressPrefix}${KINDS[options.bech]}`);
        const only = options.address ? key.address : options.pubkey ? pubkeyOf(record) : undefined;
        if (only === undefined) return printResponse(key, options, context);
        printResult({ value: only, text: only }, options, context);
      }),
    );
}

function pubkeyOf({ name, publicKey }: KeyRecord): string {
  if (publicKey !== undefined) return publicKeyText(publicKey);
  throw badKeyring(`${name} has no secp256k1 public key`);
}

function deleteCommand(context: CliContext): Command {
  return keyCommand("delete", "delete keys; a key without a backup of its mnemonic or an export is lost")
    .argument("<name...>", "key names or addresses")
    .option("-y, --yes", "delete the key without asking for confirmation")
    .action((names: readonly string[], options: KeyOptions & { readonly yes?: true }) =>
      withKeyring(options, context, async ({ keyring, prompt }) => {
        const found = names.map((name) => keyring.find(name).name);
        const isSure = options.yes || (await prompt.confirm(`Delete ${found.join(", ")} forever? [y/N] `));
        if (!isSure)
          throw new CliError(EXIT.usage, "nothing was deleted; confirm with y in a terminal, or pass --yes");
        for (const name of found) keyring.remove(name);
        printResult({ value: { deleted: found }, text: `deleted ${found.join(", ")}` }, options, context);
      }),
    );
}

function parseCommand(context: CliContext): Command {
  const command = new Command("parse")
    .description("convert an address between hex and bech32")
    .argument("<address>", "an address in hex or bech32");
  return addOutputOptions(addPrefixOption(command)).action(
    (address: string, options: OutputOptions & { readonly addressPrefix: string }) =>
      printResponse(parseAddress(address, options.addressPrefix), options, context),
  );
}

/** Like the SDK's `keys parse`, splits a bech32 string into its prefix and bytes, or encodes hex bytes in every bech32 format. */
function parseAddress(text: string, prefix: string): JsonObject {
  if (/^([0-9a-fA-F]{2}){1,64}$/.test(text)) {
    const ends = Object.values(KINDS).flatMap((end) => [end, `${end}pub`]);
    return { formats: ends.map((end) => encodeBech32(prefix + end, fromHex(text))) };
  }
  try {
    const { prefix: human, bytes } = decodeBech32(text);
    return { human, bytes: upperHex(bytes) };
  } catch {
    throw new CliError(EXIT.usage, `expected hex or bech32, got ${text}`);
  }
}

interface AddOptions extends KeyOptions {
  readonly recover?: true;
  /** File from which to read the mnemonic. */
  readonly source?: string;
  readonly backupFile?: string;
  readonly backup: boolean;
  readonly dryRun?: true;
  readonly hdPath?: string;
  readonly coinType: number;
  readonly account: number;
  readonly index: number;
}

export function addCommand(context: CliContext): Command {
  return keyCommand("add", "create a key, or recover one from its mnemonic")
    .argument("<name>", "name of the new key")
    .option("--recover", "read the mnemonic from the terminal or the first line of stdin")
    .option("--source <file>", "read the mnemonic from this file; implies --recover")
    .option("--backup-file <file>", "write the new mnemonic to a new file instead of printing it")
    .option("--no-backup", "neither print nor write the new mnemonic; the key exists only in the keyring")
    .option("--dry-run", "show the key without storing it")
    .addOption(
      new Option("--algo <algorithm>", "the signature algorithm").choices(["secp256k1"]).default("secp256k1"),
    )
    .addOption(pathNumber("--coin-type <n>", "coin type in the derivation path", 118))
    .addOption(pathNumber("--account <n>", "account in the derivation path", 0))
    .addOption(pathNumber("--index <n>", "address index in the derivation path", 0))
    .addOption(
      new Option(
        "--hd-path <path>",
        "full derivation path, e.g. m/44'/118'/0'/0/0, instead of --coin-type, --account and --index",
      ).argParser(parseHdPath),
    )
    .addHelpText(
      "after",
      `
A new key's mnemonic is printed once, and only to a terminal. Without a terminal, pass --backup-file or --no-backup. A recovered key's mnemonic is never printed.`,
    )
    .action((name: string, options: AddOptions) => {
      const backend = options.dryRun ? { ...options, keyringBackend: "memory" as const } : options;
      return withKeyring(backend, context, async ({ keyring, prepare, prompt }) => {
        const isNew = options.recover !== true && options.source === undefined;
        if (isNew) requireBackup(options, context);
        const source = { file: options.source, option: "--source" };
        const words = isNew ? newMnemonic() : await secretFrom(source, prompt, "Mnemonic: ");
        const record = localKey(name, await derive(words, hdPathOf(options)));
        await prepare();
        const backupFile = isNew && !options.dryRun ? options.backupFile : undefined;
        if (backupFile !== undefined) writeBackup(backupFile, words);
        try {
          keyring.add(record);
        } catch (error) {
          // The key was not stored, so its mnemonic is useless. Remove the backup.
          if (backupFile !== undefined) rmSync(backupFile);
          throw error;
        }
        printNew(record, isNew ? words : undefined, options, context);
      });
    });
}

function mnemonicCommand(context: CliContext): Command {
  return new Command("mnemonic")
    .description("create a 24-word mnemonic without creating a key")
    .option("--backup-file <file>", "write the mnemonic to a new file instead of printing it")
    .addHelpText("after", "\nA mnemonic is printed only to a terminal.")
    .action((options: { readonly backupFile?: string }) => {
      requireBackup({ ...options, backup: true }, context);
      const words = newMnemonic();
      if (options.backupFile === undefined) return context.print(words.reveal());
      writeBackup(options.backupFile, words);
      context.print(`written to ${options.backupFile}`);
    });
}

/**
 * Throws if the mnemonic is neither shown on a terminal nor written to a file, because it would be lost. Does not throw if no
 * backup is needed (`--no-backup`, dry run).
 */
function requireBackup(
  { backupFile, backup, dryRun }: Pick<AddOptions, "backup" | "backupFile" | "dryRun">,
  { isTerminal }: CliContext,
): void {
  if (isTerminal || backupFile !== undefined || !backup || dryRun) return;
  throw new CliError(
    EXIT.usage,
    "a mnemonic is printed only to a terminal; pass --backup-file FILE, run this in a terminal, or pass --no-backup (keys add)",
  );
}

function newMnemonic(): Secret {
  return new Secret(Bip39.encode(randomBytes(32)).toString());
}

function derive(words: Secret, hdPath: string): Promise<Uint8Array> {
  return deriveKey(words.reveal(), hdPath).catch(() => {
    // Throw a new error, because the original error's message could contain words of the mnemonic.
    throw badKeyring(
      "not an English BIP-39 mnemonic: expected 12, 15, 18, 21 or 24 words with a valid checksum",
    );
  });
}

function writeBackup(file: string, words: Secret): void {
  try {
    writeFileSync(file, `${words.reveal()}\n`, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  } catch (cause) {
    throw new CliError(EXIT.fatal, `cannot write the mnemonic: ${errorText(cause)}`, { cause });
  }
}

function printNew(
  record: KeyRecord,
  words: Secret | undefined,
  options: AddOptions,
  context: CliContext,
): void {
  const key = keyJson(record, options.addressPrefix);
  const isShown =
    words !== undefined && options.backup && options.backupFile === undefined && !options.dryRun;
  if (!isShown) return printResponse(key, options, context);
  if (options.json || options.output === "yaml")
    return printResponse({ ...key, mnemonic: words.reveal() }, options, context);
  printResponse(key, options, context);
  context.print(
    `\nThe mnemonic is shown only once. Write it down, and keep it secret: anyone who has it can spend from the account.\n`,
  );
  context.print(words.reveal());
}

function hdPathOf({ hdPath, coinType, account, index }: AddOptions): string {
  return hdPath ?? `m/44'/${coinType}'/${account}'/0/${index}`;
}

/** Maximum BIP-32 child index, without the bit that marks hardened keys. */
const MAX_CHILD = 2 ** 31 - 1;

function pathNumber(flags: string, description: string, preset: number): Option {
  return new Option(flags, description).default(preset).argParser((text) => parseWhole(text, 0, MAX_CHILD));
}

function parseHdPath(text: string): string {
  const numbers = text
    .split("/")
    .slice(1)
    .map((part) => Number(part.replace(/'$/, "")));
  if (/^m(\/\d{1,10}'?){1,10}$/.test(text) && numbers.every((number) => number <= MAX_CHILD)) return text;
  throw new InvalidArgumentError("expected a path, e.g. m/44'/118'/0'/0/0");
}

interface ArmorOptions extends KeyOptions {
  readonly passphraseFile?: string;
}

/** Minimum passphrase length that the SDK requires. */
const MIN_PASSPHRASE_CHARACTERS = 8;
const MAX_ARMOR_BYTES = 16_384;

function exportCommand(context: CliContext): Command {
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

function importCommand(context: CliContext): Command {
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
  return command.option(
    "--passphrase-file <file>",
    "read the armor's passphrase from this file; default: ask for it",
  );
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
