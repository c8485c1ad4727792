import type { LogLevel, ProcessLogger } from "../base/logger.ts";
import type { LiveScreen } from "./live-screen.ts";
import type { LogConfig } from "../config/config-fields.ts";
import type { PromptStreams } from "./prompt.ts";

/** The process as a command uses it. */
export interface CliContext {
  /** Process arguments after the program's name. */
  readonly words: readonly string[];
  /** Writes a line to stdout. Only results go there; logs and errors go to stderr. */
  readonly print: (line: string) => void;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Creates the process logger: on stderr, or as configured by `log`. Its library is loaded on first use. Throws
   * `LogOutputError` when an output cannot be opened.
   */
  readonly logger: (level: LogLevel, log?: LogConfig) => Promise<ProcessLogger>;
  /**
   * Calls `listener` at each SIGHUP, which otherwise ends the process. Returns a function that removes it. Absent: the process
   * has no signals of its own.
   */
  readonly onHangup?: (listener: () => void) => () => void;
  /** True if stdout is a terminal. Output is coloured only then. */
  readonly isTerminal: boolean;
  /** Where commands ask for secrets; default: stdin and stderr of the process. */
  readonly streams?: PromptStreams;
  /** For output that changes in place; absent when stdout is not a terminal. Log lines go above it. */
  readonly screen?: LiveScreen;
}
