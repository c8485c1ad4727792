import { createCipheriv, createDecipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import { concat, utf8 } from "../../platform/base/bytes.ts";
import { isRecord, parseJson } from "../../platform/base/json.ts";

const ALGORITHM = "PBES2-HS256+A128KW";
const ENCRYPTION = "A256GCM";

/** Number of PBKDF2 iterations that the SDK uses when writing. */
const ITERATIONS = 8_192;
/** Maximum number of PBKDF2 iterations accepted when opening a file. More would block the process. */
const MAX_ITERATIONS = 2_000_000;
const MAX_TOKEN_CHARACTERS = 65_536;

/** RFC 3394, 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);

/**
 * Encrypts bytes with a password as a compact JWE, using PBES2-HS256+A128KW with A256GCM (RFC 7518, 4.8 and 5.3): the file format
 * of an SDK keyring. `created` is the time in the header, which is never read.
 */
export function encryptJwe(bytes: Uint8Array, password: string, created: string): string {
  const [salt, content, iv] = [randomBytes(12), randomBytes(32), randomBytes(12)];
  const fields = { alg: ALGORITHM, created, enc: ENCRYPTION, p2c: ITERATIONS, p2s: toUrl(salt) };
  const header = toUrl(utf8(JSON.stringify(fields)));
  const wrap = createCipheriv("id-aes128-wrap", wrappingKey(password, salt, ITERATIONS), WRAP_IV);
  const key = Buffer.concat([wrap.update(content), wrap.final()]);
  const cipher = createCipheriv("aes-256-gcm", content, iv).setAAD(utf8(header));
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return [header, ...[key, iv, text, cipher.getAuthTag()].map(toUrl)].join(".");
}

/** Decrypts a JWE of this kind. Returns undefined if the password is wrong or the token was changed. Throws for other formats. */
export function decryptJwe(token: string, password: string): Uint8Array | undefined {
  const parts = token.trim().split(".");
  const [header = "", key = "", iv = "", text = "", tag = ""] = parts;
  if (parts.length !== 5 || token.length > MAX_TOKEN_CHARACTERS) throw new Error("it is not a compact JWE");
  const { salt, iterations } = readHeader(header);
  try {
    const unwrap = createDecipheriv("id-aes128-wrap", wrappingKey(password, salt, iterations), WRAP_IV);
    const content = Buffer.concat([unwrap.update(fromUrl(key)), unwrap.final()]);
    const decipher = createDecipheriv("aes-256-gcm", content, fromUrl(iv), { authTagLength: 16 });
    decipher.setAAD(utf8(header)).setAuthTag(fromUrl(tag));
    return Buffer.concat([decipher.update(fromUrl(text)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** RFC 7518, 4.8.1.1: PBKDF2 over the algorithm's name, a zero byte, and the header's salt. */
function wrappingKey(password: string, salt: Uint8Array, iterations: number): Buffer {
  const input = concat(utf8(ALGORITHM), Uint8Array.of(0), salt);
  return pbkdf2Sync(password, input, iterations, 16, "sha256");
}

function readHeader(part: string): { readonly salt: Uint8Array; readonly iterations: number } {
  const header = parseJson(fromUrl(part).toString("utf8"));
  if (!isRecord(header) || header["alg"] !== ALGORITHM || header["enc"] !== ENCRYPTION)
    throw new Error(`it is not encrypted with ${ALGORITHM} and ${ENCRYPTION}`);
  const { p2s: salt, p2c: iterations } = header;
  const isCount = typeof iterations === "number" && Number.isInteger(iterations) && iterations >= 1;
  if (typeof salt !== "string" || !isCount || iterations > MAX_ITERATIONS)
    throw new Error("its header has no usable p2s and p2c");
  return { salt: fromUrl(salt), iterations };
}

function toUrl(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

function fromUrl(text: string): Buffer {
  return Buffer.from(text, "base64url");
}
