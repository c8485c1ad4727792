import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decryptArmor, encryptArmor } from "../../../src/cosmos/keyring/key-armor.ts";
import { addressBytes, localKey } from "../../../src/cosmos/keyring/key-record.ts";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

const argon2 = readFileSync(fixtureFile("keyring/armor/argon2.asc"), "utf8");
const bcrypt = readFileSync(fixtureFile("keyring/armor/bcrypt.asc"), "utf8");
const passphrase = new Secret("horse staple battery");

async function addressOf(armor: string, words: Secret): Promise<string> {
  const { publicKey } = localKey("x", await decryptArmor(armor, words));
  return publicKey === undefined ? "" : toHex(addressBytes(publicKey));
}

describe("an armor", () => {
  it("of the SDK opens, of the present version and of the old one", async () => {
    expect(await addressOf(argon2, passphrase)).toBe("1d19480dbdf192bbc6f35415a59983c0e6bfb65c");
    expect(await addressOf(bcrypt, new Secret("123456789"))).toBe("746b6a4424a328627f9d10020d53a82765d6642a");
  });

  it("does not open with another passphrase", async () => {
    await expect(decryptArmor(argon2, new Secret("horse staple batterY"))).rejects.toThrow(
      "wrong passphrase for the armor",
    );
    await expect(decryptArmor(bcrypt, new Secret("12345678"))).rejects.toThrow(
      "wrong passphrase for the armor",
    );
  });

  it("of ours has the SDK's lines and opens again", async () => {
    const key = await decryptArmor(argon2, passphrase);
    const armor = await encryptArmor(key, new Secret("another one"));
    expect(armor).toMatch(
      /^-----BEGIN TENDERMINT PRIVATE KEY-----\nkdf: argon2\nsalt: [0-9A-F]{32}\ntype: secp256k1\n\n[\w+/=\n]{64}\n[\w+/=]+\n=[\w+/]{4}\n-----END TENDERMINT PRIVATE KEY-----$/,
    );
    expect(await decryptArmor(armor, new Secret("another one"))).toEqual(key);
    expect(await encryptArmor(key, new Secret("another one"))).not.toBe(armor);
  });

  it.each([
    ["wrong checksum", argon2.replace("5Jr7", "5Jr8")],
    ["wrong passphrase", argon2.replace("5Jr7", "5Jr8").replace(/^=.*$/m, "")],
    ["the salt must be 16 bytes", argon2.replace("salt: 56", "salt: ")],
    ["(expected argon2 or bcrypt)", argon2.replace("kdf: argon2", "kdf: scrypt")],
    ["unsupported key derivation (none)", argon2.replace("kdf: argon2\n", "")],
    ["(expected secp256k1)", argon2.replace("type: secp256k1", "type: ed25519")],
    ["the content is not base64", argon2.replace("5Jr7", "!Jr7")],
    ["no empty line", argon2.replace("\n\n", "\n")],
    ["expected a -----BEGIN", argon2.replaceAll("PRIVATE", "PUBLIC")],
    ["longer than", argon2 + "x".repeat(20_000)],
  ])("that is damaged is refused: %s", async (text, armor) => {
    await expect(decryptArmor(armor, passphrase)).rejects.toThrow(text);
  });

  it("of any text ends with an error of ours", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
        const armor = `-----BEGIN TENDERMINT PRIVATE KEY-----\n${text}\n-----END TENDERMINT PRIVATE KEY-----`;
        await expect(decryptArmor(armor, passphrase)).rejects.toThrow("not an armor from keys export");
      }),
      { numRuns: 200 },
    );
  });
});
