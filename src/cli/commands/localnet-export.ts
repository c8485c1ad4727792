import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { stringifyJson } from "../../base/json.ts";
import { EXIT } from "../../base/exit-codes.ts";
import type { Application } from "../../chain/abci.ts";
import { createApp } from "../../chain/app.ts";
import type { StateStorage } from "../../chain/store/state-storage.ts";
import { type GenesisDoc, genesisToJson, parseGenesis } from "../../node/genesis-doc.ts";
import { exportHomeGenesis, importHomeGenesis } from "../../node/home-genesis.ts";
import { type ChainProfile, CHAINS, type LocalnetPart } from "../../node/localnet/chains.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { portOffsetOption } from "../options.ts";
import { localnetChainsHome } from "../state-home.ts";

interface Options {
  readonly home?: string;
  readonly chain: LocalnetPart;
  readonly portOffset: number;
}

/** `relaywatch localnet export`: the whole state of a chain as the genesis document of one that goes on from it. */
export function exportCommand(context: CliContext): Command {
  return withHome(new Command("export"))
    .description("print a chain's state as a genesis document; the chain may be running")
    .addHelpText(
      "after",
      "\nA localnet that lives in memory (all parts in one process, without --home) has nothing to export.",
    )
    .action((options: Options) => {
      const profile = CHAINS[options.chain];
      const genesis = exportHomeGenesis(homeOf(options, profile), appOf(profile));
      context.print(stringifyJson(genesisToJson(genesis), 2));
    });
}

/** `relaywatch localnet import FILE`: makes a home whose chain starts with a genesis document. */
export function importCommand(context: CliContext): Command {
  return withHome(new Command("import"))
    .description("prepare an empty home to start with a genesis document, such as `localnet export` prints")
    .argument("<file>", "genesis document")
    .action((file: string, options: Options) => {
      const profile = CHAINS[options.chain];
      const home = homeOf(options, profile);
      const genesis = readGenesis(file, profile);
      importHomeGenesis(home, genesis, appOf(profile));
      context.print(`${genesis.chainId} starts at height ${genesis.initialHeight} in ${home}`);
    });
}

function withHome(command: Command): Command {
  return command
    .option(
      "--home <dir>",
      "what `localnet start --home` was given; without it, where parts keep their state",
    )
    .addOption(
      new Option("--chain <part>", "which of the two chains").choices(Object.keys(CHAINS)).default("local"),
    )
    .addOption(portOffsetOption());
}

function homeOf({ home, portOffset }: Options, { chainId }: ChainProfile): string {
  return join(home ?? localnetChainsHome(portOffset), chainId);
}

function appOf(profile: ChainProfile): (storage: StateStorage) => Application {
  return (storage) => createApp({ ...profile, kind: profile.part }, { storage });
}

/** More than any localnet exports. */
const MAX_GENESIS_BYTES = 512 * 1024 * 1024;

function readGenesis(file: string, { chainId }: ChainProfile): GenesisDoc {
  const genesis = parseGenesis(readJson(file));
  if (genesis.chainId === chainId) return genesis;
  throw new CliError(
    EXIT.badConfig,
    `${file} is the genesis of chain ${genesis.chainId}, not of ${chainId}; choose the chain with --chain`,
  );
}

function readJson(file: string): unknown {
  try {
    if (statSync(file).size > MAX_GENESIS_BYTES)
      throw new Error(`it is larger than ${MAX_GENESIS_BYTES} bytes`);
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `${file} cannot be read as JSON`, { cause });
  }
}
