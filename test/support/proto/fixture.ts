import { readFileSync } from "node:fs";

function readFixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8"));
}

/** The entries of a recorded file that is a list of objects. Throws when it is not. */
export function readFixtureList(path: string): readonly Readonly<Record<string, unknown>>[] {
  const list = readFixture(path);
  if (!Array.isArray(list)) throw new Error(`${path} is no list`);
  return list.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null)
      throw new Error(`${path} holds something that is no object`);
    return { ...entry };
  });
}

/** A member that must be a text. Throws when it is not. */
export function textOf(entry: Readonly<Record<string, unknown>>, name: string): string {
  const value = entry[name];
  if (typeof value !== "string") throw new Error(`${name} is no text`);
  return value;
}
