/** Log levels, most verbose first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of a log line, which must not include secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger. Messages are constant lower-case phrases, and values are passed in separate fields. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  readonly child: (fields: LogFields) => Logger;
}

/** A process's minimum log level, which can change at runtime. */
export interface LogLevelControl {
  readonly current: () => LogLevel;
  readonly set: (level: LogLevel) => void;
}

export interface ProcessLogger extends Logger {
  /** Changes the logger's minimum level; absent if the level is fixed. */
  readonly level?: LogLevelControl;
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
