import { type Command, Option } from "commander";
import { EXIT } from "../base/exit-codes.ts";
import { Secret } from "../base/secret.ts";
import { createSigner, type Signer } from "../client/tx/signer.ts";
import { localnetAccounts } from "../node/localnet/accounts.ts";
import { secretField } from "../ops/config-fields.ts";
import { CliError } from "./cli-error.ts";

/** Options that choose the account that signs and pays; exactly one of the first three. */
export interface AccountOptions {
  /** Name of a localnet's public test account. */
  readonly from?: string;
  readonly mnemonicFile?: string;
  readonly mnemonicEnv?: string;
  /** Prefix of the chain's addresses. */
  readonly addressPrefix?: string;
}

/** Adds the options of {@link AccountOptions} to a command. */
export function addAccountOptions(command: Command): Command {
  const sources = ["from", "mnemonicFile", "mnemonicEnv"];
  const source = (flags: string, description: string, own: string): Option =>
    new Option(flags, description).conflicts(sources.filter((name) => name !== own));
  return command
    .addOption(source("--from <name>", "pay from this public test account of a localnet", "from"))
    .addOption(source("--mnemonic-file <file>", "pay from the account whose words are there", "mnemonicFile"))
    .addOption(
      source("--mnemonic-env <name>", "pay from the account whose words that variable holds", "mnemonicEnv"),
    )
    .addOption(
      new Option("--address-prefix <prefix>", "prefix of the chain's addresses; neutron unless given"),
    );
}

/** Refuses a command line that names no account, before anything is asked of a chain. Throws `CliError`. */
export function requireAccountChoice({ from, mnemonicFile, mnemonicEnv }: AccountOptions): void {
  if (from !== undefined || mnemonicFile !== undefined || mnemonicEnv !== undefined) return;
  throw new CliError(
    EXIT.usage,
    "who pays? give --from (a test account of a localnet), --mnemonic-file or --mnemonic-env",
  );
}

/** The account that signs on a chain. Throws `CliError` when it cannot be had, `ClientError` `bad-key` on wrong words. */
export function openAccount(options: AccountOptions, chainId: string): Promise<Signer> {
  if (options.from !== undefined) return openTestAccount(options.from, chainId);
  const mnemonic = readMnemonic(options);
  return createSigner({ kind: "mnemonic", mnemonic }, options.addressPrefix ?? "neutron");
}

/** Test accounts are public: on any other chain than a localnet's they would give their coins away. */
function openTestAccount(name: string, chainId: string): Promise<Signer> {
  const ofChain = localnetAccounts().filter((account) => account.chainId === chainId);
  const account = ofChain.find((one) => one.name === name);
  if (account === undefined) {
    const known =
      ofChain.length === 0
        ? "it is no chain of a localnet; choose the account with --mnemonic-file or --mnemonic-env"
        : `there are ${ofChain.map((one) => one.name).join(", ")}`;
    throw new CliError(EXIT.usage, `no test account is called ${name} on ${chainId}: ${known}`);
  }
  const prefix = account.address.slice(0, account.address.lastIndexOf("1"));
  return createSigner({ kind: "mnemonic", mnemonic: new Secret(account.mnemonic) }, prefix);
}

function readMnemonic({ mnemonicFile, mnemonicEnv }: AccountOptions): Secret {
  const read = secretField().safeParse({ file: mnemonicFile, env: mnemonicEnv });
  if (read.success) return read.data;
  const option = mnemonicFile === undefined ? "--mnemonic-env" : "--mnemonic-file";
  throw new CliError(EXIT.badConfig, `${option}: ${read.error.issues[0]?.message ?? "cannot be read"}`);
}
