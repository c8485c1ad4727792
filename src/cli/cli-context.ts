import type { Logger } from "../base/logger.ts";
import type { LogLevel } from "../ops/logger.ts";

/** What a command sees of its process. */
export interface CliContext {
  /** Writes a line for the person or program that asked; data only. */
  readonly print: (line: string) => void;
  /** Fires when the process is asked to stop. */
  readonly signal: AbortSignal;
  readonly logger: (level: LogLevel) => Logger;
  /** Whether stdout is a terminal: colours and redrawing make sense. */
  readonly isTerminal: boolean;
}
