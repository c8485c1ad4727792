import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

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

const SIGNING_COLUMNS = [
  column("CONSENSUS ADDRESS", "address"),
  column("SINCE", "start_height"),
  column("MISSED", "missed_blocks_counter"),
  column("JAILED UNTIL", "jailed_until"),
  column("TOMBSTONED", "tombstoned"),
];

/** Tables of `cosmos.slashing.v1beta1.Query`. */
const SLASHING_TABLES = {
  Params: PARAMS_TABLE,
  SigningInfo: { path: "val_signing_info", columns: SIGNING_COLUMNS },
  SigningInfos: { path: "info", columns: SIGNING_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;

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
