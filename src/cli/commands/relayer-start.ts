import { Command } from "commander";
import { portsAt } from "../../../daemons/localnet/ports.ts";
import { runIcqRelayer } from "../../../daemons/icq-relayer/main.ts";
import { loadConfig } from "../../ops/config.ts";
import type { LogLevel } from "../../ops/logger.ts";
import { relayerConfigSchema } from "../../relayer/config.ts";
import type { CliContext } from "../cli-context.ts";
import { daemonContext } from "../daemon-context.ts";
import { localnetRelayerConfig } from "../localnet-configs.ts";
import { logLevelOption, portOffsetOption } from "../options.ts";

interface Options {
  readonly config?: string;
  readonly portOffset: number;
  readonly stateDir?: string;
  readonly logLevel: LogLevel;
}

/** `relaywatch relayer start`: the ICQ relayer in the foreground. */
export function relayerCommand(context: CliContext): Command {
  const start = new Command("start")
    .description("run the interchain-query relayer until it is asked to stop")
    .option("--config <file>", "YAML configuration; without it, the localnet on this machine")
    .option("--state-dir <dir>", "without --config: directory for what must survive a restart")
    .addOption(portOffsetOption())
    .addOption(logLevelOption("info"))
    .action((options: Options) => startRelayer(options, context));
  return new Command("relayer").description("interchain-query relayer").addCommand(start);
}

async function startRelayer(options: Options, context: CliContext): Promise<void> {
  const config =
    options.config === undefined
      ? localnetRelayerConfig(portsAt(options.portOffset), options.stateDir)
      : loadConfig(options.config, relayerConfigSchema());
  await runIcqRelayer(config, daemonContext(context, options.logLevel), (_relayer, faces) => {
    for (const { name, url } of faces) context.print(`${name} ${url}`);
  });
}
