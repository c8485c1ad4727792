import { Command } from "commander";
import { readBuildInfo } from "../ops/build-info.ts";
import type { CliContext } from "./cli-context.ts";
import { configCommand } from "./commands/config-validate.ts";
import { localnetCommand } from "./commands/localnet.ts";
import { proofCommand } from "./commands/proof-verify.ts";
import { queryCommand } from "./commands/query.ts";
import { relayerCommand } from "./commands/relayer-start.ts";
import { txCommand } from "./commands/tx.ts";
import { upCommand } from "./commands/up.ts";
import { versionCommand } from "./commands/version.ts";
import { watchdogCommand } from "./commands/watchdog-start.ts";

/** The command line: one file per command. Parsing throws instead of ending the process. */
export function createProgram(context: CliContext): Command {
  const program = new Command("relaywatch")
    .description(
      "Operations toolkit for chains of the Neutron family: relayer, oracle watchdog, local chains",
    )
    .version(readBuildInfo().version, "-V, --version")
    .showHelpAfterError("(add --help for what this command takes)");
  const commands = [
    upCommand(context),
    localnetCommand(context),
    relayerCommand(context),
    watchdogCommand(context),
    queryCommand(context),
    txCommand(context),
    proofCommand(context),
    configCommand(context),
    versionCommand(context),
  ];
  for (const command of commands) program.addCommand(command);
  return throwing(program);
}

function throwing(command: Command): Command {
  command.exitOverride();
  for (const inner of command.commands) throwing(inner);
  return command;
}
