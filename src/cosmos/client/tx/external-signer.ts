import { createPublicKey } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concat, encodeBech32, fromBase64, sha256, toBase64 } from "../../../platform/base/bytes.ts";
import { SignDoc } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { addressBytes } from "../../keyring/key-record.ts";
import { ClientError } from "../errors.ts";
import { SignerConnection, type SignerProgram } from "./signer-program.ts";

/**
 * Opens an account whose private key is held by a signer program (docs/operations.md, "Keys in an HSM"). Asks for the account's
 * public key once. Throws `ClientError`: "signer" if the program fails, "bad-key" if the account does not exist or its key has
 * another type.
 */
export async function openExternalAccount(program: SignerProgram, prefix: string) {
  const connection = new SignerConnection(program);
  const given = await askFor(connection, { type: "public_key" }, "public_key");
  const publicKey = decodePublicKey(given, connection.name);
  return {
    address: encodeBech32(prefix, addressBytes(publicKey)),
    publicKey,
    /** Returns r and s, verified and with a low s. */
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

/** Sends a request and returns the bytes in a field of the response. */
async function askFor(
  connection: SignerConnection,
  request: Readonly<Record<string, string>>,
  field: string,
): Promise<Uint8Array> {
  const { error, [field]: text } = await connection.ask(request);
  if (typeof error === "string")
    throw connection.error(`returned an error for ${request["type"]}: ${problemText(error)}`);
  try {
    if (typeof text === "string" && text !== "") return fromBase64(text);
  } catch {
    // The error below reports it.
  }
  throw connection.error(`returned no base64 "${field}"`);
}

const MAX_PROBLEM_CHARACTERS = 200;

/** Returns the text of a response's `error` field as one short line. */
function problemText(text: string): string {
  const plain = text.replaceAll(/[^\x21-\x7e]+/g, " ").trim();
  return plain.length > MAX_PROBLEM_CHARACTERS ? `${plain.slice(0, MAX_PROBLEM_CHARACTERS)}…` : plain;
}

/** Accepts a compressed or uncompressed point, or a SubjectPublicKeyInfo in DER. */
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

/** Accepts r and s, or ASN.1 DER. Both s and n − s are valid, but chains accept only the lower one. */
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
