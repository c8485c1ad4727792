import { describe, expect, it } from "vitest";
import { runbookErrors } from "../../../src/cli/generate/runbook-errors.ts";
import { ALERTS_BY_RUNBOOK } from "../../../src/cli/generate/runbook-files.ts";
import { ALERTS_PAGE, COMMANDS, RUNBOOKS } from "../../support/runbook-commands.ts";
import { ROOT } from "../source-files.ts";

/** Every command in a block of a runbook or of the page on all of them, with the output that follows it. */
const shown = [ALERTS_PAGE, ...RUNBOOKS].flatMap(({ name, blocks }) =>
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

  it("use each command, and show a sample with what it always prints once, or in each runbook that uses it", () => {
    const pages = shown.filter(({ name }) => name !== ALERTS_PAGE.name);
    expect(pages.filter(({ command }) => !COMMANDS.some(({ line }) => line === command))).toEqual([]);
    for (const { line, always } of COMMANDS) {
      const used = shown.filter(({ command }) => command === line);
      expect([line, used.length]).not.toEqual([line, 0]);
      const onPage = used.filter(({ name }) => name === ALERTS_PAGE.name);
      for (const { name, sample } of onPage.length > 0 ? onPage : used)
        for (const part of always)
          expect([name, line, sample]).toEqual([name, line, expect.stringContaining(part)]);
    }
  });

  it("show the reason of each condition of the watchdog as relaywatch why prints it", () => {
    for (const { name, blocks } of RUNBOOKS) {
      const isOfWatchdog = ALERTS_BY_RUNBOOK.get(name)?.some(
        ({ component }) => component === "oracle-watchdog",
      );
      const reason = blocks[0]?.text;
      if (isOfWatchdog)
        expect([name, reason]).toEqual([name, expect.stringMatching(/^Since [\d-]+ [\d:]+ UTC: .*[^.]\.$/)]);
    }
  });
});
