// Writes what a release consists of to a folder: the package, its bill of materials, the notes from CHANGELOG.md, and their
// checksums. Publishes nothing.
//
//   npm run release -- FOLDER    with the section of CHANGELOG.md for the version in package.json
//   npm run audit                asks the registry for vulnerabilities of what is in the bill of materials
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Returns the section of a version without its heading. Throws when there is none, or an empty one. */
export function releaseNotes(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => /^\[?([^\]\s]+)/.exec(one)?.[1] === version);
  if (section === undefined) {
    const known = sections.map((one) => one.split("\n", 1)[0]).join(", ");
    throw new Error(`CHANGELOG.md has no section "## ${version}"; its sections are ${known}`);
  }
  const text = section.slice(section.indexOf("\n")).trim();
  if (!/^[-*] /m.test(text)) throw new Error(`the section "## ${version}" of CHANGELOG.md has no entry`);
  return `${text}\n`;
}

const nameOf = (path) => path.replace(/^.*node_modules\//, "");
const purlOf = (name, version) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** The package that a name means in the package at `path`: the nearest one, as Node resolves it. */
function resolved(packages, path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const candidate = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (at === "") return undefined;
  }
}

function componentOf(path, { version, license, integrity, resolved: url }) {
  const [, algorithm, digest] = /^(sha\d+)-(\S+)/.exec(integrity ?? "") ?? [];
  const content = digest === undefined ? undefined : Buffer.from(digest, "base64").toString("hex");
  return {
    type: "library",
    "bom-ref": path,
    name: nameOf(path),
    version,
    purl: purlOf(nameOf(path), version),
    ...(content === undefined ? {} : { hashes: [{ alg: algorithm.replace("sha", "SHA-"), content }] }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(url === undefined ? {} : { externalReferences: [{ type: "distribution", url }] }),
  };
}

/**
 * The lock file (version 3) of what a user runs: the packages that the programs contain (`bundled`, paths in the lock file), and
 * those that are installed with them.
 */
export function lockOfProgram(lock, bundled) {
  const { dependencies, devDependencies, ...root } = lock.packages[""];
  const names = new Set(bundled);
  const packages = Object.fromEntries(
    Object.entries(lock.packages)
      .filter(([path, { dev }]) => path !== "" && (names.has(path) || dev !== true))
      .map(([path, { dev, ...rest }]) => [path, rest]),
  );
  const isThere = ([name]) => packages[`node_modules/${name}`] !== undefined;
  const needed = Object.entries({ ...dependencies, ...devDependencies }).filter(isThere);
  return { ...lock, packages: { "": { ...root, dependencies: Object.fromEntries(needed) }, ...packages } };
}

/** The packages of {@link lockOfProgram} as CycloneDX 1.5. */
export function billOfMaterials({ name, version, packages }) {
  const paths = Object.keys(packages).filter((path) => path !== "");
  const edges = (path) => {
    const { dependencies, optionalDependencies } = packages[path];
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    return names.map((one) => resolved(packages, path, one)).filter((one) => one !== undefined);
  };
  const self = purlOf(name, version);
  const licenses = [{ expression: packages[""].license }];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": self, name, version, purl: self, licenses } },
    components: paths.map((path) => componentOf(path, packages[path])),
    dependencies: [
      { ref: self, dependsOn: edges("") },
      ...paths.map((path) => ({ ref: path, dependsOn: edges(path) })),
    ],
  };
}

function readLock() {
  const build = join(root, "dist/build.json");
  if (!existsSync(build)) throw new Error("run npm run build first");
  const { packages } = JSON.parse(readFileSync(build, "utf8"));
  return lockOfProgram(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")), packages);
}

/** Asks the registry for known vulnerabilities of what a user runs. npm's own audit omits packages that are in the programs. */
function audit() {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-audit-"));
  try {
    const lock = readLock();
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
    writeFileSync(join(folder, "package.json"), JSON.stringify(lock.packages[""]));
    const { status } = spawnSync("npm", ["audit", "--package-lock-only"], { cwd: folder, stdio: "inherit" });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function npm(...args) {
  return execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function release(folder) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const notes = releaseNotes(changelog, version);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  const lock = readLock();
  writeFileSync(join(folder, "release-notes.md"), notes);
  const [packed] = JSON.parse(npm("pack", "--ignore-scripts", "--json", "--pack-destination", folder));
  const file = packed.filename.replace(/\.tgz$/, ".sbom.json");
  writeFileSync(join(folder, file), `${JSON.stringify(billOfMaterials(lock), null, 2)}\n`);
  const sums = readdirSync(folder).map((name) => {
    const hash = createHash("sha256").update(readFileSync(join(folder, name)));
    return `${hash.digest("hex")}  ${name}\n`;
  });
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  process.stdout.write(`${folder} has relaywatch ${version}. To publish it, in CI with an identity token:
  npm publish ${join(folder, packed.filename)}
`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, ...others] = process.argv.slice(2);
  try {
    if (folder === undefined || others.length > 0) throw new Error("usage: npm run release -- FOLDER");
    if (folder === "--audit") audit();
    else release(resolve(folder));
  } catch (error) {
    process.stderr.write(`release: ${error.message}\n`);
    process.exitCode = 1;
  }
}
