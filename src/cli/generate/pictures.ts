import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface PictureSet {
  readonly folder: string;
  readonly test: string;
  /** Picture files, keyed by the name that the test gives each picture. */
  readonly pictures: Readonly<Record<string, string>>;
  /** Folders and files that determine what the pictures show. A hash of these sources is stored next to the pictures. */
  readonly sources: readonly string[];
}

const SETS: readonly PictureSet[] = [
  {
    folder: "docs/pictures",
    test: "test/stack/page-pictures.test.ts",
    pictures: {
      "relayer.png": "relayer-one-query-late-light.png",
      "watchdog.png": "watchdog-sidecar-down-light.png",
      "localnet.png": "localnet-fault-on-light.png",
    },
    sources: [
      "src/platform/web",
      "src/relayer/page",
      "src/watchdog/page",
      "src/localnet/network/overview-page.ts",
    ],
  },
  {
    folder: "dashboards/pictures",
    test: "test/stack/dashboard-pictures.test.ts",
    pictures: {
      "overview.jpg": "overview-sidecar-down-screen.jpg",
      "oracle-am-i-paid.jpg": "oracle-am-i-paid-sidecar-down-screen.jpg",
      "oracle-am-i-paid-raw.jpg": "oracle-am-i-paid-raw-sidecar-down-screen.jpg",
      "validator-on-chain.jpg": "validator-on-chain-healthy-screen.jpg",
      "oracle-fleet.jpg": "oracle-fleet-two-relayers-three-validators-screen.jpg",
      "icq-relayer.jpg": "icq-relayer-remote-chain-halted-screen.jpg",
      "icq-costs.jpg": "icq-costs-market-full-screen.jpg",
      "icq-query.jpg": "icq-query-market-full-screen.jpg",
      "process.jpg": "process-sidecar-down-screen.jpg",
    },
    sources: ["dashboards/json", "tools/dashboards/page", "tools/dashboards/package-lock.json"],
  },
];

/** Name of the file that contains the hash of the pictures' sources. */
const HASH_FILE = "sources.sha256";
const LONGEST_MS = 1_200_000;

/** Returns a hash, in hex, of all files that determine the set's pictures. */
function hashOf(root: string, { sources }: PictureSet): string {
  const files = sources.flatMap((place) =>
    statSync(join(root, place)).isDirectory()
      ? readdirSync(join(root, place), { withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.endsWith(".md"))
          .map(({ name }) => `${place}/${name}`)
          .toSorted()
      : [place],
  );
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

export function arePicturesCurrent(root: string): boolean {
  return SETS.every(
    (set) => readFileSync(join(root, set.folder, HASH_FILE), "utf8").trim() === hashOf(root, set),
  );
}

/** Takes the pictures with Chromium and returns their paths, or throws if one of the tests fails. */
export function writePictures(root: string): readonly string[] {
  const made = "dist/pictures";
  execFileSync(
    join(root, "node_modules/.bin/vitest"),
    ["run", "--config", "vitest.stack.config.ts", ...SETS.map(({ test }) => test)],
    { cwd: root, stdio: "inherit", timeout: LONGEST_MS, env: { ...process.env, RELAYWATCH_PICTURES: made } },
  );
  return SETS.flatMap((set) => storePictures(root, made, set));
}

function storePictures(root: string, made: string, set: PictureSet): readonly string[] {
  const { folder, pictures } = set;
  mkdirSync(join(root, folder), { recursive: true });
  for (const [name, situation] of Object.entries(pictures))
    copyFileSync(join(root, made, situation), join(root, folder, name));
  writeFileSync(join(root, folder, HASH_FILE), `${hashOf(root, set)}\n`);
  return [...Object.keys(pictures), HASH_FILE].map((name) => `${folder}/${name}`);
}
