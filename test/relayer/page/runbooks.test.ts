import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROBLEM_CODES } from "../../../src/relayer/health/problems.ts";
import { RELAYER_CONDITIONS } from "../../../src/relayer/monitoring/relayer-alerts.ts";
import { problemRunbook, RELAYER_RUNBOOKS } from "../../../src/relayer/monitoring/relayer-alerts.ts";

const read = async (file: string) => {
  const rest = { method: "GET", path: "", headers: {}, query: new URLSearchParams(), body: new Uint8Array() };
  return RELAYER_RUNBOOKS.handle({ ...rest, params: { file }, signal: new AbortController().signal });
};

describe("the relayer's runbooks", () => {
  it.each(RELAYER_CONDITIONS.map(({ name }) => name))(
    "have %s, with the text of the repository",
    async (name) => {
      const { status, body } = await read(`${name}.md`);
      expect(status).toBe(200);
      const file = readFileSync(`alerts/runbooks/${name}.md`, "utf8");
      const part = (text: string, title: string): string =>
        text.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
      for (const title of ["Meaning", "Diagnosis", "Mitigation"]) {
        expect([title, part(file, title).trim()]).toEqual([title, part(String(body), title).trim()]);
        expect(part(file, title)).not.toBe("");
      }
      expect(body).not.toContain("{{");
    },
  );

  it("have those of the others too, so that one address is enough", async () => {
    const { status, body } = await read("relaywatch-target-down.md");
    expect(status).toBe(200);
    expect(body).toMatch(/^# A target does not respond\n[\s\S]*## Impact\n[\s\S]*## Diagnosis\n/);
    expect(body).not.toMatch(/^---|<!--|^alert:/m);
  });

  it("names those that there are", async () => {
    const { status, body } = await read("../config.yaml");
    expect(status).toBe(404);
    expect(body).toContain("relayer-queries-overdue.md");
  });

  it("are linked from each problem that has an alert", async () => {
    const known = PROBLEM_CODES.filter((code) => problemRunbook(code) !== undefined);
    expect(known.length).toBeGreaterThan(14);
    for (const code of known) {
      const { status } = await read(problemRunbook(code)?.replace("/runbooks/", "") ?? "");
      expect([code, status]).toEqual([code, 200]);
    }
  });
});
