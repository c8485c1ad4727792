import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTestStore } from "../../support/relayer-store.ts";

const RUNNER = fileURLToPath(new URL("../../support/run-typescript.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("../../support/store-child.ts", import.meta.url));

let stateDir = "";
let child: ChildProcess | undefined;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "relaywatch-lock-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(stateDir, { recursive: true, force: true });
});

/** Starts a process with the store. */
async function startHolder(): Promise<ChildProcess> {
  const holder = spawn(process.execPath, [RUNNER, CHILD, stateDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = holder;
  await once(holder.stdout, "data");
  return holder;
}

describe("state_dir", () => {
  it("belongs to one relayer: a second one is told by whom it is used and what to do", async () => {
    const holder = await startHolder();
    await expect(openTestStore(stateDir)).rejects.toMatchObject({
      facts: { code: "state-in-use", stateDir, pid: holder.pid },
      message: `state_dir ${stateDir} is in use by process ${holder.pid}; stop that relayer first. A second relayer needs its own state_dir and signer`,
    });
  });

  it("is free after SIGKILL of its relayer", async () => {
    const holder = await startHolder();
    holder.kill("SIGKILL");
    await once(holder, "close");
    const store = await openTestStore(stateDir);
    store.journal.recordSearched(1n, 5n);
    await store.close();
    const next = await openTestStore(stateDir);
    expect(next.journal.searchedTo(1n)).toBe(5n);
    await next.close();
  });

  it("names the host of a holder in another container, and does without an unreadable name", async () => {
    const store = await openTestStore(stateDir);
    writeFileSync(join(stateDir, "lock.pid"), "1\n3f2a9c\n");
    await expect(openTestStore(stateDir)).rejects.toThrow("is in use by process 1 of host 3f2a9c; stop");
    writeFileSync(join(stateDir, "lock.pid"), "?");
    await expect(openTestStore(stateDir)).rejects.toThrow("is in use by another process; stop");
    await store.close();
  });
});
