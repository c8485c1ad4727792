/** Values that belong to a log line. Secrets never go in. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where an area writes its log: a constant lower-case phrase, and values as fields. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  /** A logger that adds these fields to every line. */
  readonly child: (fields: LogFields) => Logger;
}

/** Writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
