import type { LogFields, Logger } from "../../src/platform/base/logger.ts";

/** A line of a log. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** Creates a logger that adds its lines, without those of level debug. */
export function collectingLogger(lines: LogLine[]): Logger {
  const write =
    (level: LogLine["level"]) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => logger,
  };
  return logger;
}
