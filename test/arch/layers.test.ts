import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

const files = sourceFiles();

/** Files without clock, randomness, environment and async: codecs, proofs and the state machine. */
function isDeterministic({ path }: SourceFile): boolean {
  return /^src\/(?:cosmos\/(?:proto|merkle|comet)|localnet\/(?:vm|chain)|workbench\/modules)\//.test(path);
}

const FORBIDDEN_IN_DETERMINISTIC: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bMath\.random\b/,
  /\brandomBytes\b/,
  /\bprocess\.env\b/,
  /\basync\b/,
  /\bawait\b/,
  /\bsetTimeout\b/,
  /\bparseFloat\b/,
  // Go trims other characters: `trimGoSpace`.
  /\.trim(?:Start|End)?\(/,
];

/** What deterministic files may import of Node. */
const DETERMINISTIC_NODE_MODULES: ReadonlySet<string> = new Set(["node:crypto", "node:buffer", "node:zlib"]);

describe("the house", () => {
  it("was scanned", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap((file) => file.imports).length).toBeGreaterThan(300);
  });

  it("is complete: each file belongs to a room, and each room to the build", () => {
    // The compiler refuses an import that leaves a room for one that its tsconfig.json does not name.
    const rooms = [...new Set(files.map(({ room }) => room))].toSorted();
    expect(rooms).toEqual([
      "daemons",
      "src/cli",
      "src/cosmos",
      "src/localnet",
      "src/platform",
      "src/relayer",
      "src/watchdog",
      "src/workbench",
    ]);
    expect(rooms.filter((room) => !existsSync(`${room}/tsconfig.json`))).toEqual([]);
  });

  it("keeps the network out of the state machine", () => {
    const offences = files
      .filter(isDeterministic)
      .flatMap(({ path, imports }) =>
        imports
          .filter((target) => /^src\/(?:cosmos\/(?:client|light-client|cli)|platform\/(?!base))/.test(target))
          .map((target) => `${path} imports ${target}`),
      );
    expect(offences).toEqual([]);
  });

  it("keeps clock, randomness, environment and async out of the state machine", () => {
    const offences = files
      .filter(isDeterministic)
      .flatMap((file) =>
        FORBIDDEN_IN_DETERMINISTIC.filter((word) => word.test(file.code)).map(
          (word) => `${file.path}: ${word.source}`,
        ),
      );
    expect(offences).toEqual([]);
  });

  it("imports the workbench from the command line and the daemons only", () => {
    const offences = files
      .filter(({ room }) => !["src/workbench", "src/cli", "daemons"].includes(room))
      .filter(({ imports }) => imports.some((target) => target.startsWith("src/workbench/")))
      .map(({ path }) => path);
    expect(offences).toEqual([]);
  });

  it("adds listeners to abort signals only in src/platform/base", () => {
    // `AbortSignal.any` on a signal that lives as long as the process never frees what it adds (Node 20). `onAbort` does.
    const offences = files
      .filter((file) => !file.path.startsWith("src/platform/base/"))
      .filter((file) => /AbortSignal\.any\b|addEventListener\("abort"/.test(file.code))
      .map((file) => file.path);
    expect(offences).toEqual([]);
  });

  it("keeps the virtual machine below the state machine", () => {
    const offences = files
      .filter(({ path }) => path.startsWith("src/localnet/vm/"))
      .flatMap(({ path, imports }) =>
        imports
          .filter((target) => !/^src\/(?:localnet\/vm|platform\/base|cosmos\/comet)\//.test(target))
          .map((target) => `${path} imports ${target}`),
      );
    expect(offences).toEqual([]);
  });

  it("lets the state machine import of Node only hashing and buffers", () => {
    const offences = files
      .filter(isDeterministic)
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

  it("has no circle of the relayer's folders: each imports those below it only", () => {
    const room = "src/relayer/";
    // A file beside the folders is a place of its own.
    const placeOf = (path: string): string => path.split("/").slice(0, 3).join("/");
    const arrows = files.flatMap((file) =>
      file.imports.map((target) => [placeOf(file.path), placeOf(target)] as const),
    );
    let left = arrows.filter(
      ([from, to]) => from !== to && [from, to].every((place) => place.startsWith(room)),
    );
    expect(left.length).toBeGreaterThan(100);
    for (;;) {
      const importing = new Set(left.map(([from]) => from));
      const next = left.filter(([, to]) => importing.has(to));
      if (next.length === left.length) break;
      left = next;
    }
    expect([...new Set(left.map((arrow) => arrow.join(" imports ")))]).toEqual([]);
  });

  it("never joins signals with AbortSignal.any", () => {
    // Every call leaves an entry on its sources, and a signal of the process lives as long as the process.
    expect(files.filter((file) => file.code.includes("AbortSignal.any")).map((file) => file.path)).toEqual(
      [],
    );
  });

  it("has no file over 400 lines", () => {
    expect(
      files
        .filter((file) => file.text.split("\n").length > 401)
        .map((file) => `${file.path}: ${file.text.split("\n").length}`),
    ).toEqual([]);
  });
});
