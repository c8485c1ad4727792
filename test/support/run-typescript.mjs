// Runs a TypeScript module in a process of its own: node run-typescript.mjs <path> [arguments…]
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const [, , entry] = process.argv;
// One file for all modules: to load them one by one takes four times as long, and most of these processes are short.
const bundle = await rolldown({
  input: entry,
  platform: "node",
  logLevel: "silent",
  external: (id) => !/^[./]/.test(id),
  plugins: [
    {
      name: "original-urls",
      transform: (code, id) =>
        code.includes("import.meta.url")
          ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
          : undefined,
    },
  ],
});
const {
  output: [{ code }],
} = await bundle.generate({ format: "esm", codeSplitting: false });
await bundle.close();

// Beside the packages that it imports. It stays there, since the process may be killed at any time.
const folder = fileURLToPath(new URL("../../node_modules/.relaywatch/", import.meta.url));
const file = join(folder, `${basename(entry, ".ts")}.mjs`);
const written = `${file}.${process.pid}`;
mkdirSync(folder, { recursive: true });
writeFileSync(written, code);
renameSync(written, file);
await import(pathToFileURL(file).href);
