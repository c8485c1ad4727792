import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { utf8, sha256 } from "../../../../src/platform/base/bytes.ts";
import { startTestNode } from "../../../support/test-node.ts";
import { lightBlockAt, verifyLightBlock } from "../../../support/comet/light-block.ts";

const RUNNER = fileURLToPath(new URL("../../../support/run-typescript.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("../../../support/node-child.ts", import.meta.url));

/** Runs a node, kills it with SIGKILL after it printed `blocks` heights, and returns all printed heights. */
async function runAndKill(home: string, blocks: number): Promise<readonly bigint[]> {
  const child = spawn(process.execPath, [RUNNER, CHILD, home], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.split("\n").length > blocks) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [, signal] = await new Promise<readonly [number | null, string | null]>((resolve) =>
    child.once("close", (code, by) => resolve([code, by])),
  );
  expect(signal, errors).toBe("SIGKILL");
  return output.split("\n").slice(0, -1).map(BigInt);
}

describe("a node after SIGKILL", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "relaywatch-kill-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it("has all blocks that it showed, and continues", { timeout: 240_000 }, async () => {
    const shown: bigint[] = [];
    for (const blocks of [3, 17, 40]) {
      shown.push(...(await runAndKill(home, blocks)));
      const node = await startTestNode({ home, powers: [10n, 4n, 3n] });
      const { view } = node;
      expect(view.status().latestHeight).toBeGreaterThanOrEqual(shown.at(-1) ?? 0n);
      for (const height of shown) {
        expect(view.tx(sha256(utf8(`height${height}=${height}`)))?.height).toBe(height);
      }
      const made = node.control.produce(2);
      for (let height = 1n; height < made; height++) {
        verifyLightBlock(lightBlockAt(view, height), lightBlockAt(view, height + 1n));
      }
      await node.stop();
    }
    expect(shown.length).toBeGreaterThanOrEqual(60);
  });
});
