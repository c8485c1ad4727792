import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";
import { createSigner } from "../../../src/cosmos/client/tx/signer.ts";
import { encodeBech32, fromHex } from "../../../src/platform/base/bytes.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import type { CliContext } from "../../../src/platform/cli/cli-context.ts";
import { type CliResult, runCommand } from "../../support/cli-chain.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

const WORDS = `${"abandon ".repeat(23)}art`;
const FIRST = "neutron1r5v5srda7xfth3hn2s26txvrcrntldjul5wedc";
/** The key "watch only" of the fixture; its derivation path ends with 7. */
const WATCHED = fromHex("522542b47212fea8ce9a60d6cc2ca63a8c0f14d1");
const sdkHome = fileURLToPath(fixtureFile("keyring"));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "keys-"));
});

interface Terminal {
  /** Lines of stdin. */
  readonly lines?: readonly string[];
  readonly isTerminal?: boolean;
  readonly in?: string;
}

async function keys(words: readonly string[], terminal: Terminal = {}): Promise<CliResult> {
  const input = Object.assign(new PassThrough(), { isTTY: terminal.isTerminal === true });
  input.end((terminal.lines ?? []).map((line) => `${line}\n`).join(""));
  const streams = { input, output: new PassThrough() };
  const create = (context: CliContext) =>
    createProgram({ ...context, streams, isTerminal: terminal.isTerminal === true });
  const needsHome = words[0] !== "parse" && words[0] !== "mnemonic";
  const where = needsHome ? ["--keyring-dir", terminal.in ?? home] : [];
  return runCommand(["keys", ...words, ...where], new AbortController().signal, create);
}

const recover = (name: string, ...more: readonly string[]): Promise<CliResult> =>
  keys(["add", name, "--recover", ...more], { lines: [WORDS] });
const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe("keys add", () => {
  it("recovers the account of a mnemonic, with the SDK's path and with others", async () => {
    expect((await recover("relayer")).out).toBe(
      `address: ${FIRST}\nname: relayer\npubkey: '{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"ArpmqEz3g5rxcqE+f8n15wCMuLyhWF+PO6+zA57aPB/d"}'\ntype: local`,
    );
    // The second keys of the SDK's keyrings in the fixture.
    const ninth = await recover("nine", "--index", "9");
    expect(ninth.out).toContain((await keys(["show", "second key", "-a"], { in: sdkHome })).out);
    const seventh = await recover("seven", "--hd-path", "m/44'/118'/0'/0/7", "--address-prefix", "cosmos");
    expect(seventh.out).toContain(encodeBech32("cosmos", WATCHED));
    expect((await recover("eth", "--coin-type", "60")).out).not.toContain(FIRST);
  });

  it("stores keys that only the user can read, and the relayer's signer finds them", async () => {
    await recover("relayer");
    const folder = join(home, "keyring-test");
    expect(modeOf(folder)).toBe(0o700);
    expect(readdirSync(folder)).toEqual(["1d19480dbdf192bbc6f35415a59983c0e6bfb65c.address", "relayer.info"]);
    for (const file of readdirSync(folder)) expect(modeOf(join(folder, file))).toBe(0o600);
    const key = { kind: "keyring", home, name: "relayer", backend: "test", password: undefined } as const;
    expect((await createSigner(key, "neutron")).address).toBe(FIRST);
  });

  it("prints a new mnemonic to a terminal only, which recovers the same key", async () => {
    const refused = await keys(["add", "relayer"]);
    expect(refused).toMatchObject({ exitCode: 2, out: "" });
    expect(refused.message).toContain("--backup-file");
    expect(existsSync(join(home, "keyring-test"))).toBe(false);
    const shown = await keys(["add", "relayer"], { isTerminal: true });
    const words = shown.out.trimEnd().split("\n").at(-1) ?? "";
    expect(words.split(" ")).toHaveLength(24);
    const address = /address: (\S+)/.exec(shown.out)?.[1] ?? "";
    expect((await keys(["add", "again", "--recover", "--dry-run"], { lines: [words] })).out).toContain(
      address,
    );
    for (const words2 of [["list"], ["show", "relayer"], ["list", "--json"]])
      expect((await keys(words2, { isTerminal: true })).out).not.toContain(words);
    expect(
      (await keys(["add", "other", "--recover"], { lines: [WORDS], isTerminal: true })).out,
    ).not.toContain("abandon");
  });

  it("writes the mnemonic into a file of its own, or nowhere", async () => {
    const file = join(home, "words");
    expect((await keys(["add", "relayer", "--backup-file", file])).out).toContain("name: relayer");
    expect(modeOf(file)).toBe(0o600);
    const again = await keys(["add", "again", "--source", file, "--dry-run"]);
    expect(again.out).toContain((await keys(["show", "relayer", "-a"])).out);
    const taken = await keys(["add", "other", "--backup-file", file]);
    expect(taken.message).toContain("EEXIST");
    const second = join(home, "second");
    const sameName = await keys(["add", "relayer", "--backup-file", second]);
    expect(sameName.message).toContain("already has a key relayer");
    expect(existsSync(second)).toBe(false);
    expect((await keys(["add", "silent", "--no-backup"])).out.split("\n")).toHaveLength(4);
    expect((await keys(["list", "-n"])).out).toBe("relayer\nsilent");
  });

  it("stores nothing in a dry run, and in memory", async () => {
    expect((await recover("relayer", "--dry-run")).out).toContain(FIRST);
    expect((await recover("relayer", "--keyring-backend", "memory")).out).toContain(FIRST);
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ["not an English BIP-39 mnemonic", ["a"], [WORDS.replace("art", "abandon")]],
    ["the input ended before: Mnemonic", ["a"], []],
    ["is not a valid name", [" a"], [WORDS]],
    ["expected a path, e.g.", ["a", "--hd-path", "44/118"], [WORDS]],
    ["expected an integer from 0 to 2147483647", ["a", "--account", "2147483648"], [WORDS]],
    ["Allowed choices are secp256k1", ["a", "--algo", "ed25519"], [WORDS]],
    ["Allowed choices are test, file, memory", ["a", "--keyring-backend", "os"], [WORDS]],
  ])("refuses what it cannot use: %s", async (text, words, lines) => {
    const { message = "", usage, exitCode } = await keys(["add", "--recover", ...words], { lines });
    expect(message + usage).toContain(text);
    expect(message + usage).not.toContain("abandon");
    expect(exitCode).not.toBe(0);
    expect(readdirSync(home)).toEqual([]);
  });

  it("has each name and each key once", async () => {
    await recover("relayer");
    expect((await recover("relayer", "--index", "1")).message).toContain("already has a key relayer");
    expect((await recover("other")).message).toContain("already has this key: relayer");
    expect((await recover("other", "--index", "1")).exitCode).toBe(0);
  });
});

