import { type Command, Option } from "commander";
import { EXIT } from "../../platform/base/errors.ts";
import { Secret } from "../../platform/base/secret.ts";
import { createSigner, type Signer } from "../../cosmos/client/tx/signer.ts";
import { localnetAccounts } from "../network/chains.ts";
import { secretField } from "../../platform/config/config-fields.ts";
import { CliError } from "../../platform/cli/cli-error.ts";

/** Options that select the signing account. Exactly one of the first three is given. */
export interface AccountOptions {
  /** Name of a public localnet test account. */
  readonly from?: string;
  readonly mnemonicFile?: string;
  readonly mnemonicEnv?: string;
  /** Bech32 prefix of account addresses. */
  readonly addressPrefix?: string;
}

/** Adds the options of {@link AccountOptions} to a command. */
export function addAccountOptions(command: Command): Command {
  const sources = ["from", "mnemonicFile", "mnemonicEnv"];
  const source = (flags: string, description: string, own: string): Option =>
    new Option(flags, description).conflicts(sources.filter((name) => name !== own));
  return command
    .addOption(source("--from <name>", "sign with this public localnet test account", "from"))
    .addOption(source("--mnemonic-file <file>", "sign with the mnemonic in this file", "mnemonicFile"))
    .addOption(
      source("--mnemonic-env <name>", "sign with the mnemonic in this environment variable", "mnemonicEnv"),
    )
    .addOption(
      new Option("--address-prefix <prefix>", "bech32 prefix of account addresses; default: neutron"),
    );
}

/** Throws `CliError` when no account is selected. Called before the first request to the chain. */
export function requireAccountChoice({ from, mnemonicFile, mnemonicEnv }: AccountOptions): void {
  if (from !== undefined || mnemonicFile !== undefined || mnemonicEnv !== undefined) return;
  throw new CliError(
    EXIT.usage,
    "no signing account: give --from (a localnet test account), --mnemonic-file or --mnemonic-env",
  );
}

/** Opens the signing account. Throws `CliError` when it cannot be opened and `ClientError` "bad-key" for an invalid mnemonic. */
export function openAccount(options: AccountOptions, chainId: string): Promise<Signer> {
  if (options.from !== undefined) return openTestAccount(options.from, chainId);
  const mnemonic = readMnemonic(options);
  return createSigner({ kind: "mnemonic", mnemonic }, options.addressPrefix ?? "neutron");
}

/** Test account keys are public. On any other chain, everybody could spend their coins. */
function openTestAccount(name: string, chainId: string): Promise<Signer> {
  const ofChain = localnetAccounts().filter((account) => account.chainId === chainId);
  const account = ofChain.find((one) => one.name === name);
  if (account === undefined) {
    const known =
      ofChain.length === 0
        ? "test accounts exist on localnet chains only; use --mnemonic-file or --mnemonic-env"
        : `the test accounts are ${ofChain.map((one) => one.name).join(", ")}`;
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
