import { Command } from "commander";
import { portsAt } from "../../../daemons/localnet/ports.ts";
import { runOracleWatchdog } from "../../../daemons/oracle-watchdog/main.ts";
import { loadConfig } from "../../ops/config.ts";
import type { LogLevel } from "../../ops/logger.ts";
import { watchdogConfigSchema } from "../../watchdog/config.ts";
import type { CliContext } from "../cli-context.ts";
import { daemonContext } from "../daemon-context.ts";
import { localnetWatchdogConfig } from "../localnet-configs.ts";
import { logLevelOption, portOffsetOption } from "../options.ts";

interface Options {
  readonly config?: string;
  readonly portOffset: number;
  readonly stateDir?: string;
  readonly logLevel: LogLevel;
}

/** `relaywatch watchdog start`: the oracle watchdog in the foreground. */
export function watchdogCommand(context: CliContext): Command {
  const start = new Command("start")
    .description("run the oracle watchdog until it is asked to stop")
    .option("--config <file>", "YAML configuration; without it, the localnet on this machine")
    .option("--state-dir <dir>", "without --config: directory of the durable count")
    .addOption(portOffsetOption())
    .addOption(logLevelOption("info"))
    .action((options: Options) => startWatchdog(options, context));
  return new Command("watchdog").description("oracle watchdog").addCommand(start);
}

async function startWatchdog(options: Options, context: CliContext): Promise<void> {
  const config =
    options.config === undefined
      ? localnetWatchdogConfig(portsAt(options.portOffset), options.stateDir)
      : loadConfig(options.config, watchdogConfigSchema);
  await runOracleWatchdog(config, daemonContext(context, options.logLevel), (_watchdog, faces) => {
    for (const { name, url } of faces) context.print(`${name} ${url}`);
  });
}
