import type { LogLevel } from "../base/logger.ts";
import { systemClock } from "../base/clock.ts";
import { readBuildInfo } from "../process/build-info.ts";
import type { DaemonContext } from "../process/daemon-context.ts";
import type { LogConfig } from "../config/config-fields.ts";
import type { CliContext } from "./cli-context.ts";

/** Creates the context for a daemon started from the command line. */
export async function daemonContext(
  context: CliContext,
  level: LogLevel,
  log?: LogConfig,
): Promise<DaemonContext> {
  return {
    signal: context.signal,
    logger: await context.logger(level, log),
    clock: systemClock,
    random: Math.random,
    build: readBuildInfo(),
  };
}
