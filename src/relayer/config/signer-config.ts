import { z } from "zod";
import { createSigner, type Signer, type SigningKey } from "../../cosmos/client/tx/signer.ts";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import {
  durationField,
  issueText,
  secretField,
  type SecretSource,
} from "../../platform/config/config-fields.ts";

/** Maximum length of a memo in characters, which is the SDK's default limit. */
const MAX_MEMO = 256;

/** `signer`: the account that signs transactions. `secrets` resolves references to secrets. */
export function signerSchema(secrets: SecretSource) {
  return z
    .strictObject({
      mnemonic: secretField(secrets)
        .optional()
        .describe("mnemonic of the relayer's account (a secret). Use either mnemonic, keyring or external")
        .meta({ example: { env: "RELAYER_MNEMONIC" } }),
      keyring: z
        .strictObject({
          home: z
            .string()
            .min(1)
            .describe("the SDK program's home directory, which contains keyring-test or keyring-file")
            .meta({ example: "/root/.neutrond" }),
          key: z
            .string()
            .min(1)
            .max(200)
            .describe("the key's name in the keyring")
            .meta({ example: "relayer" }),
          backend: z
            .enum(["test", "file"])
            .default("test")
            .describe("keyring backend of the SDK program; the backend file requires a password"),
          password: secretField(secrets)
            .optional()
            .describe("password (a secret) that decrypts the key in the backend file")
            .meta({ example: { file: "/run/secrets/keyring" } }),
        })
        .optional()
        .describe("a key from an SDK keyring, used instead of mnemonic")
        .meta({ commentedOut: true }),
      external: externalSchema()
        .optional()
        .describe(
          "an external program that holds the key, used instead of mnemonic; docs/operations.md describes its protocol",
        )
        .meta({ commentedOut: true }),
      prefix: z
        .string()
        .min(1)
        .max(83)
        .default("neutron")
        .describe("the bech32 prefix of the local chain's addresses"),
      hd_path: z
        .string()
        .startsWith("m/")
        .default("m/44'/118'/0'/0/0")
        .describe("the HD derivation path of the mnemonic's key"),
      fee_granter: addressField()
        .optional()
        .describe("the account that pays the fees through a fee grant; default: the signer")
        .meta({ example: "neutron18zawa74y4xv6xg3zv0cstmfl9y38ecurjkvqct", commentedOut: true }),
      memo: z.string().max(MAX_MEMO).default("").describe("memo that the relayer adds to every transaction"),
    })
    .superRefine((signer, context) => {
      const given = [signer.mnemonic, signer.keyring, signer.external].filter(
        (key) => key !== undefined,
      ).length;
      if (given !== 1)
        context.addIssue(
          issueText(
            given === 0 ? "selects no key" : `selects ${given === 2 ? "two" : "three"} keys`,
            "mnemonic, keyring or external",
          ),
        );
      if (signer.keyring?.backend === "file" && signer.keyring.password === undefined) {
        const message = issueText("is missing", "{file: path} or {env: NAME} for the file backend");
        context.addIssue({ code: "custom", path: ["keyring", "password"], message });
      }
    })
    .describe("the account that signs transactions, selected by mnemonic, keyring or external");
}

function externalSchema() {
  return z.strictObject({
    command: z
      .array(z.string().min(1).max(4096))
      .min(1)
      .max(64)
      .describe("signing program and its arguments, which the relayer runs without a shell")
      .meta({ example: ["/usr/local/bin/signer", "--slot", "0"] }),
    deadline: durationField(10)
      .prefault("10s")
      .describe("maximum time for one response, including the program's startup"),
    concurrency: z
      .int()
      .min(1)
      .max(64)
      .default(4)
      .describe("maximum number of requests that the program processes at the same time"),
    environment: z
      .array(z.string().min(1).max(200))
      .max(64)
      .default([])
      .describe(
        "names of the environment variables that the relayer passes to the program, in addition to PATH, HOME and the locale",
      )
      .meta({ example: ["SOFTHSM2_CONF"] }),
  });
}

function addressField() {
  return z.string().refine(isAddress, {
    error: issueText("is not an address", "a bech32 address, e.g. neutron1…"),
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

type SignerConfig = z.output<ReturnType<typeof signerSchema>>;

/** Returns the key that a validated `signer` section selects. Reads no files. */
function signingKey({ mnemonic, keyring, external, hd_path: hdPath }: SignerConfig): SigningKey {
  if (external !== undefined) {
    const { command, deadline: deadlineMs, concurrency, environment } = external;
    return { kind: "external", command, deadlineMs, concurrency, environment };
  }
  if (keyring === undefined) {
    if (mnemonic === undefined) throw new Error("the signer section selects no key");
    return { kind: "mnemonic", mnemonic, hdPath };
  }
  const { home, key: name, backend, password } = keyring;
  return { kind: "keyring", home, name, backend, password };
}

/** Opens the signing account's key, and rejects with `ClientError` "bad-key" if the key is unusable. */
export function openSigner(signer: SignerConfig): Promise<Signer> {
  return createSigner(signingKey(signer), signer.prefix, signer.fee_granter);
}

/** Returns the account that pays the fees: the fee grant's granter or, if there is no grant, the signing account. */
export function payerOf(
  { fee_granter: granter }: Pick<SignerConfig, "fee_granter">,
  address: string,
): string {
  return granter === undefined || granter === "" ? address : granter;
}
