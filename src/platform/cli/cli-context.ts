import type { LogLevel, ProcessLogger } from "../base/logger.ts";
import type { LiveScreen } from "./live-screen.ts";
import type { LogConfig } from "../config/config-fields.ts";
import type { PromptStreams } from "./prompt.ts";
import { type Command, Option } from "commander";

export interface CliContext {
  /** The process's arguments after the program's name. */
  readonly words: readonly string[];
  /** Writes a line to stdout, which is only for results. (Logs and errors go to stderr.) */
  readonly print: (line: string) => void;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Creates the process logger, which writes to stderr or as `log` configures. The logger's library is loaded on first use. Throws
   * `LogOutputError` if an output cannot be opened.
   */
  readonly logger: (level: LogLevel, log?: LogConfig) => Promise<ProcessLogger>;
  /**
   * Calls `listener` on each SIGHUP, which would otherwise end the process. Returns a function that removes the listener. Absent if
   * the process does not handle signals itself.
   */
  readonly onHangup?: (listener: () => void) => () => void;
  /** True if stdout is a terminal, so that output is coloured. */
  readonly isTerminal: boolean;
  /** Streams on which commands prompt for secrets; by default, the process's stdin and stderr. */
  readonly streams?: PromptStreams;
  /** Screen for output that changes in place, with log lines above it. Absent if stdout is not a terminal. */
  readonly screen?: LiveScreen;
}

export interface OutputOptions {
  readonly json?: true;
  /** Output format; "json" also sets {@link OutputOptions.json}. */
  readonly output?: "json" | "text" | "yaml";
}

/** Adds `-o, --output`, and `--json` for compatibility with earlier versions. */
export function addOutputOptions(command: Command): Command {
  return addOutputOption(command.addOption(jsonOption())).hook("preAction", (_program, own) => {
    if (own.getOptionValue("output") === "json") own.setOptionValue("json", true);
  });
}

/** Creates the `--json` option of earlier versions, which help omits and {@link addOutputOption} reports as deprecated. */
export function jsonOption(): Option {
  return new Option("--json", "as -o json").hideHelp();
}

/**
 * Adds `-o, --output` with the formats of the command's `--format` option. Warns if the user gives `--json` or `--format`, which
 * `--output` replaces.
 */
function addOutputOption(command: Command): Command {
  const own = command.options.find(({ long }) => long === "--format")?.argChoices ?? [];
  return command
    .addOption(
      new Option("-o, --output <format>", "text (default): human-readable, with tables where applicable")
        .choices([...new Set(["text", "json", "yaml", ...own])])
        .conflicts(["json", "format"]),
    )
    .hook("preAction", (_program, given) => {
      for (const name of ["json", "format"])
        if (given.getOptionValueSource(name) === "cli")
          given
            .configureOutput()
            .writeErr?.(
              `warning: --${name} will be removed in version 2; use -o ${name === "json" ? name : given.getOptionValue(name)}\n`,
            );
    });
}

/**
 * Returns `offerFormats`, which adds `-o, --output` to each command and subcommand with {@link jsonOption}, and the context for
 * their actions. With `-o yaml`, the actions print JSON, which the context converts to YAML.
 */
export function formattedContext(context: CliContext): {
  readonly context: CliContext;
  readonly offerFormats: (command: Command) => void;
} {
  let convert: ((line: string) => string) | undefined;
  const print = (line: string): void => context.print(convert?.(line) ?? line);
  const offerFormats = (command: Command): void => {
    for (const inner of command.commands) offerFormats(inner);
    const names = command.options.map(({ long }) => long);
    if (!names.includes("--json") || names.includes("--output")) return;
    addOutputOption(command).hook("preAction", async (_program, own) => {
      const format: unknown = own.getOptionValue("output");
      // Load the YAML library only if needed, because loading it takes longer than a short command takes to run.
      if (format === "yaml") convert = (await import("./print-response.ts")).jsonToYaml;
      if (format === "json" || format === "yaml") own.setOptionValue("json", true);
      else if (format !== undefined && names.includes("--format")) own.setOptionValue("format", format);
    });
  };
  return { context: { ...context, print }, offerFormats };
}