describe("a keyring with a password", () => {
  const file = ["--keyring-backend", "file"];

  it("asks for it, keeps its hash as the SDK does, and refuses another", async () => {
    const lines = ["correct horse", WORDS];
    expect((await keys(["add", "relayer", "--recover", ...file], { lines })).out).toContain(FIRST);
    expect(readFileSync(join(home, "keyring-file", "keyhash"), "utf8")).toMatch(/^\$2a\$10\$/);
    expect(modeOf(join(home, "keyring-file", "keyhash"))).toBe(0o600);
    expect((await keys(["show", "relayer", "-a", ...file], { lines: ["correct horse"] })).out).toBe(FIRST);
    const wrong = await keys(["show", "relayer", "-a", ...file], { lines: ["wrong horse"] });
    expect(wrong).toMatchObject({ exitCode: 78, out: "" });
    expect(wrong.message).toContain("wrong password for");
    const second = await keys(["add", "b", "--recover", "--index", "1", ...file], {
      lines: ["wrong horse", WORDS],
    });
    expect(second.exitCode).toBe(78);
    expect(readdirSync(join(home, "keyring-file"))).not.toContain("b.info");
  });

  it("takes it from a file, and no short one", async () => {
    const secret = join(home, "password");
    writeFileSync(secret, "short");
    const refused = await recover("relayer", ...file, "--keyring-password-file", secret);
    expect(refused.message).toContain("at least 8 characters");
    writeFileSync(secret, "correct horse\n");
    await recover("relayer", ...file, "--keyring-password-file", secret);
    const password = new Secret("correct horse");
    const key = { kind: "keyring", home, name: "relayer", backend: "file", password } as const;
    expect((await createSigner(key, "neutron")).address).toBe(FIRST);
  });

  it("of the SDK opens", async () => {
    const listed = await keys(["list", "--json", ...file], { in: sdkHome, lines: ["correct horse battery"] });
    expect(JSON.parse(listed.out)).toMatchObject([
      { name: "relayer", address: FIRST },
      { name: "second key" },
    ]);
  });
});

