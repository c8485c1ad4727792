import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../arch/source-files.ts";

const SCRIPT = "src/platform/process/build-if-needed.mjs";
const clone = mkdtempSync(join(tmpdir(), "relaywatch-build-"));
const at = (path: string): string => join(clone, path);
const LONG_AGO = new Date("2026-01-01");

/** Runs the script, and returns how many builds there were until then. */
function run(environment: Readonly<Record<string, string>> = {}): number {
  const { PATH } = process.env;
  execFileSync(process.execPath, [SCRIPT], { cwd: clone, env: { PATH, ...environment } });
  return readFileSync(at("dist/builds"), "utf8").length;
}

/** A clone whose build only counts. */
beforeAll(() => {
  for (const folder of ["src/platform/process", "src/relayer", "daemons", "dist", ".git/logs"])
    mkdirSync(at(folder), { recursive: true });
  cpSync(join(ROOT, SCRIPT), at(SCRIPT));
  writeFileSync(
    at("count.mjs"),
    'import { appendFileSync } from "node:fs";\nappendFileSync("dist/builds", "x");\n',
  );
  writeFileSync(at("package.json"), JSON.stringify({ scripts: { build: "node count.mjs" } }));
  writeFileSync(at("src/relayer/engine.ts"), "");
  writeFileSync(at(".git/logs/HEAD"), "");
  for (const path of ["src/relayer/engine.ts", "src/relayer", "src/platform/process", "src/platform", "src"])
    utimesSync(at(path), LONG_AGO, LONG_AGO);
});
afterAll(() => rmSync(clone, { recursive: true }));

describe("the build before npm start", () => {
  it("is left out while no source has changed since it began", () => {
    expect(run()).toBe(1);
    expect(run()).toBe(1);
  });

  it("follows a change, a new file, a removed one, a commit, and a named commit", () => {
    const before = run();
    writeFileSync(at("src/relayer/engine.ts"), "changed");
    expect([run(), run()]).toEqual([before + 1, before + 1]);
    writeFileSync(at("daemons/new.ts"), "");
    // An old time, as of a copied file: the folder has changed.
    utimesSync(at("daemons/new.ts"), LONG_AGO, LONG_AGO);
    expect([run(), run()]).toEqual([before + 2, before + 2]);
    rmSync(at("daemons/new.ts"));
    expect([run(), run()]).toEqual([before + 3, before + 3]);
    writeFileSync(at(".git/logs/HEAD"), "a commit");
    expect([run(), run()]).toEqual([before + 4, before + 4]);
    expect(run({ RELAYWATCH_COMMIT: "abc" })).toBe(before + 5);
  });

  it("is repeated after it failed, and after a change while it ran", () => {
    const before = run();
    const future = new Date(Date.now() + 60_000);
    utimesSync(at("src/relayer/engine.ts"), future, future);
    expect([run(), run()]).toEqual([before + 1, before + 2]);
    rmSync(at("dist/.built"));
    const script = readFileSync(at("package.json"), "utf8");
    writeFileSync(at("package.json"), script.replace("node count.mjs", "exit 1"));
    expect(() => run()).toThrow();
    expect(() => run()).toThrow();
  });
});
