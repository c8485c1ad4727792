import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { argon2id, bcrypt } from "hash-wasm";
import {
  concat,
  equalBytes,
  fromBase64,
  fromHex,
  sha256,
  toBase64,
  upperHex,
  utf8,
} from "../../platform/base/bytes.ts";
import { attempt } from "../../platform/base/errors.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { badKeyring } from "../client-error.ts";

const BLOCK = "TENDERMINT PRIVATE KEY";
const MAX_ARMOR_CHARACTERS = 16_384;
const LINE_CHARACTERS = 64;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const XSALSA_NONCE_BYTES = 24;
/** All-zero nonce, as in the SDK. A constant nonce is safe, because each armor has a different salt and therefore a different key. */
const NONCE = new Uint8Array(12);
/** Bcrypt cost factor of the older format (the SDK's `BcryptSecurityParameter`). */
const BCRYPT_COST = 12;
/** Amino prefix of `tendermint/PrivKeySecp256k1`, followed by the key's length. */
const AMINO_PREFIX = Uint8Array.of(0xe1, 0xb0, 0xf7, 0x9b, 32);

/** Encrypts a 32-byte secp256k1 key like `keys export` in SDK 0.50+, with Argon2id, ChaCha20-Poly1305 and ASCII armor. */
export async function encryptArmor(privateKey: Uint8Array, passphrase: Secret): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const cipher = createCipheriv("chacha20-poly1305", await argonKey(passphrase, salt), NONCE, {
    authTagLength: TAG_BYTES,
  });
  const text = Buffer.concat([
    cipher.update(concat(AMINO_PREFIX, privateKey)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return armorText({ kdf: "argon2", salt: upperHex(salt), type: "secp256k1" }, text);
}

/**
 * Decrypts armor written by `keys export` in SDK 0.50 and newer, or in older releases (bcrypt and XSalsa20-Poly1305). Returns the
 * 32-byte secp256k1 private key. Throws `bad-key` if the passphrase or the format is wrong. The error contains no part of the key.
 */
export async function decryptArmor(armor: string, passphrase: Secret): Promise<Uint8Array> {
  const { headers, data } = parseArmor(armor);
  const type = headers.get("type") ?? "secp256k1";
  if (type !== "secp256k1") throw badArmor(`unsupported key type ${type} (expected secp256k1)`);
  const salt = saltOf(headers.get("salt"));
  const plain = await decrypt(headers.get("kdf"), data, passphrase, salt);
  if (plain === undefined) throw badKeyring("wrong passphrase for the armor");
  const key = plain.subarray(AMINO_PREFIX.length);
  if (key.length === 32 && equalBytes(plain.subarray(0, AMINO_PREFIX.length), AMINO_PREFIX)) return key;
  throw badArmor("the content is not a secp256k1 private key");
}

/** Decrypts an armor's data, or returns undefined if the passphrase is wrong. */
async function decrypt(
  kdf: string | undefined,
  data: Uint8Array,
  passphrase: Secret,
  salt: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (kdf === "argon2") {
    const key = await argonKey(passphrase, salt);
    return attempt(() => openChacha(data, key));
  }
  if (kdf === "bcrypt") {
    const key = await bcryptKey(passphrase, salt);
    return attempt(() => openXsalsa(data, key));
  }
  throw badArmor(`unsupported key derivation ${kdf ?? "(none)"} (expected argon2 or bcrypt)`);
}

/** Derives the encryption key like the SDK's `argon2.IDKey`: one pass over 64 MiB with four threads. */
function argonKey(passphrase: Secret, salt: Uint8Array): Promise<Uint8Array> {
  const sizes = { iterations: 1, memorySize: 65_536, parallelism: 4, hashLength: 32 };
  return argon2id({ password: passphrase.reveal(), salt, ...sizes, outputType: "binary" });
}

/** Derives the encryption key as older SDK releases do: the SHA-256 of the bcrypt hash's text. */
async function bcryptKey(passphrase: Secret, salt: Uint8Array): Promise<Uint8Array> {
  const password = passphrase.reveal();
  return sha256(utf8(await bcrypt({ password, salt, costFactor: BCRYPT_COST, outputType: "encoded" })));
}

/** Decrypts ChaCha20-Poly1305 data, and throws if the key is wrong. */
function openChacha(data: Uint8Array, key: Uint8Array): Uint8Array {
  const decipher = createDecipheriv("chacha20-poly1305", key, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(data.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]);
}

/** Decrypts XSalsa20-Poly1305 data, and throws if the key is wrong. */
function openXsalsa(data: Uint8Array, key: Uint8Array): Uint8Array {
  const nonce = data.subarray(0, XSALSA_NONCE_BYTES);
  return xsalsa20poly1305(key, nonce).decrypt(data.subarray(XSALSA_NONCE_BYTES));
}

function saltOf(text: string | undefined): Uint8Array {
  const salt = attempt(() => fromHex(text ?? ""));
  if (salt?.length === SALT_BYTES) return salt;
  throw badArmor(`the salt must be ${SALT_BYTES} bytes in hex`);
}

function armorText(headers: Readonly<Record<string, string>>, data: Uint8Array): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const body = toBase64(data).match(new RegExp(`.{1,${LINE_CHARACTERS}}`, "g")) ?? [];
  return [
    `-----BEGIN ${BLOCK}-----`,
    ...lines,
    "",
    ...body,
    `=${checksum(data)}`,
    `-----END ${BLOCK}-----`,
  ].join("\n");
}

interface Armor {
  readonly headers: ReadonlyMap<string, string>;
  readonly data: Uint8Array;
}

function parseArmor(text: string): Armor {
  if (text.length > MAX_ARMOR_CHARACTERS) throw badArmor(`longer than ${MAX_ARMOR_CHARACTERS} characters`);
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.trim());
  const [first, last] = [lines[0], lines.at(-1)];
  if (first !== `-----BEGIN ${BLOCK}-----` || last !== `-----END ${BLOCK}-----`)
    throw badArmor(`expected a -----BEGIN ${BLOCK}----- line at the start and its END line at the end`);
  const gap = lines.indexOf("");
  if (gap < 0) throw badArmor("no empty line between headers and content");
  const headers = lines.slice(1, gap).map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)] as const;
  });
  return { headers: new Map(headers), data: bodyOf(lines.slice(gap + 1, -1)) };
}

function bodyOf(lines: readonly string[]): Uint8Array {
  const isChecked = lines.at(-1)?.startsWith("=") === true;
  const text = (isChecked ? lines.slice(0, -1) : lines).join("");
  const data = decodeBody(text);
  if (isChecked && lines.at(-1) !== `=${checksum(data)}`)
    throw badArmor("wrong checksum: the armor was modified");
  return data;
}

function decodeBody(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw badArmor("the content is not base64");
  }
}

/** Returns the armor's checksum, which is the base64 of a CRC-24 (RFC 4880, 6.1). */
function checksum(data: Uint8Array): string {
  let crc = 0xb704ce;
  for (const byte of data) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb;
    }
  }
  return toBase64(Uint8Array.of((crc >> 16) & 0xff, (crc >> 8) & 0xff, crc & 0xff));
}

function badArmor(reason: string): Error {
  return badKeyring(`not an armor from keys export: ${reason}`);
}
