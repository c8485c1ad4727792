import { Command } from "commander";
import type { LogLevel } from "../../platform/base/logger.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { daemonContext, ownProcess, printOnce } from "../../platform/cli/process-context.ts";
import {
  chainClockOption,
  type ChainClockOptions,
  followChainClock,
  withItsDurations,
} from "../../platform/cli/chain-clock.ts";
import { logLevelOption, portOffsetOption } from "../../platform/cli/options.ts";
import { readConfigText, requireFile } from "../../platform/config/config.ts";
import { createConfigReloads, type ReadConfig } from "../../platform/config/config-reloads.ts";
import { givesVariables, readDaemonConfig } from "../../platform/config/daemon-config.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { logLevelCommand, reloadCommand } from "../../platform/cli/control-output.ts";
import { askWatchdog, placeOptions } from "../../watchdog/cli/oracle-source.ts";
import { limitHeapGrowth } from "../../platform/process/heap.ts";
import { CHAINS } from "../../localnet/accounts/chains.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { watchedLocalnet } from "./watched-localnet.ts";
import { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";
import { lossOf, type WatchdogDaemonConfig, watchdogConfigKind } from "../../watchdog/config/config.ts";

interface Options extends ChainClockOptions {
  readonly config?: string;
  readonly stateDir?: string;
  readonly logLevel?: LogLevel;
}

export function watchdogCommand(context: CliContext): Command {
  const start = new Command("start")
    .description("run the oracle watchdog until asked to stop")
    .option("--config <file>", "the YAML configuration; default: settings for this machine's localnet")
    .option("--state-dir <dir>", "the directory for the watchdog's state, if there is no --config")
    .addOption(portOffsetOption())
    .addOption(chainClockOption())
    .addOption(logLevelOption())
    .action((options: Options) => startWatchdog(options, context));
  const reload = controlCommand("reload", "make a running watchdog reload its configuration, as SIGHUP does");
  const level = controlCommand("log-level", "print or set the log level of a running watchdog");
  return new Command()
    .addCommand(start)
    .addCommand(reloadCommand(reload, askWatchdog, context))
    .addCommand(logLevelCommand(level, askWatchdog, context));
}

function controlCommand(name: string, description: string): Command {
  const command = new Command(name).description(description).addOption(jsonOption());
  for (const option of placeOptions()) command.addOption(option);
  return command;
}

async function startWatchdog(options: Options, context: CliContext): Promise<void> {
  const selected = selectConfig(options);
  const { config } = selected.parsed;
  limitHeapGrowth();
  const { runOracleWatchdog } = await import("../../../daemons/oracle-watchdog/main.ts");
  const own = ownProcess(await daemonContext(context, options.logLevel ?? config.log.level, config.log));
  const followed = await followChainClock(options, own);
  const daemon = { ...followed, clock: withItsDurations(followed.clock, own.clock) };
  const reloads = createConfigReloads(
    selected,
    () => {
      requireFile(options.config);
      return selectConfig(options);
    },
    ({ log }: WatchdogDaemonConfig) => options.logLevel ?? log.level,
    lossOf,
  );
  await runOracleWatchdog(config, { ...daemon, ...selected.names }, printOnce(context), reloads);
}

interface SelectedConfig extends ReadConfig<WatchdogDaemonConfig> {
  /** Name of the port setting in error messages: the configuration key, or the option if there is no such key. */
  readonly names: Pick<DaemonContext, "portOption">;
}

function selectConfig(options: Options): SelectedConfig {
  const kind = watchdogConfigKind;
  if (options.config === undefined && !givesVariables(kind, options)) {
    const parsed = localnetWatchdogConfig(
      options.portOffset,
      options.stateDir,
      watchedLocalnet(CHAINS.local, portsAt(options.portOffset)),
    );
    return { kind, parsed, names: { portOption: "--port-offset" } };
  }
  const source = options.config === undefined ? undefined : readConfigText(options.config);
  return { kind, parsed: readDaemonConfig(kind, source), names: {} };
}
