import type { Writable } from "node:stream";
import pino from "pino";
import pretty from "pino-pretty";
import { CodedError, errorText } from "../base/errors.ts";
import type { LogFields, Logger, LogLevel } from "../base/logger.ts";
import type { LogConfig } from "../config/log-config.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Prints readable text instead of JSON. */
  readonly pretty: boolean;
  /** Destination. The daemons use stderr, because stdout is for data. */
  readonly stream: Writable;
  /** Names of the fields of a JSON line; default: `time`, `level` and `msg`. */
  readonly keys?: LogConfig["keys"];
}

/** Names of the fields of a line unless the configuration has others. */
const DEFAULT_KEYS: LogConfig["keys"] = { time: "time", level: "level", message: "msg" };

/**
 * Creates the process logger. Each line is one JSON object with an ISO time. An error in a field becomes
 * `{type, message, facts}`, at level debug with its stack. The logger has no worker thread, because the last lines of a
 * crashing process would be lost there.
 */
export function createLogger(options: LoggerOptions): Logger {
  // The printer of readable text finds time, level and message by their default names.
  const keys = options.pretty ? DEFAULT_KEYS : { ...DEFAULT_KEYS, ...options.keys };
  const stream = options.pretty
    ? pretty({
        destination: options.stream,
        ignore: "pid,hostname",
        translateTime: "SYS:HH:MM:ss.l",
        sync: true,
      })
    : options.stream;
  const root = pino(
    {
      level: options.level,
      base: null,
      messageKey: keys.message,
      timestamp: () => `,${JSON.stringify(keys.time)}:"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ [keys.level]: label }) },
    },
    stream,
  );
  return wrap(root, options.level === "debug");
}

function wrap(inner: pino.Logger, withStack: boolean): Logger {
  const fields = (given: LogFields = {}): LogFields => plainFields(given, withStack);
  return {
    debug: (message, given) => inner.debug(fields(given), message),
    info: (message, given) => inner.info(fields(given), message),
    warn: (message, given) => inner.warn(fields(given), message),
    error: (message, given) => inner.error(fields(given), message),
    child: (given) => wrap(inner.child(fields(given)), withStack),
  };
}

function plainFields(fields: LogFields, withStack: boolean): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, plainField(value, withStack)]),
  );
}

function plainField(value: unknown, withStack: boolean): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  return {
    type: value.name,
    message: errorText(value),
    ...(value instanceof CodedError ? { facts: plainFields(value.facts, withStack) } : {}),
    ...(withStack ? { stack: value.stack } : {}),
  };
}
