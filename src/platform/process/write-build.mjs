// The last step of `npm run build`, after the compiler: writes the programs to dist/program, and the sources' commit and the list
// of bundled packages to dist/build.json, so that no program needs git at run time. RELAYWATCH_COMMIT sets the commit if the
// sources are not in their repository, for instance in an image build.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../../.."));

function git(...args) {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** Returns the commit, with "-dirty" if files differ from it. Null without git, or if the repository is in a parent folder. */
function commitOf() {
  const given = process.env.RELAYWATCH_COMMIT?.trim();
  if (given) return given;
  try {
    if (realpathSync(git("rev-parse", "--show-toplevel")) !== root) return null;
    return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*");
  } catch {
    return null;
  }
}

mkdirSync(join(root, "dist"), { recursive: true });
/** LevelDB's native libraries, for the platforms that libsql also supports. The package selects one when it is loaded. */
const LEVELDB_PLATFORMS = ["darwin-x64+arm64", "linux-arm", "linux-arm64", "linux-x64", "win32-x64"];

/** Makes classic-level find its native libraries next to the programs. */
const bundledLevelDb = {
  name: "bundled-leveldb",
  load: (id) =>
    id.replaceAll("\\", "/").endsWith("node_modules/classic-level/binding.js")
      ? `const { fileURLToPath } = require("node:url");
module.exports = require("node-gyp-build")(fileURLToPath(new URL(".", PROGRAM_URL)));`
      : undefined,
};

const UNDICI_INDEX = /node_modules\/undici\/index\.js$/;

/**
 * Omits from undici what its index loads but no program uses: browser APIs, mocks, caches and interceptors. They are almost half
 * of its code, and every command that reads a chain would load them.
 */
const undiciWithoutWeb = {
  name: "undici-without-web",
  resolveId: (source, importer) =>
    UNDICI_INDEX.test(importer?.replaceAll("\\", "/") ?? "") &&
    /^\.\/lib\/(?:web|mock|cache|interceptor)\//.test(source)
      ? "\0undici-unused.cjs"
      : undefined,
  load: (id) => (id === "\0undici-unused.cjs" ? "exports.CacheStorage = class {};" : undefined),
};

/** Returns the folders in node_modules of the packages that contain the modules, as the lock file names them. */
function packagesOf(modules) {
  const folders = modules.flatMap((id) => {
    const path = relative(root, id.replace(/^\0/, "").replace(/\?.*$/, "")).replaceAll("\\", "/");
    return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [];
  });
  return [...new Set(folders)].toSorted((one, other) => (one < other ? -1 : 1));
}

/** Copies a module's types, and the types that they import, to the same paths below `folder`. */
function copyTypes(path, folder) {
  const target = join(folder, relative("dist/src", path));
  if (existsSync(target)) return;
  const text = readFileSync(join(root, path), "utf8");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  for (const [, named] of text.matchAll(/from "(\.[^"]*)\.ts"/g))
    copyTypes(join(dirname(path), `${named}.d.ts`), folder);
}

/**
 * Bundles the compiled modules and the packages that they import into about 200 files, because loading each module from its own
 * file takes half of the time until a program does its work. libsql stays in node_modules, because its native library is a
 * separate package for each platform. Returns the bundled packages.
 */
async function writePrograms(folder) {
  const programs = {
    relaywatch: "dist/src/cli/main.js",
    neutron_query_relayer: "dist/src/cli/neutron-query-relayer.js",
  };
  const libraries = {
    testing: "dist/src/cli/exports/testing.js",
    proofs: "dist/src/cosmos/proofs.js",
  };
  const bundle = await rolldown({
    cwd: root,
    input: { ...programs, ...libraries },
    platform: "node",
    external: ["libsql", "pg-native"],
    plugins: [bundledLevelDb, undiciWithoutWeb],
    transform: { define: { PROGRAM_URL: "import.meta.url" } },
  });
  // Replace the folder as a whole, so that a program that starts now finds the files of a single build.
  const written = `${folder}.${process.pid}`;
  const replaced = `${written}.old`;
  const { output } = await bundle.write({
    dir: written,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await bundle.close();
  const leveldb = join(root, "node_modules/classic-level/prebuilds");
  for (const platform of LEVELDB_PLATFORMS)
    cpSync(join(leveldb, platform), join(written, "prebuilds", platform), { recursive: true });
  // npm also does this when it installs the package. In a clone, the command is a link to the file.
  for (const name of Object.keys(programs)) chmodSync(join(written, `${name}.js`), 0o755);
  for (const library of Object.values(libraries))
    copyTypes(library.replace(/\.js$/, ".d.ts"), join(written, "types"));
  if (existsSync(folder)) renameSync(folder, replaced);
  renameSync(written, folder);
  rmSync(replaced, { recursive: true, force: true });
  return packagesOf(output.flatMap((chunk) => chunk.moduleIds ?? []));
}

const packages = await writePrograms(join(root, "dist/program"));
writeFileSync(join(root, "dist/build.json"), `${JSON.stringify({ commit: commitOf(), packages })}\n`);
