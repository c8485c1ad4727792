import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockFolder } from "../../../src/platform/process/folder-lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a folder is free again when the name of its holder could not be written", () => {
  const taken = join(folder, "lock.pid");
  mkdirSync(taken);
  expect(() => lockFolder(folder)).toThrow("EISDIR");
  rmdirSync(taken);
  lockFolder(folder).release();
});
