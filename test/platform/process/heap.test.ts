import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const RUNNER = fileURLToPath(new URL("../../support/run-typescript.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("../../support/heap-child.ts", import.meta.url));

async function peak(limit: "0" | "1"): Promise<number> {
  const env = { ...process.env, LIMIT: limit };
  const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, CHILD], { env, timeout: 60_000 });
  return Number(stdout.trim().split(" ").at(-1));
}

it("the limit of the heap's growth keeps a process with much live data small", async () => {
  const [unlimited, limited] = [await peak("0"), await peak("1")];
  expect(limited).toBeGreaterThan(10_000_000);
  expect(limited).toBeLessThan(unlimited * 0.8);
}, 120_000);
