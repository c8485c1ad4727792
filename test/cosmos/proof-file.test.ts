import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { verifyProofFile, isAsRecorded } from "../support/proof-file.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-proofs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** Writes an altered copy of a fixture and returns its path. */
function altered(name: string, change: (text: string) => string): string {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.json`);
  const before = readFileSync(fixture(name), "utf8");
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
  return path;
}

describe("verifyProofFile", () => {
  it.each([
    ["proofs/kv.json", 51, 42],
    ["proofs/tx.json", 4, 4],
    ["light-client/test-1.json", 33, undefined],
    ["light-client/test-2.json", 113, undefined],
  ])("%s: verifies every case as recorded", (name, count, valid) => {
    const results = verifyProofFile(fixture(name));
    expect(results).toHaveLength(count);
    expect(results.filter((result) => !isAsRecorded(result))).toEqual([]);
    if (valid !== undefined) expect(results.filter((result) => result.valid)).toHaveLength(valid);
  });

  it.each([
    [
      "another app hash",
      "proofs/kv.json",
      (text: string) => text.replace(/"app_hash": ?"./, '"app_hash": "0'),
    ],
    ["another value", "proofs/kv.json", (text: string) => text.replace('"value": "OTk5', '"value": "OTk4')],
    [
      "another gas figure of the transaction",
      "proofs/tx.json",
      (text: string) => text.replace(/"gas_used": ?"1/, '"gas_used": "2'),
    ],
    [
      "another data hash",
      "proofs/tx.json",
      (text: string) => text.replace(/"data_hash": ?"./, '"data_hash": "0'),
    ],
    [
      "another signature time",
      "light-client/test-1.json",
      (text: string) => text.replace(/("timestamp": ?"[^"]*?)\d(\d*Z")/g, "$10$2"),
    ],
    [
      "another recorded result",
      "light-client/test-2.json",
      (text: string) => text.replace(/"valid": ?true/, '"valid": false'),
    ],
  ])("notices %s", (_what, name, change) => {
    expect(verifyProofFile(altered(name, change)).some((result) => !isAsRecorded(result))).toBe(true);
  });

  it("rejects other files with a message that says what was expected", () => {
    expect(() => verifyProofFile(join(folder, "nothing.json"))).toThrow("cannot be read as JSON");
    expect(() => verifyProofFile(fixture("rest.json"))).toThrow("has neither recorded proofs");
    expect(() => verifyProofFile(altered("proofs/kv.json", () => "[]"))).toThrow(
      "has neither recorded proofs",
    );
    expect(() => verifyProofFile(altered("proofs/kv.json", () => "{"))).toThrow("cannot be read as JSON");
  });
});
