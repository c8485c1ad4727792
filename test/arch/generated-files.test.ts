import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  generatedFiles,
  staleFiles,
  withSection,
  writeGeneratedFiles,
} from "../../src/cli/generate/generated-files.ts";
import { ROOT } from "./source-files.ts";

const files = generatedFiles(ROOT);

describe("the generated files", () => {
  it.each([...files])("%s is the output of npm run generate", (path, text) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(text);
  });

  it("have a source: no other file stands in their folders", () => {
    expect(files.size).toBeGreaterThan(80);
    expect(staleFiles(ROOT)).toEqual([]);
  });
});

describe("npm run generate", () => {
  const root = mkdtempSync(join(tmpdir(), "relaywatch-generate-"));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("names and repairs files that differ, are missing, or have no source", () => {
    for (const path of files.keys()) cpSync(join(ROOT, path), join(root, path));
    expect(staleFiles(root)).toEqual([]);
    const runbook = "alerts/runbooks/sidecar-down.md";
    const metrics = "docs/metrics.md";
    const readme = "src/watchdog/README.md";
    const removed = join(dirname(runbook), "an-alert-that-was-removed.md");
    rmSync(join(root, runbook));
    writeFileSync(join(root, metrics), "");
    writeFileSync(join(root, removed), "# Old\n");
    writeFileSync(
      join(root, readme),
      readFileSync(join(root, readme), "utf8").replace("| `node-behind` |", "| |"),
    );
    const stale = [removed, runbook, metrics, readme];
    expect(staleFiles(root)).toEqual(stale);
    expect(writeGeneratedFiles(root)).toEqual(stale);
    expect(staleFiles(root)).toEqual([]);
  });

  it("replaces only the lines between the markers of a section", () => {
    const text = "a\n<!-- begin generated: x -->\nold\n<!-- end generated: x -->\nb\n";
    expect(withSection(text, "x", "new\n")).toBe(text.replace("old", "new"));
    expect(() => withSection(text, "y", "new\n")).toThrow('no line contains "begin generated: y"');
  });
});
