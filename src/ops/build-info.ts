import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../base/json.ts";

/** Package name, package version and Node version. */
export interface BuildInfo {
  readonly name: string;
  readonly version: string;
  readonly nodeVersion: string;
}

/** Reads name and version from the nearest package.json above this file. Works in `src` and in `dist`. */
export function readBuildInfo(): BuildInfo {
  const manifest: unknown = JSON.parse(readFileSync(manifestPath(), "utf8"));
  if (!isRecord(manifest)) throw new Error("package.json is not an object");
  const { name, version } = manifest;
  if (typeof name !== "string" || typeof version !== "string")
    throw new Error("package.json has no name or no version");
  return { name, version, nodeVersion: process.version };
}

function manifestPath(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) throw new Error("no package.json above the program");
  }
}
