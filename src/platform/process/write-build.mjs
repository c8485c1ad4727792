// Writes dist/build.json with the commit of the sources: a part of `npm run build`. Nothing asks git while a program runs.
// RELAYWATCH_COMMIT names the commit where the sources are without their repository, for instance in the build of an image.
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
