import { Command } from "commander";
import { runIcqRelayer } from "../../../daemons/icq-relayer/main.ts";
import type { LogLevel } from "../../base/logger.ts";
import type { CliContext } from "../cli-context.ts";
import { logLevelOption } from "../options.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "../relayer-config-options.ts";

interface Options extends RelayerConfigOptions {
  readonly logLevel?: LogLevel;
}

/** `relaywatch relayer start`. */
export function startCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(logLevelOption())
    .addHelpText(
      "after",
      `
--from-env reads the settings of neutron_query_relayer. "relaywatch config from-env" prints them as YAML.`,
    )
    .action((options: Options) => startRelayer(options, context));
}

async function startRelayer(options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const daemon = await relayerContext(selected, options.logLevel, context);
  await runIcqRelayer(selected.config, daemon, (_relayer, endpoints) => {
    for (const { name, url } of endpoints) context.print(`${name} ${url}`);
  });
}
