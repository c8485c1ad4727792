// Installs a folder of this one from its lock file, unless it is up to date: `node tools/install.mjs proto`. The programs in it are
// large, and only those who need them install them.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const name = process.argv[2] ?? "";
const folder = join(dirname(fileURLToPath(import.meta.url)), name);
/** The slowest registry that is worth waiting for. */
const TIMEOUT_MS = 600_000;
/** The lock file that is installed. */
const installed = join(folder, "node_modules/.installed");

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
if (readText(installed) !== lock) {
  const { status, stderr, error } = spawnSync("npm", ["ci", "--prefer-offline", "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  if (status === 0) writeFileSync(installed, lock);
  else {
    process.stderr.write(
      `cannot install tools/${name}; run "npm ci --prefix tools/${name}" once while the registry can be reached: ${error?.message ?? stderr.trim()}\n`,
    );
    process.exitCode = 1;
  }
}
