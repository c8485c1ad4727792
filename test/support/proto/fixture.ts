import { readFileSync } from "node:fs";

function readFixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8"));
}

/** Reads a recorded file under `test/fixtures`. Throws unless it is a list of objects. */
export function readFixtureList(path: string): readonly Readonly<Record<string, unknown>>[] {
  const list = readFixture(path);
  if (!Array.isArray(list)) throw new Error(`${path} is not a list`);
  return list.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) throw new Error(`an entry of ${path} is not an object`);
    return { ...entry };
  });
}

/** Returns a string member. Throws unless it is a string. */
export function textOf(entry: Readonly<Record<string, unknown>>, name: string): string {
  const value = entry[name];
  if (typeof value !== "string") throw new Error(`${name} is not a string`);
  return value;
}
