import { CommanderError, type Command } from "commander";
import { silentLogger } from "../../platform/base/logger.ts";
import { TRAFFIC_FAULTS } from "../../localnet/network/traffic.ts";
import { ORACLE_FAULTS } from "../../localnet/node/oracle/oracle-client.ts";
import { SIDECAR_FAULTS } from "../../localnet/sidecar/faults.ts";
import { createProgram } from "../program.ts";

const FAULTS = Object.keys({ ...SIDECAR_FAULTS, ...ORACLE_FAULTS, ...TRAFFIC_FAULTS });

/**
 * Returns what is wrong with a line "relaywatch …": an unknown command, option, value or fault. Undefined when the command line
 * accepts it. `ID` stands for a number. Runs nothing.
 */
export async function commandError(line: string): Promise<string | undefined> {
  const words = wordsOf(line).slice(1);
  const [group, command, fault] = words;
  if (group === "localnet" && command === "fault" && fault !== undefined && !isFault(fault))
    return `there is no fault ${fault}; a localnet has ${FAULTS.join(", ")}`;
  const program = await createProgram({
    words,
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
  withoutActions(program);
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // A group without a command prints its help, which has no message.
    return error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, "");
  }
}

function isFault(word: string): boolean {
  return word.startsWith("--") || FAULTS.includes(word);
}

/** Splits a command line as a shell does, as far as runbooks use it. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, word]) =>
    (double ?? single ?? word ?? "").replace(/^ID$/, "1"),
  );
}

function withoutActions(command: Command): void {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  for (const inner of command.commands) withoutActions(inner);
}
