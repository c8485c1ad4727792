import type { Command } from "commander";
import { forOptionalModule } from "../../localnet/cli/chain-connection.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";

const IF_ABSENT =
  "a local chain has this module with --contract, with --profile deployed, or when its --chain-config names it in local.modules";

/**
 * Returns a function that creates a workbench module's command. If the chain lacks the module, the error explains how to add it.
 */
export function benchCommand(create: (context: CliContext) => Command): (context: CliContext) => Command {
  return (context) => create(forOptionalModule(context, IF_ABSENT));
}
