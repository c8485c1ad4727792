import { Argument, Command } from "commander";
import { CANONICAL_CHAIN_NAME } from "../../cosmos/proto/type-urls.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import { CHAINS } from "../network/chains.ts";
import { withChain } from "./chain-connection.ts";
import { runOverQuota } from "./scenario/over-quota.ts";
import { createScenarioChain } from "./scenario/scenario-chain.ts";

interface Options {
  readonly keep?: boolean;
  readonly portOffset: number;
}

/** `relaywatch localnet scenario NAME`: runs a scenario on a running localnet and prints each step. */
export function scenarioCommand(context: CliContext): Command {
  return new Command()
    .addArgument(new Argument("<name>", "the scenario").choices(["over-quota"]))
    .option("--keep", "leave the limiter on")
    .addOption(portOffsetOption())
    .addHelpText(
      "after",
      `
over-quota: a contract limits transfers to 1 % of the supply per day. One transfer passes, one is rejected, and one is refunded by
the other chain. It needs a localnet with its IBC relayer (relaywatch up), takes about half a minute, and moves alice's coins.`,
    )
    .action((_name: string, options: Options) => play(options, context));
}

function play({ portOffset, keep = false }: Options, context: CliContext): Promise<void> {
  const { signal, print } = context;
  const { chainId } = CHAINS.local;
  return withChain({ portOffset, chainId, chainName: CANONICAL_CHAIN_NAME }, context, (client) =>
    runOverQuota({
      local: createScenarioChain(CHAINS.local, client, signal),
      print,
      signal,
      rest: `http://127.0.0.1:${portsAt(portOffset).localRest}`,
      portOption: portOffset === 0 ? "" : ` --port-offset ${portOffset}`,
      keep,
    }),
  );
}
