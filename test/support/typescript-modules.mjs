// Lets Node import TypeScript modules: node --import ./test/support/typescript-modules.mjs …
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transformSync } from "@swc/wasm-typescript";

// Node loads the hooks of `register`, which are in this file too, in a thread of their own.
if (isMainThread) register(import.meta.url);

/**
 * Replaces types by spaces, so that an error has the line and the column of its source.
 *
 * @type {import("node:module").LoadHook}
 */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return await nextLoad(url, context);
  const filename = fileURLToPath(url);
  const { code } = transformSync(readFileSync(filename, "utf8"), { filename, mode: "strip-only" });
  return { format: "module", source: code, shortCircuit: true };
}
