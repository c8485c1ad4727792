import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import {
  DEVIATION_AREAS,
  listDeviations,
  PROFILE_NAMES,
} from "../../../src/localnet/chain/deviations/deviations.ts";

/** Code of the local chains, without the tables. */
const code = ["src/localnet", "src/workbench", "daemons/localnet"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith(".ts") && !path.startsWith("src/localnet/chain/deviations/"))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

const rows = DEVIATION_AREAS.flatMap(({ deviations }) => Object.entries(deviations));
const switches = rows.filter(([, { isSwitch }]) => isSwitch);

describe("the table of differences", () => {
  it("has each difference once", () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(new Set(rows.map(([id]) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(([, { subject }]) => subject)).size).toBe(rows.length);
  });

  it.each(switches)("has the switch %s, which code reads or which changes fields", (id, { fields = [] }) => {
    const readers = code.filter(({ text }) => text.includes(`deployed("${id}")`));
    expect(readers.length > 0).toBe(fields.length === 0);
  });

  it("is the only thing that code asks for the profile", () => {
    const machine = code.filter(({ path }) => path.startsWith("src/localnet/chain/"));
    const offences = machine.filter(({ text }) =>
      /profile\.name\b|[!=]== "(?:deployed|specification)"/.test(text),
    );
    expect(offences.map(({ path }) => path)).toEqual([]);
  });

  it("is listed in the order of the documentation", () => {
    const listed = listDeviations();
    expect(listed).toHaveLength(rows.length);
    expect(listed.filter((row) => row.switch !== null).map((row) => row.switch)).toEqual(
      switches.map(([id]) => id),
    );
    const page = readFileSync("docs/conformance.md", "utf8");
    for (const { documented, subject } of listed) {
      expect(page).toContain(`## ${documented}\n`);
      expect(page).toContain(`| ${subject} |`);
    }
  });
});

describe("a profile", () => {
  it("turns all switches on or off", () => {
    const on = PROFILE_NAMES.map((name) =>
      listDeviations().flatMap(({ switch: id }) => readSwitch(name, id)),
    );
    expect(on[0]).toEqual(switches.map(() => false));
    expect(on[1]).toEqual(switches.map(() => true));
    expect(profileNamed()).toBe(profileNamed("specification"));
  });
});

function readSwitch(name: (typeof PROFILE_NAMES)[number], id: string | null): readonly boolean[] {
  const profile = profileNamed(name);
  const read: (id: never) => boolean = profile.deployed;
  return id === null ? [] : [Reflect.apply(read, undefined, [id])];
}
