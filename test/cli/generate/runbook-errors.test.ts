import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createRunbookCheck, runbookErrors } from "../../../src/cli/generate/runbook-errors.ts";
import { ROOT } from "../../arch/source-files.ts";

const PATH = "alerts/runbooks/sidecar-down.md";
const FILE = readFileSync(join(ROOT, PATH), "utf8");
const check = createRunbookCheck(ROOT);

/** Returns the errors of the runbook of sidecar-down after a change, each without its path. */
async function errorsAfter(change: (file: string) => string): Promise<readonly string[]> {
  const changed = change(FILE);
  expect(changed).not.toBe(FILE);
  return (await check("sidecar-down", changed)).map((error) => error.replace(`${PATH}:`, ""));
}

const replaced =
  (from: string | RegExp, to: string) =>
  (file: string): string =>
    file.replace(from, to);

/** Adds a sentence to the section "Afterwards", and a list to the front matter. */
const withSentence =
  (sentence: string, frontMatter = "") =>
  (file: string): string =>
    file
      .replace("commands:\n", `${frontMatter}commands:\n`)
      .replace(/(## Afterwards\n\n)/, `$1- ${sentence}\n`);

const lineOf = (text: string): number => FILE.slice(0, FILE.indexOf(text)).split("\n").length;
const AFTERWARDS = lineOf("## Afterwards") + 2;

describe("the check of a runbook", () => {
  it("finds no error in the file of the repository", async () => {
    expect(await check("sidecar-down", FILE)).toEqual([]);
  });

  it.each([
    [
      "no front matter",
      /^---\n[\s\S]*?\n---\n/,
      "",
      '1: begin the file with front matter between two lines "---"',
    ],
    ["a text that is not YAML", "commands:\n", "commands: [\n", /^\d+: .*flow/i],
    ["an unknown key", "alert:", "alarm: yes\nalert:", /front matter: Unrecognized key: "alarm"$/],
    [
      "no alert",
      "alert: OracleSidecarDown\n",
      "",
      /^1: front matter: alert: must be the name of an alert in Prometheus$/,
    ],
    [
      "another type",
      /commands:\n(?: {2}- .*\n)+/,
      "commands: relaywatch why\n",
      "3: front matter: commands: must be a list of commands",
    ],
    [
      "another alert",
      "OracleSidecarDown\n",
      "OracleNodeHalted\n",
      "2: alert is OracleNodeHalted, but this is the runbook of OracleSidecarDown",
    ],
  ] as const)("names %s", async (_case, from, to, expected) => {
    const errors = await errorsAfter(replaced(from, to));
    expect(errors).toContainEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
  });

  it("names missing markers", async () => {
    expect(await errorsAfter(replaced("<!-- end:alert -->\n", ""))).toEqual([
      expect.stringMatching(/^1: the lines around the generated sections are missing: .*<!-- end:alert -->/),
    ]);
  });

  it.each([
    [
      "a missing section",
      replaced("## Mitigation", "## What to do"),
      `${lineOf("## Diagnosis")}: the sections must be "## Diagnosis", "## Mitigation", "## Afterwards"`,
    ],
    [
      "an empty section",
      replaced(/## Afterwards\n[\s\S]*?<!--/, "## Afterwards\n\n<!--"),
      `${lineOf("## Afterwards")}: Afterwards is empty: write a list of what to check or to change when the problem is over`,
    ],
    [
      "steps that are not counted",
      replaced(/^2\. If the sidecar exits/m, "3. If the sidecar exits"),
      `${lineOf("## Mitigation")}: the steps of Mitigation are numbered 1, 3, 3, not from 1 on`,
    ],
    [
      "a link to a file that is not there",
      withSentence("See [x](sidecar-up.md)."),
      `${AFTERWARDS}: there is no file alerts/runbooks/sidecar-up.md for the link sidecar-up.md`,
    ],
    [
      "an unknown alert",
      withSentence("See `OracleSidecarUp`."),
      `${AFTERWARDS}: there is no alert OracleSidecarUp; did you mean OracleSidecarDown`,
    ],
  ])("names %s", async (_case, change, expected) => {
    expect(await errorsAfter(change)).toContainEqual(expect.stringContaining(expected));
  });

  it("names an anchor that is not there", async () => {
    const errors = await errorsAfter(withSentence("See [x](../README.md#how-blocks-become-money)."));
    expect(errors).toEqual([
      expect.stringMatching(
        /^\d+: alerts\/README\.md has no heading #how-blocks-become-money; it has .*#how-blocks-become-pay/,
      ),
    ]);
  });

  it.each([
    ["relaywatch whi", "unknown command 'whi'\n(Did you mean why?)"],
    ["relaywatch why --validater a", "unknown option '--validater'\n(Did you mean --validator?)"],
    ["relaywatch what-if --outage", "option '--outage <duration>' argument missing"],
    ["relaywatch localnet fault oracle-down", /^there is no fault oracle-down; did you mean sidecar-down/],
  ])("names what is wrong with `%s`", async (line, expected) => {
    const errors = await errorsAfter(withSentence(`Run \`${line}\`.`));
    const wrong = errors.filter((error) => !error.includes("add this command"));
    expect(wrong.map((error) => error.replace(/^\d+: /, "").replace(`${line}: `, ""))).toEqual([
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    ]);
  });

  it("compares the commands and queries of the front matter with those of the text", async () => {
    const line = "relaywatch forecast";
    expect(await errorsAfter(withSentence(`Run \`${line}\`.`))).toEqual([
      `${AFTERWARDS}: add this command to the commands of the front matter: ${line}`,
    ]);
    expect(await errorsAfter(replaced("commands:\n", `commands:\n  - ${line}\n`))).toEqual([
      `4: the text does not have this command: ${line}`,
    ]);
    const query = "oracle_watchdog_last_poll_timestamp_seconds";
    expect(await errorsAfter(withSentence(`See \`${query}\`.`))).toEqual([
      `${AFTERWARDS}: add ${query} to the queries of the front matter`,
    ]);
    const queries = (name: string): string => `queries:\n  - ${name}\n`;
    expect(await errorsAfter(withSentence(`See \`${query}\`.`, queries(query)))).toEqual([]);
    expect(await errorsAfter(replaced("commands:\n", `${queries(query)}commands:\n`))).toEqual([
      `4: the text does not have this query: ${query}`,
    ]);
  });

  it.each([
    [
      "oracle_watchdog_last_pol",
      /there is no metric oracle_watchdog_last_pol; did you mean oracle_watchdog_last_poll/,
    ],
    ["sum(up", /invalid PromQL at offset \d+: sum\(up/],
  ])("names what is wrong with the query %s", async (query, expected) => {
    const errors = await errorsAfter(withSentence(`See \`${query}\`.`, `queries:\n  - ${query}\n`));
    expect(errors).toEqual([expect.stringMatching(expected)]);
  });

  it("names unknown metrics in commands and their outputs", async () => {
    const command = "curl -s http://127.0.0.1:9998/metrics | grep oracle_watchdog_sources";
    expect(await errorsAfter(withSentence(`Run \`${command}\`.`))).toEqual([
      expect.stringMatching(
        /^\d+: there is no metric oracle_watchdog_sources; did you mean oracle_watchdog_source/,
      ),
    ]);
    expect(await errorsAfter(replaced('   {"prices"', "   oracle_watchdog_source 1\n   {"))).toEqual([
      expect.stringMatching(
        /^\d+: there is no metric oracle_watchdog_source; did you mean oracle_watchdog_source_/,
      ),
    ]);
  });
});

describe("the check of all runbooks", () => {
  const root = mkdtempSync(join(tmpdir(), "relaywatch-runbooks-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it("finds no error in the repository", async () => {
    expect(await runbookErrors(ROOT)).toEqual([]);
  });

  it("names alerts without a runbook, and runbooks without an alert", async () => {
    cpSync(join(ROOT, "alerts"), join(root, "alerts"), { recursive: true });
    renameSync(join(root, "alerts/runbooks/clock-skew.md"), join(root, "alerts/runbooks/clock-drift.md"));
    expect(await runbookErrors(root)).toEqual([
      "alerts/runbooks/clock-skew.md:1: is missing; npm run generate writes its beginning",
      "alerts/runbooks/clock-drift.md:1: no alert has this runbook; give it the name of an alert, or delete it",
    ]);
  });
});
