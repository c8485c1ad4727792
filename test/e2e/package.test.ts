import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder = "";
let program = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-package-"));
  // The build of this run is packed as it is.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(
    execFileSync("npm", args, { encoding: "utf8" }),
  );
  execFileSync("tar", ["-xzf", join(folder, packed?.filename ?? ""), "-C", folder]);
  program = join(folder, "package");
  symlinkSync(resolve("node_modules"), join(program, "node_modules"));
  mkdirSync(join(folder, "empty"));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of the package in a folder without a repository and without a path to any other program. */
function run(name: string, ...args: readonly string[]): string {
  const manifest: { readonly bin: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(program, "package.json"), "utf8"),
  );
  const file = join(program, manifest.bin[name] ?? "");
  return execFileSync(process.execPath, [file, ...args], {
    cwd: join(folder, "empty"),
    env: {},
    encoding: "utf8",
  });
}

describe("the packed program", () => {
  it("says its version and the commit from which it was built, without git", () => {
    const { commit }: { readonly commit: string } = JSON.parse(readFileSync("dist/build.json", "utf8"));
    expect(commit).toMatch(/^[0-9a-f]{40}(?:-dirty)?$/);
    expect(run("relaywatch", "version")).toContain(`(commit ${commit}, node `);
    expect(JSON.parse(run("relaywatch", "version", "--json"))).toMatchObject({ commit });
    expect(run("neutron_query_relayer", "version")).toMatch(
      new RegExp(`^Version: \\d.*\\nCommit: ${commit}\\n$`),
    );
  });

  it("completes command lines in bash", () => {
    const main = join(program, "dist/program/relaywatch.js");
    const script = [
      `relaywatch() { "${process.execPath}" "${main}" "$@"; }`,
      "source <(relaywatch completion bash)",
      "COMP_WORDS=(relaywatch tx bank send --broadcast-mode ''); COMP_CWORD=5; _relaywatch",
      'echo "${COMPREPLY[@]}"',
    ].join("\n");
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("block sync\n");
  });

  it("has the commands of the Go relayer", () => {
    const help = run("neutron_query_relayer", "--help");
    for (const command of ["start", "query", "exec", "version"])
      expect(help).toMatch(new RegExp(`^ +${command} `, "m"));
  });
});
