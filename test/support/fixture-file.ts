import { existsSync } from "node:fs";

/** A file under `test/fixtures`, found from the sources as well as from `dist`. */
export function fixtureFile(path: string): URL {
  let folder = new URL(".//", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) {
    const parent = new URL("../", folder);
    if (parent.href === folder.href) throw new Error("no package.json above the tests");
    folder = parent;
  }
  return new URL(`test/fixtures/${path}`, folder);
}
