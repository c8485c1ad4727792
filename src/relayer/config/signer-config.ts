import { z } from "zod";
import type { KeyringKey } from "../../cosmos/keyring/keyring.ts";
import type { SigningKey } from "../../cosmos/client/tx/signer.ts";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { issueText, secretField, type SecretSource } from "../../platform/config/config-fields.ts";

/** Characters of a memo. The SDK's default limit is 256. */
const MAX_MEMO = 256;

/** The section `signer`: the account that pays the fees. `secrets` resolves the secret references. */
export function signerSchema(secrets: SecretSource) {
  return z
    .strictObject({
      mnemonic: secretField(secrets)
        .optional()
        .describe("mnemonic of the account, unless keyring names its key; a secret")
        .meta({ example: { env: "RELAYER_MNEMONIC" } }),
      keyring: z
        .strictObject({
          home: z
            .string()
            .min(1)
            .describe("home of the SDK program: the folder with keyring-test or keyring-file")
            .meta({ example: "/root/.neutrond" }),
          key: z.string().min(1).max(200).describe("name of the key").meta({ example: "relayer" }),
          backend: z
            .enum(["test", "file"])
            .default("test")
            .describe("backend of the keyring; file needs a password"),
          password: secretField(secrets)
            .optional()
            .describe("password of the backend file; a secret")
            .meta({ example: { file: "/run/secrets/keyring" } }),
        })
        .optional()
        .describe("a key of an SDK keyring, instead of mnemonic")
        .meta({ commentedOut: true }),
      prefix: z.string().min(1).max(83).default("neutron").describe("address prefix of the local chain"),
      hd_path: z
        .string()
        .startsWith("m/")
        .default("m/44'/118'/0'/0/0")
        .describe("HD derivation path of the mnemonic's key"),
      fee_granter: addressField()
        .optional()
        .describe("account that pays the fees by a fee grant; without it, the signer pays")
        .meta({ example: "neutron18zawa74y4xv6xg3zv0cstmfl9y38ecurjkvqct", commentedOut: true }),
      memo: z.string().max(MAX_MEMO).default("").describe("memo of every transaction"),
    })
    .superRefine((signer, context) => {
      const given = Number(signer.mnemonic !== undefined) + Number(signer.keyring !== undefined);
      if (given !== 1)
        context.addIssue(issueText(given === 0 ? "names no key" : "names two keys", "mnemonic or keyring"));
      if (signer.keyring?.backend === "file" && signer.keyring.password === undefined) {
        const message = issueText("is missing", "{file: path} or {env: NAME}, for the backend file");
        context.addIssue({ code: "custom", path: ["keyring", "password"], message });
      }
    })
    .describe("the account that pays the fees: mnemonic or keyring");
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
