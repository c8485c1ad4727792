import { keyringPlace } from "../../cosmos/cli/keyring-options.ts";
import type { SignerProgram } from "../../cosmos/client/tx/signer-program.ts";
import { createSigner, type Signer } from "../../cosmos/client/tx/signer.ts";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { Secret } from "../../platform/base/secret.ts";
import { openPrompt } from "../../platform/cli/prompt.ts";
import { readSecret } from "../../platform/cli/state-home.ts";
import { localnetAccounts } from "../accounts/chains.ts";
import type { AccountOptions } from "./tx-options.ts";

/** Throws `CliError` if no account is selected. Called before the first request to the chain. */
export function requireAccountChoice(options: AccountOptions): void {
  const { from, mnemonicFile, mnemonicEnv, signer } = options;
  if ([from, mnemonicFile, mnemonicEnv, signer].some((choice) => choice !== undefined)) return;
  throw new CliError(
    EXIT.usage,
    "no signing account; pass --from (a localnet test account or, with --keyring-backend, a key), --mnemonic-file, --mnemonic-env or --signer",
  );
}

/** Opens the signing account. Throws `CliError` if it cannot be opened, and `ClientError` "bad-key" for an invalid mnemonic. */
export function openAccount(options: AccountOptions, chainId: string): Promise<Signer> {
  const { from, keyringBackend, addressPrefix = "neutron" } = options;
  if (from !== undefined && keyringBackend === undefined) return openTestAccount(from, chainId);
  return openOwnKey(options, addressPrefix);
}

/** Opens a key that is not tied to a chain. */
async function openOwnKey(options: AccountOptions, prefix: string): Promise<Signer> {
  const { from, keyringBackend: backend, signer } = options;
  if (signer !== undefined) return createSigner({ kind: "external", ...signerProgram(options) }, prefix);
  if (from === undefined || backend === undefined)
    return createSigner({ kind: "mnemonic", mnemonic: readMnemonic(options) }, prefix);
  const prompt = openPrompt();
  try {
    const place = await keyringPlace({ ...options, keyringBackend: backend }, prompt);
    return await createSigner({ kind: "keyring", ...place, name: from }, prefix);
  } finally {
    prompt.close();
  }
}

/** Time allowed for a person to confirm on a device. */
const SIGNER_DEADLINE_MS = 60_000;

function signerProgram({ signer = "", signerArg, signerEnv }: AccountOptions): SignerProgram {
  return {
    command: [signer, ...signerArg],
    deadlineMs: SIGNER_DEADLINE_MS,
    concurrency: 1,
    environment: signerEnv,
  };
}

/** Returns the address that would sign. `--from` may also be an address. */
export async function unsignedSender(options: AccountOptions): Promise<string> {
  const { from, keyringBackend, addressPrefix = "neutron" } = options;
  if (from === undefined || keyringBackend !== undefined)
    return (await openOwnKey(options, addressPrefix)).address;
  if (isAddress(from, addressPrefix)) return from;
  const account = localnetAccounts().find(
    ({ name, address }) => name === from && address.startsWith(`${addressPrefix}1`),
  );
  if (account !== undefined) return account.address;
  throw new CliError(EXIT.usage, `--from ${from}: expected an address or a test account name`);
}

function isAddress(text: string, prefix: string): boolean {
  try {
    return decodeBech32(text).prefix === prefix;
  } catch {
    return false;
  }
}

/** Test account keys are public. On any other chain, anyone could spend the account's coins. */
function openTestAccount(name: string, chainId: string): Promise<Signer> {
  const ofChain = localnetAccounts().filter((account) => account.chainId === chainId);
  const account = ofChain.find((one) => one.name === name);
  if (account === undefined) {
    const known =
      ofChain.length === 0
        ? "test accounts exist only on localnet chains; for a key from relaywatch keys, add --keyring-backend test or file"
        : `the test accounts are ${ofChain.map((one) => one.name).join(", ")}`;
    throw new CliError(EXIT.usage, `no test account is named ${name} on ${chainId}: ${known}`);
  }
  const prefix = account.address.slice(0, account.address.lastIndexOf("1"));
  return createSigner({ kind: "mnemonic", mnemonic: new Secret(account.mnemonic) }, prefix);
}

function readMnemonic({ mnemonicFile: file, mnemonicEnv: env }: AccountOptions): Secret {
  return readSecret({ file, env }, file === undefined ? "--mnemonic-env" : "--mnemonic-file");
}
