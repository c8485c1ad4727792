import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { COMMANDS, RUNBOOKS } from "../support/runbook-commands.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const ROOT = new URL("../..", import.meta.url).pathname;

beforeAll(async () => {
  await home.start("up", "$PORTS").printed(/oracle-watchdog +http/);
  await localnet.resultAfter(1, 0n);
  await until("a counted block", async () => {
    const status = await getJson(`${localnet.watchdog}/api/status`);
    return Number(deep(status, ["blocks", "good"])) > 3 ? status : undefined;
  });
}, 90_000);
afterAll(home.close);

/** Commands that read the relayer's API take its URL, all others the offset of the ports. */
function withPorts(line: string): readonly string[] {
  const words = line.replace(/^relaywatch /, "").split(" ");
  const url = ["--url", localnet.relayer];
  if (words[0] !== "relayer") return [...words, "$PORTS"];
  if (words[1] === "doctor") return [...words, "$PORTS"];
  return words[1] === "inspect" ? [...words, ...url, "$PORTS"] : [...words, ...url];
}

async function run(line: string): Promise<{ readonly code: number | null; readonly output: string }> {
  if (line.startsWith("relaywatch ")) {
    const { code, stdout, stderr } = await home.run(...withPorts(line));
    return { code, output: `${stdout}${stderr}` };
  }
  const moved = line.replaceAll(
    /127\.0\.0\.1:(\d+)/g,
    (_all, port) => `127.0.0.1:${Number(port) + home.portOffset}`,
  );
  return new Promise((resolve) => {
    execFile("bash", ["-o", "pipefail", "-c", moved], { timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` }),
    );
  });
}

describe("the commands of the runbooks", () => {
  it.each(COMMANDS)("$line", async ({ line, exits, always }) => {
    const { code, output } = await run(line);
    expect([output, exits]).toEqual([output, expect.arrayContaining([code])]);
    for (const part of always) expect(output).toContain(part);
  });
});

const inline = [
  ...new Set(
    [...RUNBOOKS.map(({ file }) => file), readFileSync(`${ROOT}alerts/README.md`, "utf8")].flatMap((page) =>
      [...page.replaceAll(/```[\s\S]*?```/g, "").matchAll(/`(relaywatch [^`\n]+)`/g)].map(
        ([, line = ""]) => line,
      ),
    ),
  ),
];

describe("the commands in sentences", () => {
  it("are found", () => {
    expect(inline.length).toBeGreaterThan(10);
  });

  it.each(inline)("%s", async (line) => {
    const filled = line
      .replace(" ID", " 1")
      .replace("config validate FILE", "config validate config/oracle-watchdog.example.yaml")
      .replace(" --config oracle-watchdog.yaml", "")
      .replace('"restart"', "restart");
    const isConfig = filled.includes("config validate");
    const { code, output } = isConfig
      ? await home
          .run(...filled.split(" ").slice(1))
          .then(({ code: exit, stdout, stderr }) => ({ code: exit, output: `${stdout}${stderr}` }))
      : await run(filled);
    expect([output, code]).toEqual([output, expect.toBeOneOf(isConfig ? [0, 78] : [0, 1, 3])]);
    expect(output).not.toMatch(/unknown (?:option|command)|add --help/);
  });
});
