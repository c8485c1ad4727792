import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createProgram } from "../../../src/cli/program.ts";

function program(...words: readonly string[]): Promise<Command> {
  return createProgram({
    words,
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
}

/** Path, options and subcommands of every command below `parent`. */
function commandsOf(
  parent: Command,
  path = "",
): readonly { readonly path: string; readonly command: Command }[] {
  return parent.commands.flatMap((command) => {
    const name = `${path}${command.name()}`;
    return [{ path: name, command }, ...commandsOf(command, `${name} `)];
  });
}

const isLoaded = (command: Command): boolean => command.options.length > 0 || command.commands.length > 0;

describe("the command line", () => {
  it("loads only the commands that it names", async () => {
    const { commands } = await program("version", "--json");
    expect(commands.filter(isLoaded).map((command) => command.name())).toEqual(["version"]);
  });

  it("loads a command by its alias, and a group's subcommand only when named", async () => {
    const commands = commandsOf(await program("q", "icq", "params"));
    expect(commands.filter(({ command }) => isLoaded(command)).map(({ path }) => path)).toContain(
      "query interchainqueries params",
    );
    const localnet = commandsOf(await program("localnet", "accounts"));
    expect(localnet.filter(({ command }) => isLoaded(command)).map(({ path }) => path)).toEqual([
      "localnet",
      "localnet accounts",
    ]);
  });

  it("describes every command, loaded or not", async () => {
    const names = (await program()).commands.map((command) => command.name());
    const all = commandsOf(
      await program(...names, "interchainqueries", "dex", "start", "accounts", "export", "import"),
    );
    expect(all.length).toBeGreaterThan(names.length);
    expect(all.filter(({ command }) => !isLoaded(command)).map(({ path }) => path)).toEqual([]);
    expect(all.filter(({ command }) => command.description() === "").map(({ path }) => path)).toEqual([]);
    const unloaded = commandsOf(await program());
    expect(unloaded.map(({ command }) => command.description())).toEqual(
      all.filter(({ path }) => !path.includes(" ")).map(({ command }) => command.description()),
    );
  });
});
