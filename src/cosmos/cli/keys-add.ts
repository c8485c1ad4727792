import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { Bip39 } from "@cosmjs/crypto";
import { Command, InvalidArgumentError, Option } from "commander";
import { EXIT, errorText } from "../../platform/base/errors.ts";
import { Secret } from "../../platform/base/secret.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { parseWhole } from "../../platform/cli/options.ts";
import { printResponse } from "../../platform/cli/print-response.ts";
import { PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { deriveKey } from "../keyring/derive-key.ts";
import { badKeyring } from "../client/errors.ts";
import { type KeyRecord, localKey } from "../keyring/key-record.ts";
import { keyCommand, keyJson, type KeyOptions, secretFrom, withKeyring } from "./keyring-options.ts";

interface AddOptions extends KeyOptions {
  readonly recover?: true;
  /** File that contains the mnemonic. */
  readonly source?: string;
  /** File to create for the mnemonic. */
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
    .option("--backup-file <file>", "write the new mnemonic to this new file instead of printing it")
    .option("--no-backup", "neither print nor write the new mnemonic; the key exists only in the keyring")
    .option("--dry-run", "show the key without storing it")
    .addOption(
      new Option("--algo <algorithm>", "signature algorithm").choices(["secp256k1"]).default("secp256k1"),
    )
    .addOption(pathNumber("--coin-type <n>", "coin type in the derivation path", 118))
    .addOption(pathNumber("--account <n>", "account in the derivation path", 0))
    .addOption(pathNumber("--index <n>", "address index in the derivation path", 0))
    .addOption(
      new Option(
        "--hd-path <path>",
        "derivation path, instead of the three numbers: m/44'/118'/0'/0/0",
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
          // The mnemonic of a key that is not stored is useless.
          if (backupFile !== undefined) rmSync(backupFile);
          throw error;
        }
        printNew(record, isNew ? words : undefined, options, context);
      });
    });
}

export function mnemonicCommand(context: CliContext): Command {
  return new Command("mnemonic")
    .description("create a 24-word mnemonic without creating a key")
    .option("--backup-file <file>", "write it to this new file instead of printing it")
    .addHelpText("after", "\nA mnemonic is printed only to a terminal.")
    .action((options: { readonly backupFile?: string }) => {
      requireBackup({ ...options, backup: true }, context);
      const words = newMnemonic();
      if (options.backupFile === undefined) return context.print(words.reveal());
      writeBackup(options.backupFile, words);
      context.print(`written to ${options.backupFile}`);
    });
}

/** If nobody has seen a key's mnemonic, the key exists only in its keyring. That must be a deliberate choice. */
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
    // The original error could contain words of the mnemonic.
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

/** Maximum child number in BIP-32, without the bit that marks hardened keys. */
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
