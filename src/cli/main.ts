#!/usr/bin/env node
import { systemClock } from "../base/clock.ts";
import { EXIT } from "../base/exit-codes.ts";
import { createShutdown } from "../ops/shutdown.ts";
import type { CliContext } from "./cli-context.ts";
import { toExit } from "./exit-code.ts";
import { createProgram } from "./program.ts";

const shutdown = createShutdown({
  process,
  exit: (code) => process.exit(code),
  monotonicMs: systemClock.monotonicMs,
});
// A reader that closes the pipe early (`| head`) is not an error.
process.stdout.on("error", () => process.exit(EXIT.ok));

const context: CliContext = {
  words: process.argv.slice(2),
  print: (line) => void process.stdout.write(`${line}\n`),
  signal: shutdown.signal,
  logger: async (level, log) => {
    const { createLogger } = await import("../ops/logger.ts");
    if (log === undefined)
      return createLogger({ level, pretty: process.stderr.isTTY, stream: process.stderr });
    const { openConfiguredLogger } = await import("../ops/open-logger.ts");
    return openConfiguredLogger(level, log, process);
  },
  isTerminal: process.stdout.isTTY,
};

try {
  const program = await createProgram(context);
  await program.parseAsync(process.argv);
} catch (error) {
  const { exitCode, message } = toExit(error);
  if (message !== undefined) process.stderr.write(`relaywatch: ${message}\n`);
  process.exitCode = exitCode;
} finally {
  shutdown.dispose();
}
