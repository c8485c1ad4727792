import { homedir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { Secret } from "../../platform/base/secret.ts";
import type { Prompt } from "../../platform/cli/prompt.ts";
import { readSecretFile } from "../../platform/cli/state-home.ts";
import { checkPassword, readKeyHash, writeKeyHash } from "../keyring/key-hash.ts";
import { createMemoryStore, keyringFolder, type KeyringPlace, openKeyStore } from "../keyring/key-store.ts";
import { type Keyring, openKeyring } from "../keyring/keyring.ts";

export interface KeyringOptions {
  readonly keyringBackend: "file" | "memory" | "test";
  /** Home directory of the SDK program. */
  readonly keyringDir: string;
  readonly keyringPasswordFile?: string;
}

/** Adds the {@link KeyringOptions} options except the backend. */
export function addKeyringFolderOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--keyring-dir <folder>",
        "home of the SDK program with the keyring, or its folder keyring-test or keyring-file",
      ).default(join(homedir(), ".neutrond"), "~/.neutrond"),
    )
    .option("--keyring-password-file <file>", "password of the backend file; asked for if not given");
}

/** Returns the location of a file keyring, with its password from the password file or the prompt. */
export async function keyringPlace(
  options: KeyringOptions & { readonly keyringBackend: KeyringPlace["backend"] },
  prompt: Prompt,
): Promise<KeyringPlace> {
  const { keyringBackend: backend, keyringDir: home, keyringPasswordFile: file } = options;
  if (backend === "test") return { backend, home, password: undefined };
  const given = { file, option: "--keyring-password-file" };
  return { backend, home, password: await secretFrom(given, prompt, "Password of the keyring: ") };
}

/** Reads a secret from the file that an option names. Without a file, asks for it. */
export async function secretFrom(
  { file, option }: { readonly file: string | undefined; readonly option: string },
  prompt: Prompt,
  question: string,
): Promise<Secret> {
  return file === undefined ? prompt.secret(question) : readSecretFile(file, option);
}

export interface OpenKeyring {
  readonly keyring: Keyring;
  /** Call it before adding the first key: a new keyring gets its password's hash. */
  readonly prepare: () => Promise<void>;
}

/** Opens the keyring named by the options. Throws `bad-key` if the password is wrong. */
export async function openKeyringOf(options: KeyringOptions, prompt: Prompt): Promise<OpenKeyring> {
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
