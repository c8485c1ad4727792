import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { LocalnetRunOptions } from "../../../daemons/localnet/main.ts";
import { accountsOf, type ChainProfile, CHAINS } from "../../localnet/accounts/chains.ts";
import type { ProfileName } from "../../localnet/chain/deviations/deviations.ts";
import type { LocalnetDaemonOptions } from "../../localnet/network/localnet-options.ts";
import { CliError, errorMessage, EXIT } from "../../platform/base/errors.ts";
import type { JsonValue } from "../../platform/base/json.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { corsOptions, DEFAULT_BLOCK_TIME_MS, DEFAULT_POWERS } from "../../platform/cli/options.ts";

export interface ChainOptions {
  readonly chainConfig?: string;
  readonly chainDir?: string;
  readonly portOffset: number;
  readonly profile?: ProfileName;
  readonly blockTime?: number;
  readonly localValidators?: readonly bigint[];
  readonly remoteValidators?: readonly bigint[];
  /** The user's own contracts to store on the local chain, in command-line order. */
  readonly contract?: readonly ContractOption[];
  readonly watch?: true;
}

interface ContractOption {
  readonly file: string;
  init: JsonValue;
  label: string;
  admin: string;
  migrate: string;
}

export type ChosenLocalnet = Pick<
  LocalnetDaemonOptions,
  "chains" | "roles" | "ports" | "validators" | "blockTimeMs" | "profile"
>;

/**
 * Adds options for the chains' configuration, for browser access and for the user's contracts. `--contract FILE` may be repeated;
 * `--init`, `--label`, `--admin` and `--migrate` apply to the preceding `--contract`.
 */
export function addChainOptions(command: Command): Command {
  const contracts: ContractOption[] = [];
  const ofLast =
    (settings: (text: string) => Partial<ContractOption>) =>
    (text: string): string => {
      const last = contracts.at(-1);
      if (last === undefined)
        throw new InvalidArgumentError("Put this option after the --contract to which it applies.");
      Object.assign(last, settings(text));
      return text;
    };
  const options = [
    new Option(
      "--contract <file>",
      "add a contract, a plain or gzipped WebAssembly file, to the genesis of a new local-1; repeatable",
    ).argParser((file) => {
      contracts.push({ file, init: {}, label: labelOf(file), admin: "operator", migrate: "{}" });
      return contracts;
    }),
    new Option("--init <json>", "instantiation message for the contract; default: {}").argParser(
      ofLast((text) => ({ init: parseInit(text) })),
    ),
    new Option("--label <text>", "the contract's label; default: the file name").argParser(
      ofLast((label) => ({ label })),
    ),
    new Option("--admin <name>", "test account that may migrate the contract; default: operator").argParser(
      ofLast((admin) => ({ admin })),
    ),
    new Option("--migrate <json>", "migration message for --watch; default: {}").argParser(
      ofLast((migrate) => {
        parseInit(migrate);
        return { migrate };
      }),
    ),
    new Option(
      "--watch",
      "when a contract's file changes, upload it and migrate the contract to the new code",
    ),
    new Option(
      "--chain-config <file>",
      "a YAML file with both chains' ids, accounts, validators, contracts and modules; default: local-1 and remote-1",
    ),
    new Option(
      "--chain-dir <dir>",
      "the folder with the files named in --chain-config; default: the folder of the --chain-config file",
    ),
    ...corsOptions(),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

function parseInit(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (error) {
    throw new InvalidArgumentError(`expected JSON: ${errorMessage(error)}.`);
  }
}

function labelOf(file: string): string {
  return basename(file).replace(/\.wasm(\.gz)?$/, "");
}

/**
 * Reads and validates the user's contracts, and throws `CliError` if one is invalid. With `--watch`, also returns options for
 * watching the files, where `report` receives one line per upload or migration.
 */
export async function chosenContracts(
  { contract: chosen = [], watch }: ChainOptions,
  report: (line: string) => void,
  chain: ChainProfile = CHAINS.local,
): Promise<Pick<LocalnetRunOptions, "contracts" | "watch">> {
  if (chosen.length === 0) {
    if (watch) throw new CliError(EXIT.usage, "--watch requires a --contract");
    return {};
  }
  const { readContract: read } = await import("../../localnet/cli/contract-code.ts");
  const names = accountsOf(chain).map(({ name }) => name);
  if (!names.includes("operator"))
    throw new CliError(EXIT.usage, `--contract needs an account named operator on ${chain.chainId}`);
  const contracts = chosen.map(({ file, init, label, admin }) => {
    if (!names.includes(admin))
      throw new CliError(EXIT.usage, `--admin ${admin}: expected one of ${names.join(", ")}`);
    return { code: read(file), init, label, admin };
  });
  if (!watch) return { contracts };
  if (new Set(chosen.map(({ label }) => label)).size < chosen.length)
    throw new CliError(
      EXIT.usage,
      "--watch requires contracts with different labels; set a --label for each",
    );
  return { contracts, watch: { contracts: chosen, read, report } };
}

/** Returns the localnet that the options describe. Throws `ConfigError` for the chain file, and `CliError` for the options. */
export async function chosenLocalnet(options: ChainOptions): Promise<ChosenLocalnet> {
  const { chainConfig, portOffset, blockTime, localValidators, remoteValidators, profile } = options;
  if (chainConfig === undefined) {
    if (options.chainDir !== undefined) throw new CliError(EXIT.usage, "--chain-dir requires --chain-config");
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
  // Load the schema only if `--chain-config` names a file, because loading it takes longer than parsing the options.
  const { loadChainConfig } = await import("../../localnet/cli/load-chain-config.ts");
  const { blockTimeMs, ...net } = await loadChainConfig({ ...options, chainConfig }, portOffset);
  return { ...net, blockTimeMs: blockTime ?? blockTimeMs };
}
