import { Argument, Command, Option } from "commander";
import { profileOption } from "../../localnet/cli/localnet-profile.ts";
import { LOCALNET_SCENARIOS, type LocalnetScenario } from "../../localnet/genesis/genesis.ts";
import { LOCALNET_PARTS, type LocalnetPart } from "../../localnet/network/localnet-options.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { LogLevel } from "../../platform/base/logger.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { daemonContext, ownProcess } from "../../platform/cli/process-context.ts";
import {
  accessOf,
  type AccessOptions,
  allowHostOption,
  blockTimeOption,
  keepBlocksOption,
  logLevelOption,
  parseGas,
  portOffsetOption,
  powersOption,
} from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile, localnetChainsHome } from "../../platform/cli/state-home.ts";
import { addChainOptions, type ChainOptions, chosenContracts, chosenLocalnet } from "./chain-options.ts";

interface StartOptions extends AccessOptions, ChainOptions {
  readonly home?: string;
  readonly keepBlocks?: number;
  readonly scenario?: LocalnetScenario;
  readonly ibcRelayer?: true;
  readonly traffic?: bigint;
  readonly logLevel: LogLevel;
}

export function startCommand(context: CliContext): Command {
  const command = new Command()
    .addArgument(
      new Argument("[part...]", "parts to run in this process; default: all except ibc-relayer").choices(
        LOCALNET_PARTS,
      ),
    )
    .option(
      "--ibc-relayer",
      "also run the IBC relayer: it opens a transfer channel and relays packets between the chains",
    )
    .addOption(trafficOption())
    .option("--home <dir>", "the directory for the chains' state")
    .addOption(blockTimeOption())
    .addOption(keepBlocksOption())
    .addOption(powersOption("--local-validators", "voting powers on local-1"))
    .addOption(powersOption("--remote-validators", "voting powers on remote-1"))
    .addOption(profileOption())
    .addOption(
      new Option("--scenario <name>", "add a scenario's state to the genesis of a new local-1").choices(
        LOCALNET_SCENARIOS,
      ),
    )
    .addOption(allowHostOption())
    .addOption(portOffsetOption())
    .addOption(logLevelOption("info"))
    .addHelpText(
      "after",
      `
Without --home, all parts in one process hold their state in memory. A chain that runs alone always stores its state on
disk: in --home, or under $XDG_STATE_HOME/relaywatch (~/.local/state/relaywatch). The other parts keep running while it
is down.
--scenario dex-demo: alice's pools and bob's limit orders on the pairs between uibcatom, uibcusdc and untrn, and coins of all
three for every test account. See "relaywatch query dex list-tick-liquidity 'uibcatom<>untrn' uibcatom".
--scenario hooks-demo: contracts that receive every staking hook. "echo" returns each one as an event, "voting-power"
knows the voting power at every height. Start with --local-validators 20,5,2 and accuse one of them.
--contract FILE: the account operator uploads and instantiates it; the log names its address. --init, --label, --admin and --migrate
belong to the --contract before them. With --watch, the account of --admin uploads each new version of the file and migrates
the contract to it.
--traffic 8M: the test account "traffic" sends transactions, so that others use about that much gas in each block of
local-1. It pays the gas price up to 1,000 times the minimum.
The first time, start remote before local: local's genesis contains a light client of remote.`,
    )
    .action((parts: readonly LocalnetPart[], options: StartOptions) =>
      startLocalnet(parts, options, context),
    );
  return addChainOptions(command);
}

/** Minimum gas for a `--traffic` transaction, because even a call to a contract that does nothing uses 133,000 gas. */
const LEAST_TRAFFIC = 200_000n;

function trafficOption(): Option {
  return new Option(
    "--traffic <gas>",
    "simulate other users' transactions, with this much gas in each local-1 block, e.g. 8M, 500k or 8000000",
  ).argParser((text) => parseGas(text, LEAST_TRAFFIC));
}

/** The localnet parts to run if the command line names none. */
const WHOLE: readonly LocalnetPart[] = LOCALNET_PARTS.filter((part) => part !== "ibc-relayer");

async function startLocalnet(
  given: readonly LocalnetPart[],
  options: StartOptions,
  context: CliContext,
): Promise<void> {
  const chosen = given.length === 0 ? WHOLE : given;
  const parts = options.ibcRelayer ? [...new Set([...chosen, "ibc-relayer" as const])] : chosen;
  if (options.traffic !== undefined && !parts.includes("local")) {
    const text =
      "--traffic requires the local chain in the same process: relaywatch localnet start local --traffic …";
    throw new CliError(EXIT.usage, text);
  }
  if (options.contract !== undefined && !parts.includes("local"))
    throw new CliError(
      EXIT.usage,
      "--contract requires the local chain: relaywatch localnet start local --contract …",
    );
  const net = await chosenLocalnet(options);
  const contracts = await chosenContracts(options, context.print, net.chains?.local);
  const isWhole = WHOLE.every((part) => parts.includes(part));
  const ownHome = isWhole ? undefined : localnetChainsHome(options.portOffset);
  const hasControl = parts.includes("local") || parts.includes("sidecar");
  // Import the chains only here, because loading them takes half a second and `--help` does not need them.
  const { runLocalnet } = await import("../../../daemons/localnet/main.ts");
  await runLocalnet(
    {
      parts,
      ...net,
      home: options.home ?? ownHome,
      scenario: options.scenario,
      ...contracts,
      keepBlocks: options.keepBlocks,
      trafficGas: options.traffic,
      access: accessOf(options),
      controlToken: hasControl ? controlToken(options.portOffset) : undefined,
    },
    ownProcess(await daemonContext(context, options.logLevel)),
    ({ endpoints }) => {
      for (const { name, url } of endpoints) context.print(`${name} ${url}`);
      if (options.traffic !== undefined)
        context.print(
          `traffic of ${options.traffic} gas in each block of ${net.chains?.local.chainId ?? "local-1"}`,
        );
      if (hasControl) context.print(`control token in ${controlTokenFile(options.portOffset)}`);
    },
  );
}
