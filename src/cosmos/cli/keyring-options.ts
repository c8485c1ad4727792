import { homedir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { encodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { addOutputOptions, type CliContext, type OutputOptions } from "../../platform/cli/cli-context.ts";
import { openPrompt, type Prompt } from "../../platform/cli/prompt.ts";
import { readSecret } from "../../platform/cli/state-home.ts";
import {
  checkPassword,
  createMemoryStore,
  keyringFolder,
  type KeyringPlace,
  openKeyStore,
  readKeyHash,
  writeKeyHash,
} from "../keyring/key-store.ts";
import { addressBytes, type KeyRecord } from "../keyring/key-record.ts";
import { type Keyring, openKeyring } from "../keyring/keyring.ts";
import { TYPE_URL } from "../proto/registry.ts";

export interface KeyringOptions {
  readonly keyringBackend: "file" | "memory" | "test";
  /** Home directory of the SDK application, or the path of the folder `keyring-test` or `keyring-file` in this directory. */
  readonly keyringDir: string;
  readonly keyringPasswordFile?: string;
}

/** Adds all {@link KeyringOptions} options except the backend. */
export function addKeyringFolderOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--keyring-dir <folder>",
        "the SDK program's home directory, or its keyring-test or keyring-file folder",
      ).default(join(homedir(), ".neutrond"), "~/.neutrond"),
    )
    .option(
      "--keyring-password-file <file>",
      "read the file backend's password from this file; default: ask for it",
    );
}

/** Returns a file keyring's location and its password, which is read from the password file or the prompt. */
export async function keyringPlace(
  options: KeyringOptions & { readonly keyringBackend: KeyringPlace["backend"] },
  prompt: Prompt,
): Promise<KeyringPlace> {
  const { keyringBackend: backend, keyringDir: home, keyringPasswordFile: file } = options;
  if (backend === "test") return { backend, home, password: undefined };
  const given = { file, option: "--keyring-password-file" };
  return { backend, home, password: await secretFrom(given, prompt, "Password of the keyring: ") };
}

/** Reads a secret from a file, or prompts for the secret if no file is given. Error messages contain the name of the file's `option`. */
export async function secretFrom(
  { file, option }: { readonly file: string | undefined; readonly option: string },
  prompt: Prompt,
  question: string,
): Promise<Secret> {
  return file === undefined ? prompt.secret(question) : readSecret({ file }, option);
}

interface OpenKeyring {
  readonly keyring: Keyring;
  /** Stores the password's hash in a new keyring. Call `prepare` before adding the first key. */
  readonly prepare: () => Promise<void>;
}

/** Opens the keyring that the command-line options specify. Throws `bad-key` if the password is wrong. */
async function openKeyringOf(options: KeyringOptions, prompt: Prompt): Promise<OpenKeyring> {
  const { keyringBackend: backend } = options;
  if (backend === "memory")
    return { keyring: openKeyring(createMemoryStore()), prepare: () => Promise.resolve() };
  const place = await keyringPlace({ ...options, keyringBackend: backend }, prompt);
  const { password } = place;
  const folder = keyringFolder(place);
  const hash = password === undefined ? undefined : readKeyHash(folder);
  if (password !== undefined && hash !== undefined) await checkPassword(password, hash, folder);
  return {
    keyring: openKeyring(openKeyStore(place)),
    prepare: async () => {
      if (password !== undefined && hash === undefined) await writeKeyHash(password, folder);
    },
  };
}

/** Options for every `keys` command that opens a keyring. */
export interface KeyOptions extends KeyringOptions, OutputOptions {
  /** Bech32 prefix for account addresses. */
  readonly addressPrefix: string;
}

/** Creates a command with the {@link KeyOptions} options. */
export function keyCommand(name: string, description: string): Command {
  const command = addPrefixOption(new Command(name).description(description)).addOption(
    new Option(
      "--keyring-backend <backend>",
      "where keys are stored: in files with a public password (test) or with your own password (file)",
    )
      .choices(["test", "file", "memory"])
      .default("test"),
  );
  return addOutputOptions(addKeyringFolderOptions(command));
}

export function addPrefixOption(command: Command): Command {
  return command.addOption(
    new Option("--address-prefix <prefix>", "the bech32 prefix of account addresses").default("neutron"),
  );
}

/** Opens the keyring that the command-line options specify and passes it to `work`. */
export async function withKeyring(
  options: KeyringOptions,
  context: CliContext,
  work: (deps: OpenKeyring & { readonly prompt: Prompt }) => Promise<void> | void,
): Promise<void> {
  const prompt = openPrompt(context.streams);
  try {
    await work({ ...(await openKeyringOf(options, prompt)), prompt });
  } finally {
    prompt.close();
  }
}

/** A key in the format in which the SDK's `keys` commands print keys. */
type KeyJson = { readonly [Field in "address" | "name" | "pubkey" | "type"]: string };

export function keyJson({ name, type, publicKey }: KeyRecord, prefix: string): KeyJson {
  if (publicKey === undefined) return { name, type, address: "", pubkey: "" };
  return {
    name,
    type,
    address: encodeBech32(prefix, addressBytes(publicKey)),
    pubkey: publicKeyText(publicKey),
  };
}

/** Encodes a public key as one line of proto JSON. */
export function publicKeyText(publicKey: Uint8Array): string {
  return stringifyJson({ "@type": TYPE_URL.secp256k1PubKey, key: toBase64(publicKey) });
}
