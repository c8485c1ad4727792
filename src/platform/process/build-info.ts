import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../base/json.ts";

/** Name, version and commit of this program. */
export interface BuildInfo {
  readonly name: string;
  readonly version: string;
  /** Hash of the commit, with "-dirty" for changed sources. Undefined when the build did not know it. */
  readonly commit: string | undefined;
  readonly nodeVersion: string;
}

/** Reads name and version from the nearest package.json above this file. Works in `src` and in `dist`. */
export function readBuildInfo(): BuildInfo {
  const manifest: unknown = JSON.parse(readFileSync(manifestPath(), "utf8"));
  if (!isRecord(manifest)) throw new Error("package.json is not an object");
  const { name, version } = manifest;
  if (typeof name !== "string" || typeof version !== "string")
    throw new Error("package.json has no name or no version");
  return { name, version, commit: readCommit(), nodeVersion: process.version };
}

/** `src/platform/process/write-build.mjs` writes the file into `dist`. Sources that run without a build have none. */
function readCommit(): string | undefined {
  const path = join(dirname(fileURLToPath(import.meta.url)), "../../../build.json");
  if (!existsSync(path)) return undefined;
  const build: unknown = JSON.parse(readFileSync(path, "utf8"));
  const commit = isRecord(build) ? build["commit"] : undefined;
  return typeof commit === "string" && commit !== "" ? commit : undefined;
}

function manifestPath(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) throw new Error("no package.json above the program");
  }
}
