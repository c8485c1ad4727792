import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commandsBelow, createQuietProgram, loadAllCommands } from "../../support/command-line.ts";

const isLoaded = (command: Command): boolean =>
  command.options.length > 0 || command.commands.length > 0 || command.registeredArguments.length > 0;

/** Paths of the commands that these words load. */
async function loadedBy(...words: readonly string[]): Promise<readonly string[]> {
  const all = commandsBelow(await createQuietProgram(...words));
  return all.filter(({ command }) => isLoaded(command)).map(({ path }) => path);
}

describe("the command line", () => {
  it("loads only the commands that it names", async () => {
    expect(await loadedBy("version", "--json")).toEqual(["version"]);
    expect(await loadedBy("localnet", "accounts")).toEqual(["localnet", "localnet accounts"]);
  });

  it("loads a command by its alias", async () => {
    expect(await loadedBy("q", "icq", "params")).toContain("query interchainqueries params");
  });

  it("describes every command, loaded or not", async () => {
    const all = await loadAllCommands();
    expect(all.map(({ path }) => path)).toContain("localnet export");
    expect(all.filter(({ command }) => !isLoaded(command)).map(({ path }) => path)).toEqual([]);
    expect(all.filter(({ command }) => command.description() === "").map(({ path }) => path)).toEqual([]);
    const unloaded = commandsBelow(await createQuietProgram());
    expect(unloaded.map(({ command }) => command.description())).toEqual(
      all.filter(({ path }) => !path.includes(" ")).map(({ command }) => command.description()),
    );
  });
});
