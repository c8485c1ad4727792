import { Command } from "commander";
import type { LogLevel } from "../../platform/base/logger.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { daemonContext } from "../../platform/cli/daemon-context.ts";
import { logLevelOption, portOffsetOption } from "../../platform/cli/options.ts";
import { type ParsedConfig, readConfigText } from "../../platform/config/config.ts";
import { givesVariables, readDaemonConfig } from "../../platform/config/daemon-config.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { limitHeapGrowth } from "../../platform/process/heap.ts";
import { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";
import { type WatchdogDaemonConfig, watchdogConfigKind } from "../../watchdog/config/config.ts";

interface Options {
  readonly config?: string;
  readonly portOffset: number;
  readonly stateDir?: string;
  readonly logLevel?: LogLevel;
}

/** `relaywatch watchdog start`. */
export function watchdogCommand(context: CliContext): Command {
  const start = new Command("start")
    .description("run the oracle watchdog until asked to stop")
    .option("--config <file>", "YAML configuration; default: for the localnet on this machine")
    .option("--state-dir <dir>", "without --config: directory for the watchdog's state")
    .addOption(portOffsetOption())
    .addOption(logLevelOption())
    .action((options: Options) => startWatchdog(options, context));
  return new Command().addCommand(start);
}

async function startWatchdog(options: Options, context: CliContext): Promise<void> {
  const { parsed, portOption } = selectConfig(options);
  const { config } = parsed;
  limitHeapGrowth();
  const { runOracleWatchdog } = await import("../../../daemons/oracle-watchdog/main.ts");
  const daemon = await daemonContext(context, options.logLevel ?? config.log.level, config.log);
  await runOracleWatchdog(config, { ...daemon, ...portOption }, (_watchdog, endpoints) => {
    for (const { name, url } of endpoints) context.print(`${name} ${url}`);
  });
}

/** With a configuration, its key moves the port. Without one, the option does. */
function selectConfig(options: Options): {
  readonly parsed: ParsedConfig<WatchdogDaemonConfig>;
  readonly portOption: Pick<DaemonContext, "portOption">;
} {
  if (options.config === undefined && !givesVariables(watchdogConfigKind, options)) {
    const parsed = localnetWatchdogConfig(options.portOffset, options.stateDir);
    return { parsed, portOption: { portOption: "--port-offset" } };
  }
  const source = options.config === undefined ? undefined : readConfigText(options.config);
  return { parsed: readDaemonConfig(watchdogConfigKind, source), portOption: {} };
}
