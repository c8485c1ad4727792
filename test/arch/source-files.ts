import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the repository. */
export const ROOT: string = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A source file with its imports resolved against the repository. */
export interface SourceFile {
  /** Path from the repository's root, with "/". */
  readonly path: string;
  /** "src/platform", "src/relayer", …, or "daemons". */
  readonly room: string;
  readonly text: string;
  /** The text without comments, for word searches. */
  readonly code: string;
  /** Paths of imported files of ours, from the repository's root. */
  readonly imports: readonly string[];
  /** Names of imported packages and Node modules. */
  readonly packages: readonly string[];
}

/** All hand-written TypeScript files of `src` and `daemons`. */
export function sourceFiles(): readonly SourceFile[] {
  return ["src", "daemons"].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readSource(join(ROOT, top, name)))
      .filter((file) => !file.path.startsWith("src/cosmos/proto/gen/")),
  );
}

function roomOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "daemons" ? "daemons" : parts.slice(0, 2).join("/");
}

function readSource(file: string): SourceFile {
  const text = readFileSync(file, "utf8");
  const path = relative(ROOT, file).split(sep).join("/");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  const ours = specifiers.filter((name) => name.startsWith("."));
  return {
    path,
    room: roomOf(path),
    text,
    code: text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$|\s\/\/ .*$/gm, ""),
    imports: ours.map((name) =>
      relative(ROOT, resolve(dirname(file), name))
        .split(sep)
        .join("/"),
    ),
    packages: specifiers.filter((name) => !name.startsWith(".")),
  };
}
