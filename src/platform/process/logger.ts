import { openSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import pino from "pino";
import prettyStream from "pino-pretty";
import { CodedError, errorText } from "../base/errors.ts";
import {
  LOG_LEVELS,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogLevelControl,
  type ProcessLogger,
} from "../base/logger.ts";
import type { LogConfig } from "../config/config-fields.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly pretty: boolean;
  /** Destination of the log lines. Daemons log to stderr, because stdout is reserved for results. */
  readonly stream: Writable;
  /** Field names in a JSON line; by default, `time`, `level` and `msg`. */
  readonly keys?: LogConfig["keys"];
}

/** Default names of the fields in a log line, which the configuration can change. */
const DEFAULT_KEYS: LogConfig["keys"] = { time: "time", level: "level", message: "msg" };

/**
 * Creates the process logger. Each line is one JSON object with an ISO time. An error in a field becomes `{type, message, facts}`,
 * with its stack at level debug. The logger uses no worker thread, because a crashing process would lose the thread's last lines.
 */
export function createLogger(options: LoggerOptions): ProcessLogger {
  // The pretty printer finds the time, level and message fields only by their default names.
  const keys = options.pretty ? DEFAULT_KEYS : { ...DEFAULT_KEYS, ...options.keys };
  const stream = options.pretty
    ? prettyStream({
        destination: options.stream,
        ignore: "pid,hostname",
        translateTime: "SYS:HH:MM:ss.l",
        sync: true,
      })
    : options.stream;
  const root = pino(
    {
      // pino gets every line and `wrap` filters by level, because a pino child keeps the level with which it was created.
      level: "debug",
      base: null,
      messageKey: keys.message,
      timestamp: () => `,${JSON.stringify(keys.time)}:"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ [keys.level]: label }) },
    },
    stream,
  );
  let least = options.level;
  const level: LogLevelControl = {
    current: () => least,
    set: (next) => {
      least = next;
    },
  };
  return { ...wrap(root, level.current), level };
}

function wrap(inner: pino.Logger, current: () => LogLevel): Logger {
  const fields = (given: LogFields = {}): LogFields => plainFields(given, current() === "debug");
  const write =
    (level: LogLevel): Logger["info"] =>
    (message, given) => {
      if (LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(current())) inner[level](fields(given), message);
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (given) => wrap(inner.child(fields(given)), current),
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

/** Thrown if a configured output cannot be opened. */
class LogOutputError extends CodedError<{ readonly code: "log-output"; readonly output: string }> {}

interface ProcessStreams {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Creates the logger for a checked `log` section. Throws `LogOutputError`. */
export function openConfiguredLogger(
  level: LogLevel,
  log: LogConfig,
  streams: ProcessStreams,
): ProcessLogger {
  const outputs = log.outputs.map((output) => openOutput(output, streams));
  const isTerminal = log.outputs.every((output) => isTerminalOutput(output, streams));
  const pretty = log.format === "text" || (log.format === "auto" && isTerminal);
  return createLogger({ level, pretty, stream: joined(outputs), keys: log.keys });
}

function isTerminalOutput(output: string, { stdout, stderr }: ProcessStreams): boolean {
  return (output === "stdout" && stdout.isTTY === true) || (output === "stderr" && stderr.isTTY === true);
}

function openOutput(output: string, { stdout, stderr }: ProcessStreams): Writable {
  if (output === "stdout") return stdout;
  if (output === "stderr") return stderr;
  return fileOutput(openFile(output));
}

/** Opens the log file at startup, so that an unwritable path is reported then. */
function openFile(output: string): number {
  try {
    return openSync(output, "a", 0o640);
  } catch (cause) {
    const text = `cannot open the log output ${output}: ${errorText(cause)}`;
    throw new LogOutputError({ code: "log-output", output }, text, { cause });
  }
}

/** Creates a stream that writes synchronously, so that the last lines before a crash reach the file. */
function fileOutput(fd: number): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      try {
        writeSync(fd, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      } catch {
        // A full disk must not stop the daemon, so drop the line.
      }
      done();
    },
  });
}

function joined(outputs: readonly Writable[]): Writable {
  const [first, ...others] = outputs;
  if (first !== undefined && others.length === 0) return first;
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      for (const output of outputs) output.write(chunk);
      done();
    },
  });
}
