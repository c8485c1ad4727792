import type { Command } from "commander";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createProgram } from "../../src/cli/program.ts";

/** A command and its path: "query interchainqueries params". */
export interface NamedCommand {
  readonly path: string;
  readonly command: Command;
}

/** Creates the command line that these words would load. It prints nothing. */
export function createQuietProgram(...words: readonly string[]): Promise<Command> {
  return createProgram({
    words,
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
}

/** Every command below `parent`, without aliases. */
export function commandsBelow(parent: Command, path = ""): readonly NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const name = `${path}${command.name()}`;
    return [{ path: name, command }, ...commandsBelow(command, `${name} `)];
  });
}

/** Loads every command. A group shows its subcommands only when a word names it, so words are added until none is new. */
export async function loadAllCommands(): Promise<readonly NamedCommand[]> {
  let words: readonly string[] = [];
  for (;;) {
    const all = commandsBelow(await createQuietProgram(...words));
    const names = [...new Set(all.map(({ command }) => command.name()))];
    if (names.length === words.length) return all;
    words = names;
  }
}
