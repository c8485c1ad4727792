import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { logLevelCommand, reloadCommand } from "../../../src/platform/cli/control-output.ts";
import type { CliContext } from "../../../src/platform/cli/cli-context.ts";

/** Runs a command against a daemon that replies with `reply`. Returns the requests and what is printed. */
async function run(make: typeof reloadCommand, words: readonly string[], reply: unknown) {
  const asked: unknown[] = [];
  const printed: string[] = [];
  const context: CliContext = Object.create(null, { print: { value: (text: string) => printed.push(text) } });
  const command = make(
    new Command(),
    (request) => {
      asked.push(request);
      return Promise.resolve(reply);
    },
    context,
  );
  await command.parseAsync([...words], { from: "user" });
  return { asked, printed };
}

describe("the commands that control a daemon", () => {
  it.each([
    [[], "/-/reload"],
    [["--force"], "/-/reload?force=1"],
  ])("reload %j", async (words, path) => {
    const { asked, printed } = await run(reloadCommand, words, { applied: ["log.level"], need_restart: [] });
    expect(asked).toMatchObject([{ path, method: "POST" }]);
    expect(printed).toEqual(["applied: log.level"]);
  });

  it("print the level, or set it", async () => {
    const shown = await run(logLevelCommand, [], { level: "warn" });
    expect(shown).toEqual({ asked: [{ path: "/-/log-level" }], printed: ["warn"] });
    const { asked } = await run(logLevelCommand, ["debug"], { level: "debug" });
    expect(asked).toEqual([{ path: "/-/log-level", method: "POST", body: { level: "debug" } }]);
  });
});
