import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Returns the octal modes of a folder (".") and its files by name. */
export function fileModes(folder: string): Readonly<Record<string, string>> {
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const files = readdirSync(folder).map((file) => [file, mode(join(folder, file))]);
  return { ".": mode(folder), ...Object.fromEntries(files) };
}
