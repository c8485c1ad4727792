import { createPublicKey } from "node:crypto";
import { basename } from "node:path";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concat, encodeBech32, fromBase64, sha256, toBase64 } from "../../../platform/base/bytes.ts";
import { SignDoc } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { addressBytes } from "../../keyring/key-record.ts";
import { ClientError } from "../errors.ts";
import { connectSigner, problemText, type SignerConnection, type SignerProgram } from "./signer-program.ts";

/** Content of a `SignDoc` for SIGN_MODE_DIRECT. */
export interface SignDocument {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
  readonly chainId: string;
  readonly accountNumber: bigint;
}

/** An account whose private key is held by an external program. */
interface ExternalAccount {
  /** bech32 */
  readonly address: string;
  /** compressed, 33 bytes */
  readonly publicKey: Uint8Array;
  /** Returns r and s, 64 bytes, verified and with a low s. */
  readonly sign: (document: SignDocument) => Promise<Uint8Array>;
}

/**
 * Opens an account in a signer program (docs/operations.md, "Keys in an HSM"). Asks for the account's public key once. Throws
 * `ClientError`: "signer" if the program fails, "bad-key" if the account does not exist or its key has another type.
 */
export async function openExternalAccount(
  program: SignerProgram,
  prefix: string,
  connection: SignerConnection = connectSigner(program),
): Promise<ExternalAccount> {
  const name = basename(program.command[0] ?? "");
  const publicKey = decodePublicKey(
    await askFor(connection, { type: "public_key" }, "public_key", name),
    name,
  );
  return {
    address: encodeBech32(prefix, addressBytes(publicKey)),
    publicKey,
    sign: async (document) => {
      const bytes = SignDoc.encode({ ...document }).finish();
      const digest = sha256(bytes);
      const request = {
        type: "sign",
        chain_id: document.chainId,
        public_key: toBase64(publicKey),
        sign_bytes: toBase64(bytes),
        digest: toBase64(digest),
      };
      const signature = lowSignature(await askFor(connection, request, "signature", name), name);
      if (secp256k1.verify(signature, digest, publicKey, { prehash: false })) return signature;
      throw badSigner(name, "returned a signature that does not match its public key");
    },
  };
}

/** Sends a request and returns the bytes in a field of the response. */
async function askFor(
  connection: SignerConnection,
  request: Readonly<Record<string, string>>,
  field: string,
  name: string,
): Promise<Uint8Array> {
  const response = await connection.ask(request);
  const { error, [field]: text } = response;
  if (typeof error === "string")
    throw badSigner(name, `refused to respond to ${request["type"]}: ${problemText(error)}`);
  try {
    if (typeof text === "string" && text !== "") return fromBase64(text);
  } catch {
    // The error below reports it.
  }
  throw badSigner(name, `returned no "${field}" in base64`);
}

/** Accepts a compressed or uncompressed point, or a SubjectPublicKeyInfo in DER. */
function decodePublicKey(bytes: Uint8Array, name: string): Uint8Array {
  try {
    const point = bytes.length === 33 || bytes.length === 65 ? bytes : pointOf(bytes);
    return secp256k1.Point.fromBytes(point).toBytes(true);
  } catch {
    throw new ClientError(
      { code: "bad-key", kind: "external" },
      `the signer program ${name} returned a public key that is not a secp256k1 key: 33 or 65 bytes, or DER, were expected`,
    );
  }
}

function pointOf(der: Uint8Array): Uint8Array {
  const key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  const { crv, x = "", y = "" } = key.export({ format: "jwk" });
  if (crv !== "secp256k1") throw new Error("another curve");
  return concat(Uint8Array.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url"));
}

/** Accepts r and s, or ASN.1 DER. Both s and n − s are valid, but chains accept only the lower one. */
function lowSignature(bytes: Uint8Array, name: string): Uint8Array {
  const { Signature, Point } = secp256k1;
  try {
    const signature = Signature.fromBytes(bytes, bytes.length === 64 ? "compact" : "der");
    const { r, s } = signature;
    const low = signature.hasHighS() ? Point.CURVE().n - s : s;
    return new Signature(r, low).toBytes("compact");
  } catch {
    throw badSigner(name, "returned no signature: r and s (64 bytes), or ASN.1 DER, were expected");
  }
}

function badSigner(name: string, problem: string): ClientError {
  return new ClientError({ code: "signer", program: name }, `the signer program ${name} ${problem}`);
}
