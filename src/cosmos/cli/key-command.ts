import { Command, Option } from "commander";
import { encodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addOutputOptions, type OutputOptions } from "../../platform/cli/output-options.ts";
import { openPrompt, type Prompt } from "../../platform/cli/prompt.ts";
import { addressBytes, type KeyRecord } from "../keyring/key-record.ts";
import type { Keyring } from "../keyring/keyring.ts";
import { TYPE_URL } from "../proto/registry.ts";
import { addKeyringFolderOptions, type KeyringOptions, openKeyringOf } from "./keyring-options.ts";

/** Options for every `keys` command that opens a keyring. */
export interface KeyOptions extends KeyringOptions, OutputOptions {
  /** Bech32 prefix for account addresses. */
  readonly addressPrefix: string;
}

/** An open keyring and the dependencies of the commands that use it. */
export interface KeyDeps {
  readonly keyring: Keyring;
  /** Call it before the first key is added. */
  readonly prepare: () => Promise<void>;
  readonly prompt: Prompt;
}

/** Creates a command with the {@link KeyOptions} options. */
export function keyCommand(name: string, description: string): Command {
  const command = addPrefixOption(new Command(name).description(description)).addOption(
    new Option(
      "--keyring-backend <backend>",
      "where the keys are: files with a public password, or with your own",
    )
      .choices(["test", "file", "memory"])
      .default("test"),
  );
  return addOutputOptions(addKeyringFolderOptions(command));
}

export function addPrefixOption(command: Command): Command {
  return command.addOption(
    new Option("--address-prefix <prefix>", "bech32 prefix of account addresses").default("neutron"),
  );
}

/** Opens the keyring that the options name and passes it to `work`. */
export async function withKeyring(
  options: KeyringOptions,
  context: CliContext,
  work: (deps: KeyDeps) => Promise<void> | void,
): Promise<void> {
  const prompt = openPrompt(context.streams);
  try {
    const { keyring, prepare } = await openKeyringOf(options, prompt);
    await work({ keyring, prepare, prompt });
  } finally {
    prompt.close();
  }
}

/** A key as the SDK's `keys` commands print it. */
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

/** A public key as one line of proto JSON. */
export function publicKeyText(publicKey: Uint8Array): string {
  return stringifyJson({ "@type": TYPE_URL.secp256k1PubKey, key: toBase64(publicKey) });
}
