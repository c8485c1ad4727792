import type { Command } from "commander";
import { silentLogger } from "../../platform/base/logger.ts";
import { createProgram } from "../program.ts";

/** Creates a command line for `words` whose commands neither print nor log anything. */
export function createSilentProgram(words: readonly string[]): Promise<Command> {
  return createProgram({
    words,
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
}
