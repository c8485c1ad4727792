import type { Command } from "commander";
import { silentLogger } from "../../platform/base/logger.ts";
import { createProgram } from "../program.ts";

/** Creates the command line for these words, with commands that print and log nothing. */
export function createSilentProgram(words: readonly string[]): Promise<Command> {
  return createProgram({
    words,
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
}
