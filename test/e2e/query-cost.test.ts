import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type CliChain, startCliChain } from "../support/cli-chain.ts";

// Time would depend on the machine. What costs it does not: the code that is loaded, and what V8 compiles.

const PROGRAM = "dist/program/relaywatch.js";
const TIMEOUT_MS = 60_000;

let chain: CliChain;
const folder = mkdtempSync(join(tmpdir(), "relaywatch-query-"));
beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `query bank total` with options of Node, and returns its output. */
async function runQuery(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = [...options, PROGRAM, "query", "bank", "total", "--node", chain.url];
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, args, {
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
  });
  expect(stdout).toContain("untrn");
  return stdout;
}

const coverage = z.object({ result: z.array(z.object({ url: z.string() })) });

it("a query loads only what it needs", async () => {
  await runQuery([], { NODE_V8_COVERAGE: folder });
  const loaded = readdirSync(folder)
    .flatMap((name) => coverage.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))).result)
    .filter(({ url }) => url.includes("/dist/program/"))
    .map(({ url }) => readFileSync(join("dist/program", basename(url)), "utf8"))
    .join("\n");
  const packages = new Set(
    [...loaded.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name]) => name),
  );
  expect(packages).toEqual(new Set(["@bufbuild/protobuf", "@scure/base", "commander", "undici"]));
});

it("V8 does not begin to optimize the HTTP client's parser, which the end of the process would wait for", async () => {
  const compiled = await runQuery(["--trace-wasm-compilation-times"]);
  expect(compiled).toContain("using Liftoff");
  expect(compiled).not.toContain("using TurboFan");
});
