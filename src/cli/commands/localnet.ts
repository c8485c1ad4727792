import { Argument, Command } from "commander";
import { LOCALNET_PARTS, type LocalnetPart, runLocalnet } from "../../../daemons/localnet/main.ts";
import { portsAt } from "../../../daemons/localnet/ports.ts";
import { stringifyJson } from "../../base/json.ts";
import { localnetAccounts } from "../../node/localnet/accounts.ts";
import type { LogLevel } from "../../ops/logger.ts";
import type { CliContext } from "../cli-context.ts";
import { daemonContext } from "../daemon-context.ts";
import { blockTimeOption, logLevelOption, portOffsetOption, powersOption } from "../options.ts";
import { controlToken, controlTokenFile, localnetChainsHome } from "../state-home.ts";
import { exportCommand, importCommand } from "./localnet-export.ts";

/** `relaywatch localnet`: the chains and the sidecar of a laptop. */
export function localnetCommand(context: CliContext): Command {
  return new Command("localnet")
    .description("two local chains and a simulated price sidecar")
    .addCommand(startCommand(context))
    .addCommand(accountsCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(importCommand(context));
}

interface StartOptions {
  readonly portOffset: number;
  readonly home?: string;
  readonly blockTime: number;
  readonly localValidators: readonly bigint[];
  readonly remoteValidators: readonly bigint[];
  readonly logLevel: LogLevel;
}

function startCommand(context: CliContext): Command {
  return new Command("start")
    .description("run the localnet, or some of its parts, until asked to stop")
    .addArgument(
      new Argument("[part...]", "what to run in this process; default all").choices(LOCALNET_PARTS),
    )
    .option("--home <dir>", "keep the chains' state there")
    .addOption(blockTimeOption())
    .addOption(powersOption("--local-validators", "voting powers on local-1"))
    .addOption(powersOption("--remote-validators", "voting powers on remote-1"))
    .addOption(portOffsetOption())
    .addOption(logLevelOption("info"))
    .addHelpText(
      "after",
      `
All parts in one process live in memory unless --home is given. A chain that is started alone keeps its state in
--home, or under $XDG_STATE_HOME/relaywatch (~/.local/state/relaywatch), since the others go on while it is away.
Start remote before local the first time: local's client of it begins with one of its headers.`,
    )
    .action((parts: readonly LocalnetPart[], options: StartOptions) =>
      startLocalnet(parts, options, context),
    );
}

async function startLocalnet(
  given: readonly LocalnetPart[],
  options: StartOptions,
  context: CliContext,
): Promise<void> {
  const parts = given.length === 0 ? LOCALNET_PARTS : given;
  const isWhole = LOCALNET_PARTS.every((part) => parts.includes(part));
  const ownHome = isWhole ? undefined : localnetChainsHome(options.portOffset);
  const hasControl = parts.includes("local");
  await runLocalnet(
    {
      parts,
      ports: portsAt(options.portOffset),
      home: options.home ?? ownHome,
      blockTimeMs: options.blockTime,
      validators: { local: options.localValidators, remote: options.remoteValidators },
      controlToken: hasControl ? controlToken(options.portOffset) : undefined,
    },
    daemonContext(context, options.logLevel),
    ({ endpoints }) => {
      for (const { name, url } of endpoints) context.print(`${name} ${url}`);
      if (hasControl) context.print(`control token in ${controlTokenFile(options.portOffset)}`);
    },
  );
}

function accountsCommand(context: CliContext): Command {
  return new Command("accounts")
    .description("the funded test accounts (PUBLIC TEST KEYS: everybody can spend from them)")
    .option("--json", "print JSON")
    .action((options: { readonly json?: true }) => {
      const accounts = localnetAccounts().map(({ name, address, mnemonic, chainId }) => ({
        name,
        address,
        mnemonic,
        chain_id: chainId,
      }));
      if (options.json) {
        context.print(stringifyJson(accounts, 2));
        return;
      }
      context.print("PUBLIC TEST KEYS: everybody who reads this can spend from these accounts");
      for (const { name, chain_id, address, mnemonic } of accounts)
        context.print(`${chain_id}  ${name}  ${address}\n    ${mnemonic}`);
    });
}
