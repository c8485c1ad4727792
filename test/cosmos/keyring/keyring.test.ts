import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { toHex, decodeBech32 } from "../../../src/platform/base/bytes.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { KeyringKey } from "../../../src/cosmos/keyring/keyring.ts";
import { createSigner } from "../../../src/cosmos/client/tx/signer.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

const home = fileURLToPath(fixtureFile("keyring"));
const password = new Secret("correct horse battery");
const relayer: KeyringKey = { home, name: "relayer", backend: "test", password: undefined };

/** Returns the address, or the text of the error. */
async function open(key: KeyringKey): Promise<string> {
  try {
    const { address } = await createSigner({ kind: "keyring", ...key }, "neutron");
    return toHex(decodeBech32(address).bytes);
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "bad-key") return error.message;
    throw error;
  }
}

function copyOfHome(): string {
  const copy = mkdtempSync(join(tmpdir(), "keyring-"));
  cpSync(home, copy, { recursive: true });
  return copy;
}

describe("a keyring of the SDK", () => {
  it("opens the keys of the backends test and file, by home and by folder", async () => {
    const first = "1d19480dbdf192bbc6f35415a59983c0e6bfb65c";
    expect(await open(relayer)).toBe(first);
    expect(await open({ ...relayer, home: join(home, "keyring-test") })).toBe(first);
    expect(await open({ ...relayer, backend: "file", password })).toBe(first);
    expect(await open({ ...relayer, name: "second key" })).toBe("1bd8fc24ebc1da9cf3e2ce8995c3a3658dae73c3");
    expect(await open({ ...relayer, name: "second key", backend: "file", password })).toBe(
      "522542b47212fea8ce9a60d6cc2ca63a8c0f14d1",
    );
  });

  it("signs as the mnemonic does", async () => {
    const words = new Secret(`${"abandon ".repeat(23)}art`);
    const document = {
      bodyBytes: Uint8Array.of(1),
      authInfoBytes: Uint8Array.of(2),
      chainId: "a-1",
      accountNumber: 3n,
    };
    const fromKeyring = await createSigner({ kind: "keyring", ...relayer }, "neutron");
    const fromWords = await createSigner({ kind: "mnemonic", mnemonic: words }, "neutron");
    expect(await fromKeyring.sign(document)).toEqual(await fromWords.sign(document));
  });

  it("says what is wrong and what there is", async () => {
    expect(await open({ ...relayer, name: "relayr" })).toMatch(
      /keyring-test has no key relayr; it has relayer, second key, watch only/,
    );
    expect(await open({ ...relayer, home: "/nowhere" })).toMatch(/\/nowhere\/keyring-test has no keys/);
    expect(await open({ ...relayer, name: "../keyring-file/relayer" })).toMatch(
      /has no key \.\.\/keyring-file\/relayer/,
    );
    expect(await open({ ...relayer, backend: "file" })).toContain("the file backend needs a password");
    expect(await open({ ...relayer, backend: "file", password: new Secret("wrong") })).toContain(
      "wrong password for relayer",
    );
    expect(await open({ ...relayer, name: "watch only" })).toContain("is an offline key");
  });

  it("says so when the file has another backend or is damaged, and never prints its content", async () => {
    const copy = copyOfHome();
    cpSync(join(copy, "keyring-file", "relayer.info"), join(copy, "keyring-test", "other.info"));
    expect(await open({ ...relayer, home: copy, name: "other" })).toContain(
      "does not belong to the test backend",
    );
    const file = join(copy, "keyring-test", "relayer.info");
    const token = readFileSync(file, "utf8");
    const changed = (index: number): string =>
      token
        .split(".")
        .map((part, at) => (at === index ? `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}` : part))
        .join(".");
    for (const [content, problem] of [
      [changed(1), "cannot decrypt it"],
      [changed(3), "cannot decrypt it"],
      [changed(4), "cannot decrypt it"],
      [changed(0), "not encrypted with"],
      ["seed words in a text file", "not a compact JWE"],
      ["x".repeat(70_000), "exceeds"],
    ] as const) {
      writeFileSync(file, content);
      const text = await open({ ...relayer, home: copy });
      expect(text, problem).toContain(problem);
      expect(text).not.toContain("seed words");
    }
  });

  it.each(["2000000000", "0", "-1", "1.5", '"8192"'])(
    "does not open a file that asks for %s rounds",
    async (rounds) => {
      const copy = copyOfHome();
      const file = join(copy, "keyring-test", "relayer.info");
      const [header = "", ...others] = readFileSync(file, "utf8").split(".");
      const json = Buffer.from(header, "base64url").toString("utf8");
      const other = json.replace(/"p2c":\d+/, `"p2c":${rounds}`);
      expect(other).not.toBe(json);
      writeFileSync(file, [Buffer.from(other).toString("base64url"), ...others].join("."));
      expect(await open({ ...relayer, home: copy })).toContain("no valid p2s and p2c");
    },
  );
});
