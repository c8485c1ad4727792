import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";

/** One instruction of a Containerfile. */
interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** A stage: its instructions after those of the stage that it begins with. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Parses the stages of a Containerfile. */
export function parseStages(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = "", value = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    const from = name === "FROM" ? /^(\S+) AS (\S+)$/.exec(value) : null;
    if (from !== null) stages.push({ base: from[1] ?? "", name: from[2] ?? "", instructions: [] });
    else stages.at(-1)?.instructions.push({ name, value });
  }
  return stages;
}

/** The files that a build sees: those of the repository that .dockerignore admits. Copies them to a folder. */
export function copyContext(to: string): void {
  const admitted = readFileSync(".dockerignore", "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  for (const file of files.trim().split("\n")) {
    if (!admitted.some((one) => file === one || file.startsWith(`${one}/`))) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(file, join(to, file));
  }
}

/** The file system of an image: this machine's, with the changes of the steps in a folder. */
export interface Image {
  /** Runs a shell script as root in it, with the network of this machine. Throws with the output unless it exits 0. */
  readonly build: (script: string) => void;
  /** Starts a script in it as the user of the image, with a network of its own. */
  readonly start: (script: string) => ChildProcess;
  readonly remove: () => void;
}

/** Creates an image without changes. Needs root. `context` becomes /context. */
export function openImage(folder: string, context: string): Image {
  if (process.getuid?.() !== 0) throw new Error("running the steps of a Containerfile needs root");
  const work = mkdtempSync(join(folder, "image-"));
  const root = join(work, "root");
  for (const name of ["upper", "work", "root"]) mkdirSync(join(work, name));
  const enter = (script: string): readonly string[] => [
    "bash",
    "-c",
    `set -eu
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=/,upperdir=${work}/upper,workdir=${work}/work ${root}
mount -t proc proc ${root}/proc
mount --rbind /dev ${root}/dev
mkdir -p ${root}/context
mount --bind ${context} ${root}/context
ip link set lo up 2> /dev/null || ifconfig lo up
exec chroot ${root} bash -euc "$0"`,
    script,
  ];
  return {
    build: (script) => {
      const { status, stdout, stderr } = spawnSync(
        "unshare",
        ["--mount", "--pid", "--fork", ...enter(script)],
        {
          encoding: "utf8",
          timeout: 400_000,
        },
      );
      if (status !== 0) throw new Error(`a step exits ${status}: ${stdout}${stderr}`);
    },
    start: (script) =>
      spawn("unshare", ["--mount", "--pid", "--net", "--fork", "--kill-child=SIGKILL", ...enter(script)], {
        stdio: ["ignore", "pipe", "pipe"],
      }),
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}
