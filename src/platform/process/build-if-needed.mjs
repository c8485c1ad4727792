// For `npm start` and `npm run relaywatch` in a clone: builds the program, unless the last build began after the newest change to
// its inputs. The compiler's own check of all projects takes seconds, and more than twenty on a busy machine.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
/** File whose modification time is the start of the last successful build, so that changes during a build are newer. */
const STAMP = join(root, "dist/.built");
/** npm writes the last file when it installs packages. */
const SOURCES = [
  "src",
  "daemons",
  "package.json",
  "tsconfig.json",
  "tsconfig.room.json",
  "node_modules/.package-lock.json",
];

/** Returns the time of the newest change. A folder's time is when a file in it was created, removed or renamed. */
function newestMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce(
    (newest, name) => Math.max(newest, newestMs(join(path, name))),
    stat.mtimeMs,
  );
}

/** Returns the path of Git's HEAD log, because `relaywatch version` prints the commit. A linked worktree's `.git` is a file. */
function headLog() {
  const git = join(root, ".git");
  if (!existsSync(git)) return undefined;
  const folder = statSync(git).isDirectory()
    ? git
    : resolve(root, readFileSync(git, "utf8").replace("gitdir:", "").trim());
  return join(folder, "logs/HEAD");
}

function isCurrent() {
  // The environment sets the commit of the build, so build again.
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
