import type { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { EXIT } from "../base/exit-codes.ts";
import { createShutdown } from "../ops/shutdown.ts";
import type { CliContext } from "./cli-context.ts";
import { toExit } from "./exit-code.ts";

/** Runs a command line as this process: signals, output, messages and exit code. `name` is in front of error messages. */
export async function runProcess(
  name: string,
  create: (context: CliContext) => Promise<Command>,
): Promise<void> {
  const shutdown = createShutdown({
    process,
    exit: (code) => process.exit(code),
    monotonicMs: systemClock.monotonicMs,
  });
  // A reader that closes the pipe early (`| head`) is not an error.
  process.stdout.on("error", () => process.exit(EXIT.ok));
  try {
    const program = await create(toContext(shutdown.signal));
    await program.parseAsync(process.argv);
  } catch (error) {
    const { exitCode, message } = toExit(error);
    if (message !== undefined) process.stderr.write(`${name}: ${message}\n`);
    process.exitCode = exitCode;
  } finally {
    shutdown.dispose();
  }
}

function toContext(signal: AbortSignal): CliContext {
  return {
    words: process.argv.slice(2),
    print: (line) => void process.stdout.write(`${line}\n`),
    signal,
    logger: async (level, log) => {
      const { createLogger } = await import("../ops/logger.ts");
      if (log === undefined)
        return createLogger({ level, pretty: process.stderr.isTTY, stream: process.stderr });
      const { openConfiguredLogger } = await import("../ops/open-logger.ts");
      return openConfiguredLogger(level, log, process);
    },
    isTerminal: process.stdout.isTTY,
  };
}
