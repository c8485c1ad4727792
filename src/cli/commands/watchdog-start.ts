import { Command } from "commander";
import type { LogLevel } from "../../platform/base/logger.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { daemonContext } from "../../platform/cli/daemon-context.ts";
import { logLevelOption, portOffsetOption } from "../../platform/cli/options.ts";
import { loadConfig } from "../../platform/config/config.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { limitHeapGrowth } from "../../platform/process/heap.ts";
import { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";
import { watchdogConfigSchema } from "../../watchdog/config/config.ts";

interface Options {
  readonly config?: string;
  readonly portOffset: number;
  readonly stateDir?: string;
  readonly logLevel: LogLevel;
}

/** `relaywatch watchdog start`. */
export function watchdogCommand(context: CliContext): Command {
  const start = new Command("start")
    .description("run the oracle watchdog until asked to stop")
    .option("--config <file>", "YAML configuration; default: for the localnet on this machine")
    .option("--state-dir <dir>", "without --config: directory for the watchdog's state")
    .addOption(portOffsetOption())
    .addOption(logLevelOption("info"))
    .action((options: Options) => startWatchdog(options, context));
  return new Command().addCommand(start);
}

async function startWatchdog(options: Options, context: CliContext): Promise<void> {
  const config =
    options.config === undefined
      ? localnetWatchdogConfig(options.portOffset, options.stateDir)
      : loadConfig(options.config, watchdogConfigSchema);
  limitHeapGrowth();
  const { runOracleWatchdog } = await import("../../../daemons/oracle-watchdog/main.ts");
  await runOracleWatchdog(config, await contextFor(options, context), (_watchdog, endpoints) => {
    for (const { name, url } of endpoints) context.print(`${name} ${url}`);
  });
}

/** With a configuration, its key moves the port. Without one, the option does. */
async function contextFor({ config, logLevel }: Options, context: CliContext): Promise<DaemonContext> {
  const daemon = await daemonContext(context, logLevel);
  return config === undefined ? { ...daemon, portOption: "--port-offset" } : daemon;
}
