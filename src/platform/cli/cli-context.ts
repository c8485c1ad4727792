import type { Logger, LogLevel } from "../base/logger.ts";
import type { LiveScreen } from "./live-screen.ts";
import type { LogConfig } from "../config/config-fields.ts";

/** The process as a command uses it. */
export interface CliContext {
  /** Arguments of the process after the program's name. */
  readonly words: readonly string[];
  /** Writes a line to stdout. Only results go there; logs and errors go to stderr. */
  readonly print: (line: string) => void;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Creates the logger of the process: on stderr, or as `log` says. Its library is loaded at the first call. Throws
   * `LogOutputError` when an output cannot be opened.
   */
  readonly logger: (level: LogLevel, log?: LogConfig) => Promise<Logger>;
  /** Whether stdout is a terminal. Output is coloured only then. */
  readonly isTerminal: boolean;
  /** For output that changes in place; absent when stdout is not a terminal. Log lines go above it. */
  readonly screen?: LiveScreen;
}
