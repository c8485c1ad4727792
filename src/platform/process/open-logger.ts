import { openSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import { CodedError, errorText } from "../base/errors.ts";
import type { Logger, LogLevel } from "../base/logger.ts";
import type { LogConfig } from "../config/log-config.ts";
import { createLogger } from "./logger.ts";

/** Thrown when a configured output cannot be opened. */
class LogOutputError extends CodedError<{ readonly code: "log-output"; readonly output: string }> {}

/** The streams of a process. */
interface ProcessStreams {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Creates the logger of a checked section `log`. Throws `LogOutputError`. */
export function openConfiguredLogger(level: LogLevel, log: LogConfig, streams: ProcessStreams): Logger {
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

/** Opened at the start, so that a path that cannot be written is an error of the start. */
function openFile(output: string): number {
  try {
    return openSync(output, "a", 0o640);
  } catch (cause) {
    const text = `the log output ${output} cannot be opened: ${errorText(cause)}`;
    throw new LogOutputError({ code: "log-output", output }, text, { cause });
  }
}

/** Synchronous, so that no line waits in memory and the last lines of a crash are written. */
function fileOutput(fd: number): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      try {
        writeSync(fd, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      } catch {
        // A full disk must not stop the daemon. The line is lost.
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
