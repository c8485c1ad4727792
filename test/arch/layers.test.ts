import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  BEHIND_THE_WIRE,
  DETERMINISTIC,
  DETERMINISTIC_NODE_MODULES,
  FLOORS,
  FORBIDDEN_IN_DETERMINISTIC,
  SIDEWAYS,
  WIRE_ONLY,
} from "./import-table.ts";
import { folderOf, sourceFiles } from "./source-files.ts";

const files = sourceFiles();

describe("the house", () => {
  it("was scanned", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap((file) => file.imports).length).toBeGreaterThan(300);
  });

  it("has a floor for every folder", () => {
    expect(
      [...new Set(files.map((file) => file.folder))].filter((folder) => FLOORS[folder] === undefined),
    ).toEqual([]);
  });

  it("imports only downward", () => {
    const upward = files.flatMap((file) =>
      file.imports
        .map((target) => folderOf(target))
        .filter((folder) => folder !== file.folder)
        .filter((folder) => (FLOORS[folder] ?? 99) >= (FLOORS[file.folder] ?? 0))
        .filter((folder) => !SIDEWAYS.has(`${file.folder}>${folder}`))
        .map((folder) => `${file.path} imports ${folder}`),
    );
    expect(upward).toEqual([]);
  });

  it("keeps the daemons on their side of the wire, and apart", () => {
    const crossed = files.flatMap((file) =>
      file.imports
        .map((target) => folderOf(target))
        .filter(
          (folder) =>
            (WIRE_ONLY.includes(file.folder) && BEHIND_THE_WIRE.includes(folder)) ||
            (file.folder === "relayer" && folder === "watchdog") ||
            (file.folder === "watchdog" && folder === "relayer"),
        )
        .map((folder) => `${file.path} imports ${folder}`),
    );
    expect(crossed).toEqual([]);
  });

  it("keeps clock, randomness, environment and async out of the state machine", () => {
    const offences = files
      .filter((file) => DETERMINISTIC.includes(file.folder))
      .flatMap((file) =>
        FORBIDDEN_IN_DETERMINISTIC.filter((word) => word.test(file.code)).map(
          (word) => `${file.path}: ${word.source}`,
        ),
      );
    expect(offences).toEqual([]);
  });

  it("adds listeners to abort signals only in src/platform/base", () => {
    // `AbortSignal.any` on a signal that lives as long as the process never frees what it adds (Node 20). `onAbort` does.
    const offences = files
      .filter((file) => ["client", "relayer", "watchdog", "ops", "cli", "daemons"].includes(file.folder))
      .filter((file) => /AbortSignal\.any\b|addEventListener\("abort"/.test(file.code))
      .map((file) => file.path);
    expect(offences).toEqual([]);
  });

  it("lets the state machine import of Node only hashing and buffers", () => {
    const offences = files
      .filter((file) => DETERMINISTIC.includes(file.folder))
      .flatMap((file) => file.packages.map((name) => ({ path: file.path, name })))
      .filter(({ name }) => name.startsWith("node:") && !DETERMINISTIC_NODE_MODULES.has(name));
    expect(offences).toEqual([]);
  });

  it("imports files that exist, with their ending, and no index files", () => {
    const odd = files.flatMap((file) =>
      file.imports
        .filter(
          (target) => !/\.(?:ts|json)$/.test(target) || target.endsWith("/index.ts") || !existsSync(target),
        )
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(odd).toEqual([]);
  });

  it("has no file that imports itself through others, types included", () => {
    let left = files;
    for (;;) {
      const paths = new Set(left.map((file) => file.path));
      const imported = new Set(left.flatMap((file) => file.imports));
      const next = left.filter(
        (file) => imported.has(file.path) && file.imports.some((target) => paths.has(target)),
      );
      if (next.length === left.length) break;
      left = next;
    }
    expect(left.map((file) => file.path)).toEqual([]);
  });

  it("never joins signals with AbortSignal.any", () => {
    // Every call leaves an entry on its sources, and a signal of the process lives as long as the process.
    expect(files.filter((file) => file.code.includes("AbortSignal.any")).map((file) => file.path)).toEqual(
      [],
    );
  });

  it("has no file over 300 lines", () => {
    expect(
      files
        .filter((file) => file.text.split("\n").length > 301)
        .map((file) => `${file.path}: ${file.text.split("\n").length}`),
    ).toEqual([]);
  });
});
