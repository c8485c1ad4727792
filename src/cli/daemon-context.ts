import { systemClock } from "../base/clock.ts";
import { readBuildInfo } from "../ops/build-info.ts";
import type { DaemonContext } from "../ops/daemon-context.ts";
import type { LogLevel } from "../ops/logger.ts";
import type { CliContext } from "./cli-context.ts";

/** What a daemon gets when the command line starts it. */
export function daemonContext(context: CliContext, level: LogLevel): DaemonContext {
  return {
    signal: context.signal,
    logger: context.logger(level),
    clock: systemClock,
    random: Math.random,
    build: readBuildInfo(),
  };
}
