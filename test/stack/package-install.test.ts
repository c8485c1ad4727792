import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { leasePorts } from "../support/port-lease.ts";

/** The oldest that package.json admits, and the newest of each line that is maintained. */
const NODE_VERSIONS = ["20.19.0", "22.23.3", "24.21.0", "26.10.0"] as const;
const TIMEOUT_MS = 300_000;

// Not in memory: each installation has 150 MB.
const folder = mkdtempSync("/var/tmp/relaywatch-install-");
const release = join(folder, "release");
const manifest = z
  .looseObject({
    version: z.string(),
    bin: z.record(z.string(), z.string()),
    engines: z.object({ node: z.string() }),
  })
  .parse(JSON.parse(readFileSync("package.json", "utf8")));
const tarball = join(release, `relaywatch-${manifest.version}.tgz`);
const npmCli = join(
  dirname(execFileSync("npm", ["root", "-g"], { encoding: "utf8" }).trim()),
  "node_modules/npm/bin/npm-cli.js",
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(() => {
  execFileSync("npm", ["run", "-s", "release", "--", release], { encoding: "utf8" });
}, TIMEOUT_MS);

const npmSetting = (name: string): string =>
  execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim();

/** Installs a Node from npm's package of its binary, and returns its folder. */
function installNode(version: string): string {
  const prefix = join(folder, `node-${version}`);
  mkdirSync(prefix, { recursive: true });
  const name = `node-${process.platform}-${process.arch}`;
  execFileSync("npm", [
    "i",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--prefix",
    prefix,
    `${name}@${version}`,
  ]);
  return join(prefix, "node_modules", name, "bin");
}

describe("the released package", () => {
  it("has notes, a bill of all its dependencies, and checksums that fit", () => {
    execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: release });
    const bill = z
      .looseObject({
        bomFormat: z.literal("CycloneDX"),
        dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
        metadata: z.looseObject({ component: z.looseObject({ name: z.literal("relaywatch") }) }),
        components: z.array(
          z.looseObject({
            "bom-ref": z.string(),
            name: z.string(),
            version: z.string(),
            licenses: z.array(z.unknown()),
          }),
        ),
      })
      .parse(JSON.parse(readFileSync(join(release, `relaywatch-${manifest.version}.sbom.json`), "utf8")));
    const { packages } = z
      .looseObject({ packages: z.array(z.string()) })
      .parse(JSON.parse(readFileSync("dist/build.json", "utf8")));
    expect(packages.length).toBeGreaterThan(50);
    const paths = bill.components.map((one) => one["bom-ref"]);
    // What the programs contain, and what npm installs with them. Nothing that is used to make them.
    expect(paths).toEqual(expect.arrayContaining([...packages, "node_modules/libsql"]));
    expect(paths.filter((path) => /node_modules\/(?:vitest|rolldown|typescript)$/.test(path))).toEqual([]);
    const refs = new Set(bill.components.map((one) => one["bom-ref"]));
    expect(refs.size).toBe(bill.components.length);
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual(
      [],
    );
    expect(bill.dependencies[0]?.dependsOn).toEqual(
      expect.arrayContaining(["node_modules/@grpc/grpc-js", "node_modules/libsql"]),
    );
    expect(readFileSync(join(release, "release-notes.md"), "utf8")).toMatch(/^### What it does$/m);
  });

  it("is for the Node versions that are tested", () => {
    expect(manifest.engines.node).toBe(`>=${NODE_VERSIONS[0].replace(/\.0$/, "")}`);
  });

  describe("installed with npm i -g", () => {
    const prefix = join(folder, "prefix");
    const home = join(folder, "home");
    // With the variables of this machine that say how the registry is reached.
    const environment = (bin: string) => ({
      ...process.env,
      XDG_STATE_HOME: join(home, "state"),
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: home,
      npm_config_cache: npmSetting("cache"),
      npm_config_userconfig: npmSetting("userconfig"),
    });

    // As docs/operations.md, with the packed file, on the oldest Node. No dependency is compiled for a version of Node.
    beforeAll(() => {
      mkdirSync(home);
      const bin = installNode(NODE_VERSIONS[0]);
      const args = ["i", "-g", "--prefer-offline", "--no-audit", "--no-fund", "--prefix", prefix, tarball];
      execFileSync(join(bin, "node"), [npmCli, ...args], {
        env: environment(bin),
        cwd: home,
        stdio: "ignore",
      });
    }, TIMEOUT_MS);

    it("has the programs and the files of docs/operations.md", () => {
      expect(readdirSync(join(prefix, "bin")).toSorted()).toEqual(Object.keys(manifest.bin).toSorted());
      const installed = join(prefix, "lib/node_modules/relaywatch");
      for (const path of [
        "deploy/systemd/relaywatch-relayer.service",
        "docs/operations.md",
        "alerts/prometheus",
        "CHANGELOG.md",
      ])
        expect(existsSync(join(installed, path)), path).toBe(true);
    });

    it.each(NODE_VERSIONS)(
      "runs a whole localnet on Node %s",
      async (version) => {
        const env = environment(installNode(version));
        const run = (...args: readonly string[]): string =>
          execFileSync(join(prefix, "bin/relaywatch"), args, {
            env,
            cwd: home,
            encoding: "utf8",
            timeout: 120_000,
          });
        expect(JSON.parse(run("version", "--json"))).toMatchObject({
          version: manifest.version,
          nodeVersion: `v${version}`,
        });
        const { offset, release: free } = await leasePorts();
        try {
          expect(run("up", "--until-first-result", "--port-offset", String(offset))).toMatch(
            /relayer: 1 query, [1-9]/,
          );
        } finally {
          free();
        }
      },
      TIMEOUT_MS,
    );
  });
});
