import { join } from "node:path";
import { Command, Option } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import { addOutputOptions, type CliContext, type OutputOptions } from "../../platform/cli/cli-context.ts";
import { printResult } from "../../platform/cli/print-response.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import { localnetChainsHome } from "../../platform/cli/state-home.ts";
import { createApp } from "../chain/app.ts";
import type { Application } from "../chain/runtime/abci.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";
import { type ChainPart, type ChainProfile, CHAINS } from "../accounts/chains.ts";
import { chooseModules, type ModuleSet } from "../genesis/chain-files.ts";
import { NodeError } from "../node/base/errors.ts";
import { decodeGenesis, type GenesisDoc, genesisToJson, parseGenesis } from "../node/base/genesis-doc.ts";
import { loadChainState } from "../node/consensus/chain-state.ts";
import { type BlockStore, openBlockStore, readBlockStore } from "../node/storage/block-store.ts";
import { chainsOf } from "./load-chain-config.ts";

/**
 * Maximum size of a genesis document in bytes, which is far above any localnet export. The limit prevents the command from reading
 * a huge file that was given by mistake.
 */
const MAX_GENESIS_BYTES = 512 * 1024 * 1024;

type CreateApp = (storage: StateStorage, genesis: GenesisDoc) => Application;

interface Options {
  readonly home?: string;
  readonly chainConfig?: string;
  readonly chain: ChainPart;
  readonly portOffset: number;
}

/** `relaywatch localnet export`: prints a genesis document from which a chain can continue at the next height. */
export function exportCommand(context: CliContext, modules?: ModuleSet): Command {
  return withHome(new Command())
    .addHelpText(
      "after",
      "\nAn in-memory localnet (all parts in one process, without --home) cannot be exported.",
    )
    .action(async (options: Options) => {
      const profile = (await chainsOf(options.chainConfig))[options.chain];
      const genesis = exportHomeGenesis(homeOf(options, profile), appOf(profile, modules));
      context.print(stringifyJson(genesisToJson(genesis), 2));
    });
}

/** `relaywatch localnet import FILE`: creates a home whose chain starts from a genesis document. */
export function importCommand(context: CliContext, modules?: ModuleSet): Command {
  return addOutputOptions(withHome(new Command()))
    .argument("<file>", "genesis document")
    .action(async (file: string, options: Options & OutputOptions) => {
      const profile = (await chainsOf(options.chainConfig))[options.chain];
      const home = homeOf(options, profile);
      const genesis = readGenesis(file, profile);
      importHomeGenesis(home, genesis, appOf(profile, modules));
      const { chainId, initialHeight } = genesis;
      printResult(
        {
          value: { chain_id: chainId, initial_height: initialHeight.toString(), home },
          text: `${chainId} starts at height ${initialHeight} in ${home}`,
        },
        options,
        context,
      );
    });
}

function withHome(command: Command): Command {
  return command
    .option(
      "--home <dir>",
      "home directory given to `localnet start --home`; default: the state directory of parts started separately",
    )
    .addOption(new Option("--chain <part>", "chain to export").choices(Object.keys(CHAINS)).default("local"))
    .option("--chain-config <file>", "the localnet's configuration file")
    .addOption(portOffsetOption());
}

function homeOf({ home, portOffset }: Options, { chainId }: ChainProfile): string {
  return join(home ?? localnetChainsHome(portOffset), chainId);
}

function appOf(profile: ChainProfile, modules: ModuleSet | undefined): CreateApp {
  return (storage, genesis) => {
    const moreModules = chooseModules(modules, genesis, storage);
    return createApp({ ...profile, kind: profile.part, profile: genesis.profile, moreModules }, { storage });
  };
}

function readGenesis(file: string, { chainId }: ChainProfile): GenesisDoc {
  const genesis = parseGenesis(readJson(file));
  if (genesis.chainId === chainId) return genesis;
  throw new CliError(
    EXIT.badConfig,
    `${file} is the genesis for chain ${genesis.chainId}, expected ${chainId}; choose the chain with --chain`,
  );
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_GENESIS_BYTES));
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `cannot parse ${file} as JSON`, { cause });
  }
}

/**
 * Exports the state in a home directory as a genesis document. A chain started from the document continues at the next height, with
 * the last block's time and all committed validator updates. A node may use the home during the export, because the export reads
 * the state at a single height. Throws `NodeError` `home-unusable` or `no-state`.
 */
export function exportHomeGenesis(home: string, openApp: CreateApp): GenesisDoc {
  const store = readBlockStore(home);
  try {
    return exportGenesis(store, openApp, home);
  } finally {
    store.close();
  }
}

function exportGenesis(store: BlockStore, openApp: CreateApp, home: string): GenesisDoc {
  const document = store.genesis();
  if (document === undefined || store.latestHeight() === undefined) {
    throw new NodeError({ code: "no-state", home }, `the chain in ${home} has made no block yet`);
  }
  const genesis = decodeGenesis(document);
  const app = openApp(store.state, genesis);
  const { height, lastTimeNs, nextValidators } = loadChainState(store, app, genesis);
  return {
    ...genesis,
    genesisTimeNs: lastTimeNs,
    initialHeight: height + 1n,
    validators: nextValidators.validators.map(({ publicKey, power }) => ({ publicKey, power })),
    appState: app.exportState(),
  };
}

/**
 * Stores a genesis document in a home directory, which is created if necessary. Throws `NodeError` `other-genesis` if the home
 * already has a genesis document, or the application's error if the application rejects the document.
 */
export function importHomeGenesis(home: string, genesis: GenesisDoc, openApp: CreateApp): void {
  const store = openBlockStore(home);
  try {
    if (store.genesis() !== undefined) {
      throw new NodeError(
        { code: "other-genesis", chainId: genesis.chainId },
        `the home directory ${home} already contains a chain; choose another --home`,
      );
    }
    loadChainState(store, openApp(store.state, genesis), genesis);
  } finally {
    store.close();
  }
}
