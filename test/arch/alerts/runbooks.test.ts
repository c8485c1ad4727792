import { describe, expect, it } from "vitest";
import { runbookErrors } from "../../../src/cli/generate/runbook-errors.ts";
import { ALERTS_BY_RUNBOOK } from "../../../src/cli/generate/runbook-files.ts";
import { COMMANDS, RUNBOOKS } from "../../support/runbook-commands.ts";
import { ROOT } from "../source-files.ts";

/** Every command in a block, with the output that follows it. */
const shown = RUNBOOKS.flatMap(({ name, blocks }) =>
  blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    if (language !== "sh") return [];
    return [{ name, command: text, sample: next?.language === "text" ? next.text : undefined }];
  }),
);

describe("the runbooks", () => {
  it("are one for each alert, and everything that they name exists", async () => {
    expect(RUNBOOKS.map(({ name }) => name).toSorted()).toEqual([...ALERTS_BY_RUNBOOK.keys()].toSorted());
    expect(await runbookErrors(ROOT)).toEqual([]);
  });

  it.each(RUNBOOKS)("$name has all parts, each one not empty", ({ file }) => {
    const parts = file.split(/^## /m).slice(1);
    expect(parts.map((part) => part.split("\n")[0])).toEqual([
      "Meaning",
      "Impact",
      "Diagnosis",
      "Mitigation",
      "Afterwards",
      "Rule",
    ]);
    for (const part of parts) expect(part.length).toBeGreaterThan(40);
    expect(file).not.toMatch(/undefined|\{\{/);
  });

  it("have a diagnosis and a mitigation of their own", () => {
    for (const part of ["Diagnosis", "Mitigation"]) {
      const texts = RUNBOOKS.map(({ sections }) => sections.find(({ heading }) => heading === part)?.text);
      expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
    }
  });

  it("show samples with what the command always prints, and use each command", () => {
    for (const { name, command, sample } of shown) {
      const known = COMMANDS.find(({ line }) => line === command);
      expect([name, command, known?.line]).toEqual([name, command, command]);
      for (const always of known?.always ?? [])
        expect([name, command, sample]).toEqual([name, command, expect.stringContaining(always)]);
    }
    const used = new Set(shown.map(({ command }) => command));
    expect(COMMANDS.filter(({ line }) => !used.has(line))).toEqual([]);
  });

  it("show the reason of each condition of the watchdog as relaywatch why prints it", () => {
    for (const { name, blocks } of RUNBOOKS) {
      const isOfWatchdog = ALERTS_BY_RUNBOOK.get(name)?.some(
        ({ component }) => component === "oracle-watchdog",
      );
      const reason = blocks.find(({ text }) => text.startsWith("Why\n"))?.text;
      if (isOfWatchdog)
        expect([name, reason]).toEqual([name, expect.stringMatching(/^Since [\d-]+ [\d:]+ UTC: .*[^.]\.$/m)]);
    }
  });
});
