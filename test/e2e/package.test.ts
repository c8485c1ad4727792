import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureFile } from "../support/fixture-file.ts";

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
  // Only what an installation has: the other packages are in the programs.
  for (const path of installedPackages()) {
    mkdirSync(dirname(join(program, path)), { recursive: true });
    symlinkSync(resolve(path), join(program, path));
  }
  mkdirSync(join(folder, "empty"));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folders of the packages that are installed with this one on this machine. */
function installedPackages(): readonly string[] {
  const { packages }: { readonly packages: Readonly<Record<string, { readonly dev?: true }>> } = JSON.parse(
    readFileSync("package-lock.json", "utf8"),
  );
  return Object.entries(packages).flatMap(([path, { dev }]) =>
    path === "" || dev || !existsSync(path) ? [] : [path],
  );
}

/** Runs a program of the package in a folder without a repository and without a path to any other program. */
function run(name: string, ...args: readonly string[]): string {
  const file = join(program, "dist/program", `${name}.js`);
  return execFileSync(process.execPath, [file, ...args], {
    cwd: join(folder, "empty"),
    env: {},
    encoding: "utf8",
  });
}

/** Bytes in the files of a folder, also those behind links. */
function sizeOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
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

  it("asks for nothing: one command, few packages to install, no script", () => {
    const manifest: {
      readonly bin: Readonly<Record<string, string>>;
      readonly dependencies: Readonly<Record<string, string>>;
      readonly scripts: Readonly<Record<string, string>>;
    } = JSON.parse(readFileSync(join(program, "package.json"), "utf8"));
    expect(Object.keys(manifest.bin)).toEqual(["relaywatch"]);
    expect(Object.keys(manifest.dependencies)).toEqual(["libsql"]);
    const atInstallation = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];
    expect(Object.keys(manifest.scripts).filter((name) => atInstallation.includes(name))).toEqual([]);
    expect(sizeOf(program)).toBeLessThan(45e6);
  });

  it("is imported by tests, with its types", { timeout: 120_000 }, () => {
    const own = join(folder, "own");
    mkdirSync(join(own, "node_modules"), { recursive: true });
    symlinkSync(program, join(own, "node_modules", "relaywatch"));
    const example = join(own, "first-value.test.mjs");
    copyFileSync(join(program, "examples/first-value.test.mjs"), example);
    const options = { cwd: own, encoding: "utf8" } as const;
    expect(execFileSync(process.execPath, ["--test", example], options)).toContain("pass 3");
    symlinkSync(resolve("node_modules/@types"), join(own, "node_modules", "@types"));
    const wrong = "wrong.test.mjs";
    writeFileSync(
      join(own, wrong),
      `${readFileSync(example, "utf8")}export const mined = () => net.mine(true);\n`,
    );
    const settings = "--noEmit --allowJs --checkJs --strict --module nodenext --target es2023 --types node";
    const words = [resolve("node_modules/typescript/bin/tsc"), ...settings.split(" "), example, wrong];
    const { stdout, status } = spawnSync(process.execPath, words, options);
    expect(status).toBeGreaterThan(0);
    const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
    // An argument of the wrong type.
    expect(errors).toEqual([expect.stringMatching(/^wrong\.test\.mjs\(.*TS2345/)]);
  });

  it("reads the Go relayer's storage, with the native library of the package", () => {
    const config = join(folder, "relayer.yaml");
    writeFileSync(
      config,
      `chain: { id: local-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { file: ${config} } }
queries: { tx: true }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["http://127.0.0.1:1"] }]
state_dir: ${join(folder, "state")}
`,
    );
    const storage = fixtureFile("go-relayer/leveldb");
    const text = run("relaywatch", "relayer", "import-leveldb", fileURLToPath(storage), "--config", config);
    expect(text).toMatch(/^7 +6999997 +200 /m);
  });

  it("installs the Go relayer's name on demand, and never over another program", () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    for (let time = 0; time < 2; time += 1)
      expect(run("relaywatch", "link-go-name", bin)).toBe(`${join(bin, "neutron_query_relayer")}\n`);
    const link = join(bin, "neutron_query_relayer");
    expect(execFileSync(link, ["version"], { encoding: "utf8" })).toContain("Version: ");
    rmSync(link);
    writeFileSync(link, "the Go program");
    expect(() => run("relaywatch", "link-go-name", bin)).toThrow("is another program");
    expect(readFileSync(link, "utf8")).toBe("the Go program");
  });

  it("has the commands of the Go relayer", () => {
    const help = run("neutron_query_relayer", "--help");
    for (const command of ["start", "query", "exec", "version"])
      expect(help).toMatch(new RegExp(`^ +${command} `, "m"));
  });
});
