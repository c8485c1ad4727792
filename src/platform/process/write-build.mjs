// The end of `npm run build`, after the compiler: writes the programs into dist/program, and the commit of the sources into
// dist/build.json. Nothing asks git while a program runs. RELAYWATCH_COMMIT names the commit where the sources are without their
// repository, for instance in the build of an image.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** The commit, with "-dirty" when files differ from it. Null without git, and when the repository is that of a folder above. */
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
writeFileSync(join(root, "dist/build.json"), `${JSON.stringify({ commit: commitOf() })}\n`);

/**
 * Joins the compiled modules and the packages that they import into about 200 files: loading all of them one by one takes half of
 * the time until a program does its work. Packages with a native library stay in node_modules.
 */
async function writePrograms(folder) {
  const input = {
    relaywatch: "dist/src/cli/main.js",
    neutron_query_relayer: "dist/src/cli/neutron-query-relayer.js",
  };
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: ["classic-level", "libsql", "pg-native"],
  });
  // Replaced as a whole: a program that starts now finds the files of one build.
  const written = `${folder}.${process.pid}`;
  const replaced = `${written}.old`;
  await bundle.write({
    dir: written,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await bundle.close();
  // npm does the same when it installs the package. In a clone, a link to the file is the command.
  for (const name of Object.keys(input)) chmodSync(join(written, `${name}.js`), 0o755);
  if (existsSync(folder)) renameSync(folder, replaced);
  renameSync(written, folder);
  rmSync(replaced, { recursive: true, force: true });
}

await writePrograms(join(root, "dist/program"));
