import type { LogLevel } from "../base/logger.ts";
import { systemClock } from "../base/clock.ts";
import { readBuildInfo } from "../process/build-info.ts";
import type { DaemonContext, DaemonEndpoint } from "../process/daemon-context.ts";
import { serviceManagerOf } from "../process/service-manager.ts";
import type { LogConfig } from "../config/config-fields.ts";
import type { CliContext } from "./cli-context.ts";

/** Returns a listener that prints a daemon's endpoints on its first call only, because a reload does not change them. */
export function printOnce({
  print,
}: Pick<CliContext, "print">): (daemon: unknown, endpoints: readonly DaemonEndpoint[]) => void {
  let isPrinted = false;
  return (_daemon, endpoints) => {
    if (!isPrinted) for (const { name, url } of endpoints) print(`${name} ${url}`);
    isPrinted = true;
  };
}

/** Returns the context for a daemon that has a process to itself, and therefore reports to the service manager (systemd). */
export function ownProcess(context: DaemonContext): DaemonContext {
  const serviceManager = serviceManagerOf(process.env, process.pid);
  return serviceManager === undefined ? context : { ...context, serviceManager };
}

export async function daemonContext(
  context: CliContext,
  level: LogLevel,
  log?: LogConfig,
): Promise<DaemonContext> {
  const { level: logLevel, ...logger } = await context.logger(level, log);
  return {
    signal: context.signal,
    logger,
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(context.onHangup === undefined ? {} : { onHangup: context.onHangup }),
    clock: systemClock,
    random: Math.random,
    build: readBuildInfo(),
  };
}
