import { z } from "zod";
import { decodeBech32 } from "../platform/base/bytes.ts";
import type { Secret } from "../platform/base/secret.ts";
import type { KeyringKey } from "../cosmos/client/keyring/read-keyring-key.ts";
import type { SigningKey } from "../cosmos/client/tx/signer.ts";
import { issueText, secretField, type SecretSource } from "../platform/config/config-fields.ts";

/** Characters of a memo. The SDK's default limit is 256. */
const MAX_MEMO = 256;

/** The section `signer`: the account that pays the fees. `secrets` resolves the secret references. */
export function signerSchema(secrets: SecretSource) {
  return z
    .strictObject({
      /** Mnemonic of the account. Either this or `keyring`. */
      mnemonic: secretField(secrets).optional(),
      /** A key of an SDK keyring. */
      keyring: z
        .strictObject({
          /** Home of the SDK program: the directory with `keyring-test` or `keyring-file`. */
          home: z.string().min(1),
          /** Name of the key. */
          key: z.string().min(1).max(200),
          backend: z.enum(["test", "file"]).default("test"),
          /** Password of the backend `file`. */
          password: secretField(secrets).optional(),
        })
        .optional(),
      /** Address prefix of the local chain. */
      prefix: z.string().min(1).max(83).default("neutron"),
      /** HD derivation path of the mnemonic's key. */
      hd_path: z.string().startsWith("m/").default("m/44'/118'/0'/0/0"),
      /** Address of an account that pays the fees by a fee grant to this one. */
      fee_granter: addressField().optional(),
      /** Memo of every transaction. */
      memo: z.string().max(MAX_MEMO).default(""),
    })
    .superRefine((signer, context) => {
      const given = Number(signer.mnemonic !== undefined) + Number(signer.keyring !== undefined);
      if (given !== 1)
        context.addIssue(issueText(given === 0 ? "names no key" : "names two keys", "mnemonic or keyring"));
      if (signer.keyring?.backend === "file" && signer.keyring.password === undefined) {
        const message = issueText("is missing", "{file: path} or {env: NAME}, for the backend file");
        context.addIssue({ code: "custom", path: ["keyring", "password"], message });
      }
    });
}

function addressField() {
  return z.string().refine(isAddress, {
    error: issueText("is not an address", "a bech32 address such as neutron1…"),
  });
}

function isAddress(text: string): boolean {
  try {
    decodeBech32(text);
    return true;
  } catch {
    return false;
  }
}

/** The parts of the section `signer` that name the key. */
export interface SignerKeyConfig {
  readonly mnemonic?: Secret | undefined;
  readonly keyring?:
    | {
        readonly home: string;
        readonly key: string;
        readonly backend: KeyringKey["backend"];
        readonly password?: Secret | undefined;
      }
    | undefined;
  readonly hd_path: string;
}

/** Returns the key that a checked section names. Reads no file. */
export function signingKey({ mnemonic, keyring, hd_path: hdPath }: SignerKeyConfig): SigningKey {
  if (keyring === undefined) {
    if (mnemonic === undefined) throw new Error("a checked section names a key");
    return { kind: "mnemonic", mnemonic, hdPath };
  }
  const { home, key: name, backend, password } = keyring;
  return { kind: "keyring", home, name, backend, password };
}

/** Returns the account that pays the fees: the granter of a fee grant, or the signing account. */
export function payerOf(
  { fee_granter: granter }: { readonly fee_granter?: string | undefined },
  address: string,
): string {
  return granter === undefined || granter === "" ? address : granter;
}
