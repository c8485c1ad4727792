import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { variableName } from "../../src/platform/config/daemon-config.ts";
import { keyLeaves, keySchema } from "../../src/platform/config/key-schema.ts";
import { relayerConfigKind } from "../../src/relayer/config/relayer-config.ts";
import { chainConfigKind } from "../../src/localnet/cli/chain-config.ts";
import { watchdogConfigKind } from "../../src/watchdog/config/config.ts";
import { createQuietProgram, loadAllCommands } from "../support/command-line.ts";
import { comments, documents, type Prose, repositoryFiles } from "./prose.ts";
import { ROOT, sourceFiles } from "./source-files.ts";

const files = repositoryFiles();
const prose: readonly Prose[] = [...documents(files), ...comments()];

/** Files that a running program writes or serves. */
const RUNTIME_FILES: ReadonlySet<string> = new Set([
  "/openapi.json",
  "node.db",
  "lock.db",
  "lock.pid",
  "bench.json",
  "delivered.json",
]);

/** Files that the reader of an example writes. */
const EXAMPLE_FILES: ReadonlySet<string> = new Set([
  "icq-relayer.yaml",
  "oracle-watchdog.yaml",
  "local.json",
  "out.json",
  "remote.json",
  "../proto/gen/neutron/x/tx.ts",
]);

/** Options of other programs, and those that every command has. */
const FOREIGN_OPTIONS: ReadonlySet<string> = new Set([
  "--help",
  // Of npm run generate.
  "--check",
  "--project",
  "--production",
  "--output",
  "--rest-port",
  "--market-map-endpoint",
  "--run-pprof",
  "--now",
  "--host-chain",
  "--client",
  "--max-old-space-size",
  "--build-arg",
  "--entrypoint",
  "--target",
]);

/** Command lines of programs that are not ours: their options are theirs. */
const FOREIGN_COMMAND =
  /^(?:rly|hermes|prometheus|prometheus-alertmanager|systemctl|install|pg_dump|pg_restore|sha256sum|podman|docker|npm i|rustup|cargo|buf|systemd-run|softhsm2-util|pkcs11-tool) /;

const inCode = (text: string): readonly string[] => {
  const blocks = [...text.matchAll(/```[^\n]*\n([\s\S]*?)```/g)].flatMap(([, body]) =>
    (body ?? "").replaceAll("\\\n", " ").split("\n"),
  );
  const outside = text.replaceAll(/```[\s\S]*?```/g, "");
  return [...blocks, ...[...outside.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? "")];
};

/** Every (place, name) that `find` returns, deduplicated. */
function named(
  find: (code: string) => readonly string[],
): readonly { readonly path: string; readonly name: string }[] {
  return prose.flatMap(({ path, text }) =>
    [...new Set(inCode(text).flatMap(find))].map((name) => ({ path, name })),
  );
}

const FILE =
  /(?<![\w/.@:*{>-])[\w./-]*[\w-]\.(?:ts|mjs|md|jsonl\.gz|jsonl|json|yaml|proto|db|sqlite)(?![\w(])/g;

/**
 * Whether a file exists: below the root, beside the prose, or in `src`; or, by the end of its path, anywhere in the area of
 * the prose (`src/localnet/chain`, `test/bench`).
 */
function isFile(name: string, prosePath: string): boolean {
  // A file of the machine on which the program is installed.
  if (/^\/(?:etc|var|backup)\//.test(name)) return true;
  if (RUNTIME_FILES.has(name) || EXAMPLE_FILES.has(name) || name.startsWith("dist/") || name.includes("NAME"))
    return true;
  const folder = dirname(prosePath);
  const candidates = [".", folder, "src"].map((base) => normalize(join(base, name)));
  const prefix = folder === "." ? "" : `${folder.split("/").slice(0, 2).join("/")}/`;
  return files.some(
    (path) => candidates.includes(path) || (path.startsWith(prefix) && path.endsWith(`/${name}`)),
  );
}

/** Paths of all commands, and all options. */
async function commandLine(): Promise<{
  readonly paths: ReadonlySet<string>;
  readonly options: ReadonlySet<string>;
}> {
  const all = await loadAllCommands();
  const program = await createQuietProgram();
  return {
    paths: new Set(all.map(({ path }) => path)),
    options: new Set(
      [program, ...all.map(({ command }) => command)].flatMap(({ options }) =>
        options.flatMap(({ long }) => long ?? []),
      ),
    ),
  };
}

const scripts = Object.keys(
  z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))).scripts,
);

