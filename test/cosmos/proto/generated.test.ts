import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const proto = fileURLToPath(new URL("../../../src/cosmos/proto", import.meta.url));
const fresh = mkdtempSync(join(tmpdir(), "generated-"));

beforeAll(() => {
  execFileSync(process.execPath, ["tools/install.mjs", "proto"]);
  execFileSync(process.execPath, [join(proto, "generate.mjs"), fresh], { stdio: "pipe" });
}, 300_000);

afterAll(() => {
  rmSync(fresh, { recursive: true, force: true });
});

describe("src/cosmos/proto/gen", () => {
  it("is up to date with the definitions and the imports of the program", () => {
    const files = listFiles(fresh);
    expect(listFiles(join(proto, "gen"))).toEqual(files);
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) {
      expect(
        readFileSync(join(proto, "gen", file), "utf8") === readFileSync(join(fresh, file), "utf8"),
        file,
      ).toBe(true);
    }
  });
});

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .toSorted();
}
