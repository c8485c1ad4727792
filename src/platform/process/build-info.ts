import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../base/json.ts";

export interface BuildInfo {
  readonly name: string;
  readonly version: string;
  /** Commit hash, with "-dirty" for changed sources; undefined if the commit was unknown at build time. */
  readonly commit: string | undefined;
  readonly nodeVersion: string;
}

/** Reads the name and version from the package.json of this program, which runs from `src` or from `dist`. */
export function readBuildInfo(): BuildInfo {
  const manifest = readJson(join(packageFolder(), "package.json"));
  const { name, version } = manifest;
  if (typeof name !== "string" || typeof version !== "string")
    throw new Error("package.json has no name or no version");
  return { name, version, commit: readCommit(), nodeVersion: process.version };
}

/** Returns the folder of this program's package, which contains the packaged files, for code in `src` and in `dist`. */
export function packageFolder(): string {
  return dirname(nearest("package.json") ?? missing());
}

/**
 * Reads the commit from the file that `src/platform/process/write-build.mjs` writes into `dist`. Returns undefined if the program
 * runs from sources without a build.
 */
function readCommit(): string | undefined {
  const path = nearest("build.json");
  const commit = path === undefined ? undefined : readJson(path)["commit"];
  return typeof commit === "string" && commit !== "" ? commit : undefined;
}

/** Searches this module's folder and its parents, up to the package's folder, for a file, and returns the file's path. */
function nearest(name: string): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return join(folder, name);
    if (existsSync(join(folder, "package.json")) || dirname(folder) === folder) return undefined;
  }
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isRecord(value)) throw new Error(`expected an object in ${path}`);
  return value;
}

function missing(): never {
  throw new Error("no package.json found in the folders above the program");
}
