import { createPublicKey } from "node:crypto";
import { DirectSecp256k1Wallet } from "@cosmjs/proto-signing";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concat, encodeBech32, fromBase64, fromHex, sha256, toBase64 } from "../../../platform/base/bytes.ts";
import { attempt } from "../../../platform/base/errors.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { PubKey } from "../../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import {
  AuthInfo,
  type Fee,
  SignDoc,
  type SignerInfo,
  TxBody,
  TxRaw,
} from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { TYPE_URL } from "../../proto/registry.ts";
import { DEFAULT_HD_PATH, deriveKey } from "../../keyring/derive-key.ts";
import { type KeyringKey, readKeyringKey } from "../../keyring/keyring.ts";
import { ClientError } from "../../client-error.ts";
import { SignerConnection, type SignerProgram } from "./signer-program.ts";
import type { WireMessage } from "./tx-types.ts";
import { addressBytes } from "../../keyring/key-record.ts";

export type SigningKey =
  /** A BIP-39 mnemonic and an HD path. Default path: m/44'/118'/0'/0/0. */
  | { readonly kind: "mnemonic"; readonly mnemonic: Secret; readonly hdPath?: string }
  /** A private key of 32 bytes in hex. */
  | { readonly kind: "private-key"; readonly hex: Secret }
  /** A key in an SDK keyring. */
  | ({ readonly kind: "keyring" } & KeyringKey)
  /** A key that another program manages. */
  | ({ readonly kind: "external" } & SignerProgram);

/** Signs transactions with one secp256k1 key. */
export interface Signer {
  /** The signing account's bech32 address. */
  readonly address: string;
  /** The compressed secp256k1 public key, 33 bytes. */
  readonly publicKey: Uint8Array;
  /** Address of the account that pays the fees through a fee grant, or empty if the signing account pays. */
  readonly feeGranter: string;
  /** Returns the signature, i.e. r and s (64 bytes in total). */
  readonly sign: (document: SignDoc) => Promise<Uint8Array>;
}

/**
 * Creates a signer. `prefix` is the bech32 prefix for the account's address. Throws a `ClientError` with the code `bad-key` if the
 * key is invalid, or `signer` if an external program fails. The error message contains no part of the key.
 */
export async function createSigner(key: SigningKey, prefix: string, feeGranter = ""): Promise<Signer> {
  if (key.kind === "external") return { ...(await openExternalAccount(key, prefix)), feeGranter };
  const opened = privateKey(key).then((bytes) => DirectSecp256k1Wallet.fromKey(bytes, prefix));
  const wallet = await opened.catch((error: unknown) => {
    // Replace any other error, because its message could contain part of the key.
    throw error instanceof ClientError ? error : badKey(key.kind);
  });
  const [account] = await wallet.getAccounts();
  if (account === undefined) throw badKey(key.kind);
  return {
    address: account.address,
    publicKey: account.pubkey,
    feeGranter,
    sign: async (document) => {
      const { signature } = await wallet.signDirect(account.address, document);
      return fromBase64(signature.signature);
    },
  };
}

async function privateKey(key: Exclude<SigningKey, { readonly kind: "external" }>): Promise<Uint8Array> {
  if (key.kind === "private-key") return fromHex(key.hex.reveal().trim());
  if (key.kind === "keyring") return readKeyringKey(key);
  // Derive the key only once, because CosmJS's HD wallet would derive the key again for every signature.
  return deriveKey(key.mnemonic.reveal(), key.hdPath ?? DEFAULT_HD_PATH);
}

function badKey(kind: string): ClientError {
  return new ClientError({ code: "bad-key", kind }, `the signing account's ${kind} cannot be used`);
}

/** Contents of a transaction without its signature. */
export interface TransactionDraft {
  readonly messages: readonly WireMessage[];
  readonly memo: string;
  /** Last height at which a block may include the transaction, or 0 if there is no limit. */
  readonly timeoutHeight: bigint;
  readonly gasLimit: bigint;
  readonly fee: { readonly denom: string; readonly amount: bigint };
  readonly sequence: bigint;
}

/** Signs a draft with SIGN_MODE_DIRECT. Returns the encoded transaction and its SHA-256. */
export async function signTransaction(
  draft: TransactionDraft,
  { chainId, accountNumber }: { readonly chainId: string; readonly accountNumber: bigint },
  signer: Signer,
): Promise<{ readonly bytes: Uint8Array; readonly hash: Uint8Array }> {
  const parts = encodeParts(draft, signer);
  const signature = await signer.sign({ ...parts, chainId, accountNumber });
  const bytes = TxRaw.encode({ ...parts, signatures: [signature] }).finish();
  return { bytes, hash: sha256(bytes) };
}

/** Encodes a transaction for simulation, without a fee. The signature is empty, because a simulation does not verify signatures. */
export function encodeForSimulation(
  draft: Pick<TransactionDraft, "messages" | "memo" | "sequence">,
  signer: Signer,
): Uint8Array {
  const noFee = { timeoutHeight: 0n, gasLimit: 0n, fee: { denom: "", amount: 0n } };
  const parts = encodeParts({ ...draft, ...noFee }, signer);
  return TxRaw.encode({ ...parts, signatures: [new Uint8Array(0)] }).finish();
}

