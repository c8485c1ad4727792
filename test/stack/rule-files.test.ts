import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { alertFiles } from "../../src/cli/generate/alert-files.ts";
import { ruleFile } from "../../src/platform/monitoring/alerts/rule-files.ts";
import { RULE_FILES } from "../../src/cli/generate/rules.ts";
import { SHORT_TIMES } from "../../src/platform/monitoring/alerts/times.ts";
import { programPath } from "../support/stack/programs.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "relaywatch-rules-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (program: "promtool" | "amtool", ...args: readonly string[]): string =>
  execFileSync(programPath(program), args, {
    cwd: ROOT,
    encoding: "utf8",
    // promtool spends a fifth of its time on collecting garbage.
    env: { ...process.env, GOGC: "800" },
    stdio: ["ignore", "pipe", "pipe"],
  });
const paths = [...alertFiles().keys()];

describe("the files of alerts", () => {
  it.each(paths.filter((path) => path.endsWith(".rules.yaml")))("promtool check rules %s", (path) => {
    expect(run("promtool", "check", "rules", path)).toMatch(/SUCCESS: \d+ rules found/);
  });

  it("promtool check rules, with the short times of the tests", () => {
    for (const [name, groups] of RULE_FILES) {
      const path = join(directory, name);
      writeFileSync(path, ruleFile(groups, SHORT_TIMES));
      expect(run("promtool", "check", "rules", path)).toContain("SUCCESS");
    }
  });

  it.each(paths.filter((path) => /prometheus\/prometheus\.\w+\.yaml$/.test(path)))(
    "promtool check config %s",
    (path) => {
      expect(run("promtool", "check", "config", path)).toContain("SUCCESS");
    },
  );

  it.each(paths.filter((path) => path.startsWith("alerts/alertmanager/")))(
    "amtool check-config %s",
    (path) => {
      expect(run("amtool", "check-config", path)).toContain("SUCCESS");
    },
  );

  it.each(paths.filter((path) => path.startsWith("alerts/alertmanager/")))(
    "the dead man of %s has a receiver of its own",
    (path) => {
      const receiverOf = (...labels: readonly string[]): string =>
        run("amtool", "config", "routes", "test", `--config.file=${path}`, ...labels).trim();
      expect(receiverOf("alertname=RelaywatchDeadMan")).toBe("dead-man");
      expect(receiverOf("alertname=OracleSidecarDown", "severity=critical")).toBe("page");
    },
  );

  const cases = paths.filter((path) => path.endsWith(".test.yaml"));
  it.each(cases)("promtool test rules %s", { timeout: 300_000 }, (path) => {
    expect(run("promtool", "test", "rules", path)).toContain("SUCCESS");
  });
});
