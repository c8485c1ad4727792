import type { LogLevel, ProcessLogger } from "../base/logger.ts";
import type { LiveScreen } from "./live-screen.ts";
import type { LogConfig } from "../config/config-fields.ts";
import type { PromptStreams } from "./prompt.ts";

export interface CliContext {
  /** Process arguments that follow the program's name. */
  readonly words: readonly string[];
  /** Writes a line to stdout. Only results go there; logs and errors go to stderr. */
  readonly print: (line: string) => void;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Creates the process logger, on stderr or as `log` configures it. Its library is loaded on first use. Throws `LogOutputError` if
   * an output cannot be opened.
   */
  readonly logger: (level: LogLevel, log?: LogConfig) => Promise<ProcessLogger>;
  /**
   * Calls `listener` on each SIGHUP, which would otherwise end the process. Returns a function that removes the listener. Absent if
   * the process does not handle signals itself.
   */
  readonly onHangup?: (listener: () => void) => () => void;
  /** True if stdout is a terminal. Only then is the output coloured. */
  readonly isTerminal: boolean;
  /** Streams on which commands prompt for secrets. Default: the process's stdin and stderr. */
  readonly streams?: PromptStreams;
  /** Screen for output that changes in place. Log lines appear above it. Absent if stdout is not a terminal. */
  readonly screen?: LiveScreen;
}