/** Encodes a draft as a `Tx` without signers and signatures. */
export function encodeUnsigned(draft: TransactionDraft): Uint8Array {
  return TxRaw.encode({ ...encodeParts(draft, undefined), signatures: [] }).finish();
}

function encodeParts(
  { messages, memo, timeoutHeight, ...draft }: TransactionDraft,
  signer: Signer | undefined,
) {
  const body = { messages: [...messages], memo, timeoutHeight };
  return {
    bodyBytes: TxBody.encode({ ...body, extensionOptions: [], nonCriticalExtensionOptions: [] }).finish(),
    authInfoBytes: AuthInfo.encode({
      signerInfos: signer === undefined ? [] : [signerInfo(signer, draft.sequence)],
      fee: feeOf(draft, signer?.feeGranter ?? ""),
      tip: undefined,
    }).finish(),
  };
}

function signerInfo({ publicKey: key }: Signer, sequence: bigint): SignerInfo {
  return {
    publicKey: { typeUrl: TYPE_URL.secp256k1PubKey, value: PubKey.encode({ key }).finish() },
    modeInfo: { sum: { $case: "single", value: { mode: SignMode.SIGN_MODE_DIRECT } } },
    sequence,
  };
}

function feeOf({ gasLimit, fee }: Pick<TransactionDraft, "gasLimit" | "fee">, granter: string): Fee {
  const amount = fee.amount === 0n ? [] : [{ denom: fee.denom, amount: fee.amount.toString() }];
  return { amount, gasLimit, payer: "", granter };
}

/**
 * Opens an account whose private key is managed by a signer program (docs/operations.md, "Keys in an HSM"). The account's public
 * key is requested only once, here. Throws a `ClientError`: "signer" if the program fails, or "bad-key" if the account does not
 * exist or its key has another type.
 */
async function openExternalAccount(program: SignerProgram, prefix: string) {
  const connection = new SignerConnection(program);
  const given = await askFor(connection, { type: "public_key" }, "public_key");
  const publicKey = decodePublicKey(given, connection.name);
  return {
    address: encodeBech32(prefix, addressBytes(publicKey)),
    publicKey,
    /** Signs with the program, verifies the signature, and returns r and s (64 bytes, low s). */
    sign: async (document: SignDoc): Promise<Uint8Array> => {
      const bytes = SignDoc.encode(document).finish();
      const digest = sha256(bytes);
      const request = {
        type: "sign",
        chain_id: document.chainId,
        public_key: toBase64(publicKey),
        sign_bytes: toBase64(bytes),
        digest: toBase64(digest),
      };
      const signature = lowSignature(await askFor(connection, request, "signature"), connection);
      if (secp256k1.verify(signature, digest, publicKey, { prehash: false })) return signature;
      throw connection.error("returned a signature that does not match its public key");
    },
  };
}

/** Sends a request to the signer program and decodes the bytes in one field of the response. */
async function askFor(
  connection: SignerConnection,
  request: Readonly<Record<string, string>>,
  field: string,
): Promise<Uint8Array> {
  const { error, [field]: text } = await connection.ask(request);
  if (typeof error === "string")
    throw connection.error(`returned an error for ${request["type"]}: ${problemText(error)}`);
  const bytes = typeof text === "string" && text !== "" ? attempt(() => fromBase64(text)) : undefined;
  if (bytes !== undefined) return bytes;
  throw connection.error(`returned no base64 "${field}"`);
}

const MAX_PROBLEM_CHARACTERS = 200;

/** Returns the text of a response's `error` field as one short line. */
function problemText(text: string): string {
  const plain = text.replaceAll(/[^\x21-\x7e]+/g, " ").trim();
  return plain.length > MAX_PROBLEM_CHARACTERS ? `${plain.slice(0, MAX_PROBLEM_CHARACTERS)}…` : plain;
}

/** Converts a compressed or uncompressed point, or a SubjectPublicKeyInfo in DER, to a compressed public key. */
function decodePublicKey(bytes: Uint8Array, name: string): Uint8Array {
  try {
    const point = bytes.length === 33 || bytes.length === 65 ? bytes : pointOf(bytes);
    return secp256k1.Point.fromBytes(point).toBytes(true);
  } catch {
    throw new ClientError(
      { code: "bad-key", kind: "external" },
      `the signer program ${name} returned a public key that is not a secp256k1 key: expected 33 or 65 bytes, or DER`,
    );
  }
}

function pointOf(der: Uint8Array): Uint8Array {
  const key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  const { crv, x = "", y = "" } = key.export({ format: "jwk" });
  if (crv !== "secp256k1") throw new Error("another curve");
  return concat(Uint8Array.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url"));
}

/**
 * Converts a signature (r and s, or ASN.1 DER) to r and s with a low s. Both s and n − s are valid, but chains accept only the
 * lower value.
 */
function lowSignature(bytes: Uint8Array, connection: SignerConnection): Uint8Array {
  const { Signature, Point } = secp256k1;
  try {
    const signature = Signature.fromBytes(bytes, bytes.length === 64 ? "compact" : "der");
    const { r, s } = signature;
    const low = signature.hasHighS() ? Point.CURVE().n - s : s;
    return new Signature(r, low).toBytes("compact");
  } catch {
    throw connection.error("returned no valid signature: expected r and s (64 bytes), or ASN.1 DER");
  }
}
