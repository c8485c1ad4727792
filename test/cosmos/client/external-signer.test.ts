import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { answerOf } from "../../../src/cosmos/client/answers.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { createSigner, type Signer } from "../../../src/cosmos/client/tx/signer.ts";
import { SignDoc } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { sha256 } from "../../../src/platform/base/bytes.ts";
import { Secret } from "../../../src/platform/base/secret.ts";

const program = fileURLToPath(new URL("../../support/client/signer-program.mjs", import.meta.url));

function documentOf(index: number): SignDoc {
  return {
    bodyBytes: Uint8Array.of(index),
    authInfoBytes: Uint8Array.of(2),
    chainId: "a-1",
    accountNumber: 3n,
  };
}

interface Given {
  readonly deadlineMs?: number;
  readonly concurrency?: number;
  readonly command?: readonly string[];
}

function open(behaviour: string, given: Given = {}): Promise<Signer> {
  const { deadlineMs = 20_000, concurrency = 4, command = [process.execPath, program, behaviour] } = given;
  const environment = ["TEST_SIGNER_STARTS", "TEST_SIGNER_KEY"];
  return createSigner({ kind: "external", command, deadlineMs, concurrency, environment }, "neutron");
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ClientError) return `${answerOf(error)}: ${error.message}`;
    throw error;
  }
  return "none";
}

/** Counts the starts of the program in the rest of the test. */
function countStarts(): () => number {
  const file = join(mkdtempSync(join(tmpdir(), "signer-")), "starts");
  vi.stubEnv("TEST_SIGNER_STARTS", file);
  return () => readFileSync(file, "utf8").trim().split("\n").length;
}

afterEach(() => vi.unstubAllEnvs());

describe("an external signer", () => {
  it.each(["good", "high-s", "der"])("signs as the key in this process does: %s", async (behaviour) => {
    const signer = await open(behaviour);
    const hex = Buffer.from(sha256(Buffer.from("test"))).toString("hex");
    const own = await createSigner({ kind: "private-key", hex: new Secret(hex) }, "neutron");
    expect([signer.address, signer.publicKey]).toEqual([own.address, own.publicKey]);
    for (let index = 0; index < 8; index++) {
      const signature = await signer.sign(documentOf(index));
      const digest = sha256(SignDoc.encode({ ...documentOf(index) }).finish());
      expect(secp256k1.verify(signature, digest, own.publicKey, { prehash: false, lowS: true })).toBe(true);
    }
  });

  it("gets several requests before it responds, in any order", async () => {
    const signer = await open("reversed");
    const signatures = await Promise.all([signer.sign(documentOf(1)), signer.sign(documentOf(2))]);
    expect(signatures.map((one) => one.length)).toEqual([64, 64]);
    expect(signatures[0]).not.toEqual(signatures[1]);
  });

  it("gets no more requests than its concurrency", async () => {
    const signer = await open("reversed", { concurrency: 1, deadlineMs: 4_000 });
    const both = [signer.sign(documentOf(1)), signer.sign(documentOf(2))].map(problemOf);
    expect(await Promise.all(both)).toEqual([
      expect.stringContaining("did not respond within 4000 ms"),
      expect.stringContaining("signer program"),
    ]);
  });

  it("may end after each response", async () => {
    const starts = countStarts();
    const signer = await open("one-shot");
    const signatures = await Promise.all([1, 2, 3].map((index) => signer.sign(documentOf(index))));
    expect(signatures).toHaveLength(3);
    expect(starts()).toBe(4);
  });

  it("is not used when its signature is of another key", async () => {
    const signer = await open("wrong-key");
    expect(await problemOf(signer.sign(documentOf(1)))).toMatch(
      /^not-now: the signer program .* returned a signature that does not match its public key$/,
    );
  });

  it.each([
    ["no-signature", "returned no valid signature: expected r and s"],
    ["refuses", "returned an error for sign: the limit of the day is reached"],
    ["crash", "ended with exit code 3"],
    ["garbage", "wrote a line that is not a JSON object"],
    ["endless", "wrote a line that is too long"],
  ])("that fails says how, and is tried again: %s", async (behaviour, problem) => {
    const starts = countStarts();
    const signer = await open(behaviour);
    const before = Date.now();
    for (const index of [1, 2])
      expect(await problemOf(signer.sign(documentOf(index)))).toMatch(new RegExp(`^not-now: .*${problem}`));
    const isRestarted = !["no-signature", "refuses"].includes(behaviour);
    expect(starts()).toBe(isRestarted ? 2 : 1);
    // The second start waits for the backoff: half a second, less up to a half of it.
    if (isRestarted) expect(Date.now() - before).toBeGreaterThan(240);
  });

  it("that does not respond is stopped at the deadline, and started again", async () => {
    const starts = countStarts();
    const signer = await open("silent", { deadlineMs: 1_000 });
    expect(await problemOf(signer.sign(documentOf(1)))).toContain("did not respond within 1000 ms");
    await problemOf(signer.sign(documentOf(2)));
    expect(starts()).toBe(2);
  });

  it("has no variables but the named ones", async () => {
    vi.stubEnv("RELAYER_MNEMONIC", "abandon");
    vi.stubEnv("TEST_SIGNER_KEY", "test");
    const problem = await problemOf((await open("variables")).sign(documentOf(1)));
    expect(problem).toContain("TEST_SIGNER_KEY");
    expect(problem).not.toContain("RELAYER_MNEMONIC");
  });

  it.each([
    ["final", "does not exist", { command: ["/nowhere/signer", "--pin", "1234"] }],
    ["final", "is not an executable file", { command: [program] }],
    ["not-now", "ended with exit code 0", { command: ["true"] }],
    ["not-now", "did not respond within 300 ms", { command: ["sleep", "5"], deadlineMs: 300 }],
  ])("that cannot be opened is an error of the class %s: %s", async (kind, problem, given) => {
    const text = await problemOf(open("good", given));
    expect(text).toMatch(new RegExp(`^${kind}: the signer program .* ${problem}$`));
    expect(text).not.toContain("1234");
    expect(text).not.toContain("/nowhere");
  });

  it("must have a key of secp256k1", async () => {
    expect(await problemOf(open("short-key"))).toMatch(/^final: .*public key that is not a secp256k1 key/);
  });
});
