// For `npm start` and `npm run relaywatch` in a clone: builds, unless the last build began after the newest change of what it is
// made of. The compiler's own check of all projects takes seconds, and on a busy machine more than twenty.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
/** Its time is the start of the last build that succeeded: what changes while a build runs is newer. */
const STAMP = join(root, "dist/.built");
/** npm writes the last one when it installs packages. */
const SOURCES = [
  "src",
  "daemons",
  "package.json",
  "tsconfig.json",
  "tsconfig.room.json",
  "node_modules/.package-lock.json",
];

/** Time of the newest change. A folder has the time at which a file in it was created, removed or renamed. */
function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce(
    (newest, name) => Math.max(newest, newestMs(join(path, name))),
    stat.mtimeMs,
  );
}

/** Git's log of HEAD: `relaywatch version` prints the commit. In a further worktree, `.git` is a file that names the folder. */
function headLog() {
  const git = join(root, ".git");
  if (!existsSync(git)) return undefined;
  const folder = statSync(git).isDirectory()
    ? git
    : resolve(root, readFileSync(git, "utf8").replace("gitdir:", "").trim());
  return join(folder, "logs/HEAD");
}

function isCurrent() {
  // The environment names the commit of the build.
  if (process.env.RELAYWATCH_COMMIT || !existsSync(STAMP)) return false;
  const { mtimeMs } = statSync(STAMP);
  const paths = [...SOURCES.map((path) => join(root, path)), headLog()];
  return paths.every((path) => path === undefined || !existsSync(path) || newestMs(path) < mtimeMs);
}

if (!isCurrent()) {
  const beganAt = new Date();
  execFileSync("npm", ["run", "-s", "build"], { cwd: root, stdio: "inherit" });
  writeFileSync(STAMP, "");
  utimesSync(STAMP, beganAt, beganAt);
}