describe("keys list, show and delete", () => {
  it("read a keyring of the SDK with keys of all kinds", async () => {
    const listed = await keys(["list", "-o", "json"], { in: sdkHome });
    expect(JSON.parse(listed.out)).toMatchObject([
      { name: "relayer", type: "local", address: FIRST },
      { name: "second key", type: "local" },
      { name: "watch only", type: "offline", address: encodeBech32("neutron", WATCHED) },
    ]);
  });

  it("find a key by name and address, and print parts of it", async () => {
    await recover("relayer");
    expect((await keys(["show", FIRST, "-a"])).out).toBe(FIRST);
    expect((await keys(["show", "relayer", "-a", "--bech", "val"])).out).toMatch(/^neutronvaloper1/);
    expect(JSON.parse((await keys(["show", "relayer", "-p"])).out)).toMatchObject({
      "@type": "/cosmos.crypto.secp256k1.PubKey",
    });
    const missing = await keys(["show", "relayr"]);
    expect(missing).toMatchObject({ exitCode: 78 });
    expect(missing.message).toContain("has no key relayr; it has relayer");
    expect((await keys(["show", "relayer", "-a", "-p"])).exitCode).toBe(2);
  });

  it("ask before they delete", async () => {
    await recover("a");
    await recover("b", "--index", "1");
    expect((await keys(["delete", "a"], { lines: ["y"] })).message).toContain("nothing was deleted");
    expect((await keys(["delete", "a"], { lines: ["n"], isTerminal: true })).message).toContain(
      "nothing was deleted",
    );
    expect((await keys(["delete", "a", "missing", "-y"])).message).toContain("has no key missing");
    expect((await keys(["list", "-n"])).out).toBe("a\nb");
    expect((await keys(["delete", "a"], { lines: ["y"], isTerminal: true })).out).toBe("deleted a");
    expect((await keys(["delete", "b", "--yes"])).out).toBe("deleted b");
    expect(readdirSync(join(home, "keyring-test"))).toEqual([]);
  });

  it("report a folder that cannot be read", async () => {
    writeFileSync(join(home, "keyring-test"), "");
    expect((await keys(["list"])).message).toContain("ENOTDIR");
  });
});

describe("keys export and import", () => {
  it("are each other's inverse", async () => {
    await recover("relayer");
    const { out: armor } = await keys(["export", "relayer"], { lines: ["horse staple"] });
    const file = join(home, "relayer.asc");
    writeFileSync(file, armor);
    await keys(["delete", "relayer", "-y"]);
    expect((await keys(["import", "again", file], { lines: ["horse stable"] })).message).toContain(
      "wrong passphrase",
    );
    expect((await keys(["import", "again", file], { lines: ["horse staple"] })).out).toContain(FIRST);
    expect((await keys(["export", "again"], { lines: ["short"] })).exitCode).toBe(2);
    expect(
      JSON.parse((await keys(["export", "again", "--json"], { lines: ["horse staple"] })).out),
    ).toHaveProperty("armor");
  });

  it("take an armor of the SDK, and refuse a key without a private part", async () => {
    const armor = fileURLToPath(fixtureFile("keyring/armor/argon2.asc"));
    expect((await keys(["import", "sdk", armor], { lines: ["horse staple battery"] })).out).toContain(FIRST);
    const watched = await keys(["export", "watch only"], { in: sdkHome, lines: ["horse staple"] });
    expect(watched.message).toContain("has no private key in this keyring");
  });
});

describe("keys parse and mnemonic", () => {
  it("convert addresses", async () => {
    expect((await keys(["parse", FIRST])).out).toBe(
      "bytes: 1D19480DBDF192BBC6F35415A59983C0E6BFB65C\nhuman: neutron",
    );
    expect((await keys(["parse", "1d19480dbdf192bbc6f35415a59983c0e6bfb65c"])).out).toContain(`- ${FIRST}\n`);
    expect((await keys(["parse", "neutron1x"])).message).toContain("expected hex or bech32, got");
  });

  it("create words for a terminal or a file", async () => {
    expect((await keys(["mnemonic"])).exitCode).toBe(2);
    expect((await keys(["mnemonic"], { isTerminal: true })).out.split(" ")).toHaveLength(24);
    const file = join(home, "words");
    expect((await keys(["mnemonic", "--backup-file", file])).out).toBe(`written to ${file}`);
    expect(modeOf(file)).toBe(0o600);
  });
});
