import { Command } from "commander";
import type { LogLevel } from "../../platform/base/logger.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import {
  chainClockOption,
  type ChainClockOptions,
  followChainClock,
} from "../../platform/cli/chain-clock.ts";
import { logLevelOption, waitOption } from "../../platform/cli/options.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { requireFile } from "../../platform/config/config.ts";
import { createConfigReloads } from "../../platform/config/config-reloads.ts";
import { ownProcess, printOnce } from "../../platform/cli/process-context.ts";
import { limitHeapGrowth } from "../../platform/process/heap.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  type SelectedConfig,
  relayerContext,
  selectRelayerConfig,
} from "../../relayer/cli/relayer-config-options.ts";
import type { RelayerConfig } from "../../relayer/config/relayer-config.ts";
import { isFirstAfterGo } from "../../relayer/from-leveldb/first-start.ts";

interface Options extends RelayerConfigOptions, ChainClockOptions {
  readonly logLevel?: LogLevel;
}

export function startCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(chainClockOption())
    .addOption(logLevelOption())
    .addOption(waitOption())
    .addHelpText(
      "after",
      `
--from-env reads neutron_query_relayer's settings. "relaywatch config from-env" prints them as YAML.`,
    )
    .action((options: Options) => startRelayer(options, context));
}

/** Imports the Go relayer's storage on the first start in a state directory that the Go relayer has used. */
async function takeOver(config: RelayerConfig, daemon: DaemonContext): Promise<void> {
  if (!isFirstAfterGo(config)) return;
  // Load LevelDB only if there is something to import.
  const { importLevelDb } = await import("../../relayer/from-leveldb/import-leveldb.ts");
  const { queries, unknown } = await importLevelDb(config.state_dir ?? "", config, daemon, daemon.signal);
  daemon.logger.info("the Go relayer's storage was imported", {
    queries: queries.length,
    deadLetters: queries.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    unknownEntries: unknown,
  });
}

export async function startRelayer(options: Options, context: CliContext): Promise<void> {
  const select = (): Promise<SelectedConfig> => selectRelayerConfig({ ...options, withToken: true }, context);
  const selected = await select();
  limitHeapGrowth();
  const own = ownProcess(await relayerContext(selected, options.logLevel, context));
  const daemon = await followChainClock(options, own);
  if (options.fromEnv !== undefined) await takeOver(selected.config, daemon);
  const { runIcqRelayer } = await import("../../../daemons/icq-relayer/main.ts");
  const reloads = createConfigReloads(
    selected,
    () => {
      requireFile(options.config);
      return select();
    },
    ({ log }: RelayerConfig) => options.logLevel ?? log.level,
  );
  await runIcqRelayer(selected.config, daemon, printOnce(context), reloads);
}
