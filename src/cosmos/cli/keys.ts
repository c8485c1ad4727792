import { Command, Option } from "commander";
import { decodeBech32, encodeBech32, fromHex, upperHex } from "../../platform/base/bytes.ts";
import { EXIT } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { addOutputOptions, type OutputOptions } from "../../platform/cli/output-options.ts";
import { printResult, printResponse } from "../../platform/cli/print-response.ts";
import { badKeyring } from "../client/errors.ts";
import type { KeyRecord } from "../keyring/key-record.ts";
import {
  addPrefixOption,
  keyCommand,
  keyJson,
  type KeyOptions,
  publicKeyText,
  withKeyring,
} from "./keyring-options.ts";
import { addCommand, mnemonicCommand } from "./keys-add.ts";
import { exportCommand, importCommand } from "./keys-armor.ts";

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
    .option("-n, --list-names", "names only")
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

/** The kinds of addresses for one key, each with the suffix that it adds to the prefix. */
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
      new Option("--bech <kind>", "address prefix: account, validator or consensus")
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
    .option("-y, --yes", "do not ask for confirmation")
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

/** Like the SDK, returns the parts of a bech32 string, or every bech32 form of hex bytes. */
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
