import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { concat, utf8 } from "../../../platform/base/bytes.ts";
import { isRecord } from "../../../platform/base/json.ts";

/** PBKDF2 iterations of a file that is still opened. The SDK writes 8,192; a larger number would block the process. */
const MAX_ITERATIONS = 2_000_000;
const MAX_TOKEN_CHARACTERS = 65_536;

/**
 * Decrypts a compact JWE of PBES2-HS256+A128KW with A256GCM (RFC 7518, 4.8 and 5.3), the format of the files of an SDK
 * keyring. Returns undefined for a wrong password and for a token that was changed. Throws for another format.
 */
export function decryptJwe(token: string, password: string): Uint8Array | undefined {
  const parts = token.trim().split(".");
  const [header = "", key = "", iv = "", text = "", tag = ""] = parts;
  if (parts.length !== 5 || token.length > MAX_TOKEN_CHARACTERS) throw new Error("it is not a compact JWE");
  const { salt, iterations } = readHeader(header);
  try {
    const wrapping = pbkdf2Sync(password, saltOf(salt), iterations, 16, "sha256");
    const unwrap = createDecipheriv("id-aes128-wrap", wrapping, WRAP_IV);
    const content = Buffer.concat([unwrap.update(fromUrl(key)), unwrap.final()]);
    const decipher = createDecipheriv("aes-256-gcm", content, fromUrl(iv), { authTagLength: 16 });
    decipher.setAAD(utf8(header)).setAuthTag(fromUrl(tag));
    return Buffer.concat([decipher.update(fromUrl(text)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const ALGORITHM = "PBES2-HS256+A128KW";

/** RFC 3394, 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);

/** RFC 7518, 4.8.1.1: the name of the algorithm, a zero byte, and the salt of the header. */
function saltOf(salt: Uint8Array): Uint8Array {
  return concat(utf8(ALGORITHM), Uint8Array.of(0), salt);
}

function readHeader(part: string): { readonly salt: Uint8Array; readonly iterations: number } {
  const header: unknown = parseJson(fromUrl(part).toString("utf8"));
  if (!isRecord(header) || header["alg"] !== ALGORITHM || header["enc"] !== "A256GCM")
    throw new Error(`it is not encrypted with ${ALGORITHM} and A256GCM`);
  const { p2s: salt, p2c: iterations } = header;
  const isCount = typeof iterations === "number" && Number.isInteger(iterations) && iterations >= 1;
  if (typeof salt !== "string" || !isCount || iterations > MAX_ITERATIONS)
    throw new Error("its header has no usable p2s and p2c");
  return { salt: fromUrl(salt), iterations };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fromUrl(text: string): Buffer {
  return Buffer.from(text, "base64url");
}
