import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";
import { SLASHING_TABLES } from "../../staking/cli/tables.ts";

/** `relaywatch query slashing`. Names are those of a Cosmos SDK binary. */
export function querySlashingCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "cosmos.slashing.v1beta1.Query",
      arguments: ARGUMENTS,
      tables: SLASHING_TABLES,
      queries: QUERIES,
    },
    context,
  );
}

const ARGUMENTS = {
  cons_address: () => new Argument("<consensus-address>", "address of the validator's consensus key"),
};

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof SLASHING_TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "signing-info",
    rpc: "SigningInfo",
    description: "print what a validator missed, and how long it is jailed",
    arguments: ["cons_address"],
  },
  {
    name: "signing-infos",
    rpc: "SigningInfos",
    description: "list what the validators missed, and how long they are jailed",
    isList: true,
  },
];
