import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { generatedFiles, staleFiles, writeGeneratedFiles } from "../../src/cli/generate/generated-files.ts";
import { arePicturesCurrent } from "../../src/cli/generate/pictures.ts";
import { withSection } from "../../src/cli/generate/marked-sections.ts";
import { ROOT } from "./source-files.ts";

const files = await generatedFiles(ROOT);

describe("the generated files", () => {
  it.each([...files])("%s is the output of npm run generate", (path, text) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(text);
  });

  it("have pictures of the present pages: npm run generate -- --pictures", () => {
    expect(arePicturesCurrent(ROOT)).toBe(true);
  });

  it("have a source: no other file stands in their folders", async () => {
    expect(files.size).toBeGreaterThan(80);
    expect(await staleFiles(ROOT)).toEqual([]);
  });
});

describe("npm run generate", () => {
  const root = mkdtempSync(join(tmpdir(), "relaywatch-generate-"));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("names and repairs files that differ, are missing, or have no source", async () => {
    for (const path of files.keys()) cpSync(join(ROOT, path), join(root, path));
    expect(await staleFiles(root)).toEqual([]);
    const runbook = "alerts/runbooks/sidecar-down.md";
    const rules = "alerts/prometheus/relaywatch.rules.yaml";
    const metrics = "docs/metrics.md";
    const guide = "docs/watchdog.md";
    const removed = join(dirname(rules), "removed.rules.yaml");
    rmSync(join(root, rules));
    writeFileSync(join(root, metrics), "");
    writeFileSync(join(root, removed), "groups: []\n");
    for (const [path, from] of [
      [guide, "| `chain_id` |"],
      [runbook, "# Sidecar down"],
    ] as const)
      writeFileSync(join(root, path), readFileSync(join(root, path), "utf8").replace(from, "| |"));
    const stale = [rules, removed, runbook, metrics, guide];
    expect(await staleFiles(root)).toEqual(stale);
    expect(await writeGeneratedFiles(root)).toEqual(stale);
    expect(await staleFiles(root)).toEqual([]);
  });

  it("keeps what people wrote in a runbook, and begins one that is missing", async () => {
    for (const path of files.keys()) cpSync(join(ROOT, path), join(root, path));
    const [written, missing] = ["sidecar-down", "clock-skew"].map((name) => `alerts/runbooks/${name}.md`);
    const path = join(root, written ?? "");
    const changed = readFileSync(path, "utf8").replace("## Afterwards\n\n", "## Afterwards\n\n- Sleep.\n");
    writeFileSync(path, changed);
    rmSync(join(root, missing ?? ""));
    expect(await writeGeneratedFiles(root)).toEqual([missing, "docs/alerts.md"]);
    expect(readFileSync(path, "utf8")).toBe(changed);
    expect(readFileSync(join(root, missing ?? ""), "utf8")).toMatch(
      /^---\nalert: OracleClockSkew\n[\s\S]*\n# Clocks differ\n[\s\S]*\n## Diagnosis\n\n## Mitigation\n\n## Afterwards\n[\s\S]*\n## Rule\n/,
    );
  });

  it("replaces only the lines between the markers of a section", () => {
    const text = "a\n<!-- generated:x -->\nold\n<!-- end:x -->\nb\n";
    expect(withSection(text, "x", "new\n")).toBe(text.replace("old", "new"));
    expect(() => withSection(text, "y", "new\n")).toThrow('no line contains "<!-- generated:y -->"');
  });
});
