import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "docs/pictures";

/** Pictures of the documents, and the situations of `test/stack/page-pictures.test.ts` that they show. */
const PICTURES = {
  "relayer.png": "relayer-one-query-late-light.png",
  "watchdog.png": "watchdog-sidecar-down-light.png",
  "localnet.png": "localnet-fault-on-light.png",
} as const;

/** Has the hash of the sources that the pictures were made from. */
const HASH_FILE = `${FOLDER}/sources.sha256`;

/** Time for all pictures; they take about a minute. */
const LONGEST_MS = 600_000;

/** Folders and files of the pages' code. */
const SOURCES = [
  "src/platform/web",
  "src/relayer/page",
  "src/watchdog/page",
  "src/localnet/network/overview-page.ts",
];

/** Returns a hash of the code of all pages, hex. */
function pageSourcesHash(root: string): string {
  const files = SOURCES.flatMap((place) =>
    place.endsWith(".ts")
      ? [place]
      : readdirSync(join(root, place))
          .filter((name) => name.endsWith(".ts"))
          .toSorted()
          .map((name) => `${place}/${name}`),
  );
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** Returns whether the pictures show the pages' code of the moment. */
export function arePicturesCurrent(root: string): boolean {
  return readFileSync(join(root, HASH_FILE), "utf8").trim() === pageSourcesHash(root);
}

/** Makes the pictures with Chromium, and returns their paths. Throws when a page does not pass its test. */
export function writePictures(root: string): readonly string[] {
  const made = "dist/pictures";
  execFileSync(
    join(root, "node_modules/.bin/vitest"),
    ["run", "--config", "vitest.stack.config.ts", "test/stack/page-pictures.test.ts"],
    { cwd: root, stdio: "inherit", timeout: LONGEST_MS, env: { ...process.env, RELAYWATCH_PICTURES: made } },
  );
  return storePictures(root, made);
}

function storePictures(root: string, made: string): readonly string[] {
  mkdirSync(join(root, FOLDER), { recursive: true });
  for (const [name, situation] of Object.entries(PICTURES))
    copyFileSync(join(root, made, situation), join(root, FOLDER, name));
  writeFileSync(join(root, HASH_FILE), `${pageSourcesHash(root)}\n`);
  return [...Object.keys(PICTURES).map((name) => `${FOLDER}/${name}`), HASH_FILE];
}