describe("READMEs, documents and comments", () => {
  it("are scanned", () => {
    expect(prose.length).toBeGreaterThan(100);
    expect(named((code) => code.match(FILE) ?? []).length).toBeGreaterThan(100);
  });

  it("name files that exist", () => {
    const missing = named((code) => code.match(FILE) ?? []).filter(({ path, name }) => !isFile(name, path));
    expect(missing).toEqual([]);
  });

  it("link to files that exist", () => {
    const links = documents(files).flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target]) => ({ path, name: target ?? "" })),
    );
    expect(links.length).toBeGreaterThan(5);
    const isThere = (target: string): boolean =>
      files.some((file) => file === target || file.startsWith(`${target}/`));
    expect(links.filter(({ path, name }) => !isThere(normalize(join(dirname(path), name))))).toEqual([]);
  });

  it("name options and commands that exist", async () => {
    const { paths, options } = await commandLine();
    const OPTION = /(?<![\w-])--[a-z][a-z_-]+/g;
    const benches = ["main", "dex", "month", "endurance"].map((name) => `test/bench/${name}.ts`);
    const scriptSources = [
      ...benches,
      "test/fuzz/main.ts",
      "src/cli/generate/main.ts",
      "test/arch/measure.mjs",
      ".ci/release.mjs",
      "deploy/signer/pkcs11-signer.mjs",
      "tools/docs/main.mjs",
      "package.json",
    ]
      .map((path) => readFileSync(join(ROOT, path), "utf8"))
      .join("\n");
    const isOption = (name: string): boolean =>
      options.has(name) ||
      FOREIGN_OPTIONS.has(name) ||
      scriptSources.includes(`${name.slice(2)}: {`) ||
      scriptSources.includes(name);
    const ownOptions = (code: string): readonly string[] =>
      FOREIGN_COMMAND.test(code) ? [] : (code.match(OPTION) ?? []);
    expect(named(ownOptions).filter(({ name }) => !isOption(name))).toEqual([]);
    const COMMAND = /\brelaywatch (?:-- )?((?:[a-z][a-z-]+ ?)+)/g;
    const commands = named((code) => [...code.matchAll(COMMAND)].map(([, words]) => (words ?? "").trim()));
    expect(commands.length).toBeGreaterThan(5);
    // "localnet start local" names a command and its arguments: the command is the longest known beginning.
    const isCommand = (words: string): boolean => {
      const list = words.split(" ");
      const group = list[0] ?? "";
      const isGroup = [...paths].some((path) => path.startsWith(`${group} `));
      return isGroup && list.length > 1 ? paths.has(list.slice(0, 2).join(" ")) : paths.has(group);
    };
    expect(commands.filter(({ name }) => !isCommand(name))).toEqual([]);
    // Loads every command of the command line.
  }, 120_000);

  it("name npm scripts that exist", () => {
    const SCRIPT = /\bnpm run (?:-s )?([a-z][a-z:-]*)/g;
    const unknown = named((code) => [...code.matchAll(SCRIPT)].map(([, name]) => name ?? "")).filter(
      ({ name }) => !scripts.includes(name),
    );
    expect(unknown).toEqual([]);
  });

  it("name constants that exist", () => {
    const code = files
      .filter((path) => /^(?:src|daemons|test|deploy)\/.*\.(?:ts|mjs|proto)$/.test(path))
      .map((path) => readFileSync(join(ROOT, path), "utf8"))
      .join("\n");
    const variables = new Set(
      [relayerConfigKind(), watchdogConfigKind, chainConfigKind].flatMap((kind) =>
        keyLeaves(keySchema(kind.schema)).map(({ path }) => variableName(kind, path)),
      ),
    );
    const unknown = named((text) => text.match(/^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/g) ?? []).filter(
      ({ name }) => !variables.has(name) && !new RegExp(`\\b${name}\\b`).test(code),
    );
    expect(unknown).toEqual([]);
  });

  it("link to declarations of the same file", () => {
    const broken = sourceFiles().flatMap(({ path, text, code }) =>
      [...text.matchAll(/\{@link (\w+)/g)]
        .map(([, name]) => name ?? "")
        .filter((name) => !new RegExp(`\\b${name}\\b`).test(code))
        .map((name) => `${path}: ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it("cite sections that the specification has", () => {
    const CITATION = /\b(chain-extension-modules|dex)\.md,\s+"([^"]+)"/g;
    const cited = prose.flatMap(({ path, text }) =>
      [...text.matchAll(CITATION)].map(([, document, section]) => ({
        path,
        document: `docs/spec/${document}.md`,
        section: (section ?? "").replaceAll(/\s+/g, " "),
      })),
    );
    expect(cited.length).toBeGreaterThan(2);
    const has = (document: string, section: string): boolean =>
      readFileSync(join(ROOT, document), "utf8")
        .split("\n")
        .some((line) => line.replace(/^#+ /, "").startsWith(section));
    expect(cited.filter(({ document, section }) => !has(document, section))).toEqual([]);
  });
});
