import type { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { type Command, CommanderError } from "commander";
import { systemClock } from "../base/clock.ts";
import { CheckExit, CliError, CodedError, errorText, EXIT, type ExitCode } from "../base/errors.ts";
import { isDiskFull, isDiskProblem } from "../storage/sqlite-errors.ts";
import type { CliContext } from "./cli-context.ts";
import { createLiveScreen, type LiveScreen } from "./live-screen.ts";

/** Runs this process's command line, and handles its signals, output, errors and exit code. Error messages start with `name`. */
export async function runProcess(
  name: string,
  create: (context: CliContext) => Promise<Command>,
): Promise<void> {
  const shutdown = createShutdown({
    process,
    exit: (code) => process.exit(code),
    monotonicMs: systemClock.monotonicMs,
  });
  // If the reader of a pipe closes early (`| head`), stop the command, but without an error: the exit code stays the same.
  process.stdout.on("error", shutdown.stop);
  let isDaemon = false;
  try {
    const program = await create(toContext(shutdown.signal));
    program.hook("preAction", (_program, command) => {
      isDaemon = DAEMON_COMMANDS.has(command.name());
    });
    await program.parseAsync(process.argv);
  } catch (error) {
    const { exitCode, message } = toExit(error, isDaemon);
    if (message !== undefined) process.stderr.write(`${name}: ${message}\n`);
    process.exitCode = exitCode;
  } finally {
    shutdown.dispose();
  }
}

/** Commands that run until the user stops them, so that a stop request ends them with exit code 0. */
const DAEMON_COMMANDS: ReadonlySet<string> = new Set(["start", "up"]);

/** Opens a screen if the terminal supports escape sequences. */
function openScreen({ stdout, env }: NodeJS.Process): LiveScreen | undefined {
  if (!stdout.isTTY || env["TERM"] === "dumb") return undefined;
  const screen = createLiveScreen(stdout);
  // Also close the screen when a second signal ends the process immediately.
  process.once("exit", screen.close);
  return screen;
}

/** Returns a stream to stderr that writes lines above the screen, so that they do not garble it. */
function errorStream(screen: LiveScreen | undefined): Writable {
  if (screen === undefined) return process.stderr;
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      screen.above(() => void process.stderr.write(chunk));
      done();
    },
  });
}

function toContext(signal: AbortSignal): CliContext {
  const screen = openScreen(process);
  return {
    words: process.argv.slice(2),
    print: (line) => void process.stdout.write(`${line}\n`),
    signal,
    logger: async (level, log) => {
      const { createLogger, openConfiguredLogger } = await import("../process/logger.ts");
      if (log === undefined)
        return createLogger({ level, pretty: process.stderr.isTTY, stream: errorStream(screen) });
      return openConfiguredLogger(level, log, process);
    },
    onHangup: (listener) => {
      process.on("SIGHUP", listener);
      return () => process.off("SIGHUP", listener);
    },
    isTerminal: process.stdout.isTTY,
    ...(screen === undefined ? {} : { screen }),
  };
}

/** Codes of configuration errors, after which a supervisor must not restart the process. */
const BAD_CONFIG: ReadonlySet<string> = new Set([
  "bad-config",
  "wrong-chain",
  "bad-key",
  "bad-endpoint",
  "other-genesis",
  "home-unusable",
  "missing-module",
  "missing-upgrade",
  "state-unusable",
  "storage-unreadable",
  "bad-genesis",
  "log-output",
]);

/** Codes of errors that restarting the process may resolve. */
const TRY_AGAIN: ReadonlySet<string> = new Set(["signer"]);

/** Maps a command's error to the process exit code and the message for stderr, if any. */
export function toExit(
  error: unknown,
  isDaemon = false,
): { readonly exitCode: ExitCode; readonly message: string | undefined } {
  // An interrupted command must not exit with 0, because a script would treat the command as successful.
  if (error instanceof StopRequest)
    return { exitCode: isDaemon && error.by !== "SIGPIPE" ? EXIT.ok : EXIT.fatal, message: undefined };
  if (error instanceof CheckExit) return { exitCode: error.exitCode, message: undefined };
  if (error instanceof CliError) return { exitCode: error.facts.exitCode, message: errorText(error) };
  if (error instanceof CommanderError) {
    // Commander has already printed the help, the version or an error message.
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: undefined };
  }
  if (error instanceof CodedError && hasCode(error.facts, BAD_CONFIG))
    return { exitCode: isDiskFull(error) ? EXIT.tryAgain : EXIT.badConfig, message: error.message };
  // Restarting may help, because an external signer or a disk may recover later.
  const isLater = isDiskProblem(error) || (error instanceof CodedError && hasCode(error.facts, TRY_AGAIN));
  return { exitCode: isLater ? EXIT.tryAgain : EXIT.fatal, message: errorText(error) };
}

function hasCode(facts: unknown, codes: ReadonlySet<string>): boolean {
  if (typeof facts !== "object" || facts === null || !("code" in facts)) return false;
  return typeof facts.code === "string" && codes.has(facts.code);
}

export class StopRequest extends Error {
  readonly by: NodeJS.Signals;

  /** `by` is the received signal, or SIGPIPE if the reader of the output has closed the pipe. */
  constructor(by: NodeJS.Signals) {
    super(`received ${by}`);
    this.name = "StopRequest";
    this.by = by;
  }
}

interface ShutdownDeps {
  readonly process: Pick<EventEmitter, "on" | "off">;
  /** Ends the process immediately, on the second stop request. */
  readonly exit: (code: number) => void;
  readonly monotonicMs: () => number;
}

interface Shutdown {
  readonly signal: AbortSignal;
  /** Aborts the signal because the reader of the output has closed the pipe. */
  readonly stop: () => void;
  readonly dispose: () => void;
}

/** Signals within this time are one request: one Ctrl-C may arrive from the terminal and again from npm, which forwards it. */
const SAME_REQUEST_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Installs handlers for SIGINT and SIGTERM. The first signal aborts `signal` with a {@link StopRequest}. A second signal, more than
 * half a second later, ends the process immediately with exit code 1.
 */
export function createShutdown(deps: ShutdownDeps): Shutdown {
  const controller = new AbortController();
  let firstMs = 0;
  const onSignal = (by: NodeJS.Signals): void => {
    if (!controller.signal.aborted) {
      firstMs = deps.monotonicMs();
      controller.abort(new StopRequest(by));
    } else if (deps.monotonicMs() - firstMs >= SAME_REQUEST_MS) {
      deps.exit(EXIT.fatal);
    }
  };
  for (const name of SIGNALS) deps.process.on(name, onSignal);
  return {
    signal: controller.signal,
    stop: () => controller.abort(new StopRequest("SIGPIPE")),
    dispose: () => {
      for (const name of SIGNALS) deps.process.off(name, onSignal);
    },
  };
}
