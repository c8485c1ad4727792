import { Option } from "commander";
import type { ProfileName } from "../../localnet/chain/deviations/deviations.ts";
import type { LocalnetDaemonOptions } from "../../localnet/network/localnet-options.ts";
import { EXIT } from "../../platform/base/errors.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { DEFAULT_BLOCK_TIME_MS, DEFAULT_POWERS } from "../../platform/cli/options.ts";

export interface ChainOptions {
  readonly chainConfig?: string;
  readonly chainDir?: string;
  readonly portOffset: number;
  readonly profile?: ProfileName;
  readonly blockTime?: number;
  readonly localValidators?: readonly bigint[];
  readonly remoteValidators?: readonly bigint[];
}

export type ChosenLocalnet = Pick<
  LocalnetDaemonOptions,
  "chains" | "roles" | "ports" | "validators" | "blockTimeMs" | "profile"
>;

export function chainConfigOptions(): readonly Option[] {
  return [
    new Option(
      "--chain-config <file>",
      "YAML file with chain ids, accounts, validators, contracts and modules of both chains; default: local-1 and remote-1",
    ),
    new Option(
      "--chain-dir <dir>",
      "folder of the files named in --chain-config; default: that file's folder",
    ),
  ];
}

/** Throws `ConfigError` and `CliError`. */
export async function chosenLocalnet(options: ChainOptions): Promise<ChosenLocalnet> {
  const { chainConfig, portOffset, blockTime, localValidators, remoteValidators, profile } = options;
  if (chainConfig === undefined) {
    if (options.chainDir !== undefined) throw new CliError(EXIT.usage, "--chain-dir needs a --chain-config");
    return {
      ports: portsAt(portOffset),
      profile,
      blockTimeMs: blockTime ?? DEFAULT_BLOCK_TIME_MS,
      validators: { local: localValidators ?? DEFAULT_POWERS, remote: remoteValidators ?? DEFAULT_POWERS },
    };
  }
  if (localValidators !== undefined || remoteValidators !== undefined)
    throw new CliError(
      EXIT.usage,
      "--local-validators and --remote-validators cannot be combined with --chain-config, which already defines the validators",
    );
  if (profile !== undefined)
    throw new CliError(
      EXIT.usage,
      "--profile cannot be combined with --chain-config, which already defines the profile",
    );
  // Loading the schema takes longer than the options of a localnet without a file need.
  const { loadChainConfig } = await import("../../localnet/cli/load-chain-config.ts");
  const { blockTimeMs, ...net } = await loadChainConfig({ ...options, chainConfig }, portOffset);
  return { ...net, blockTimeMs: blockTime ?? blockTimeMs };
}
