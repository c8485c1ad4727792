import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../platform/cli/cli-context.ts";
import { cellText, column } from "../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  serviceQueryCommands,
} from "../../../../localnet/cli/module-query.ts";

/** `relaywatch query tokenfactory`. */
export function queryTokenFactoryCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "osmosis.tokenfactory.v1beta1.Query",
      arguments: {
        creator: () => new Argument("<creator>", "address of the denomination's creator"),
        subdenom: () => new Argument("<subdenom>", "last part of the denomination"),
      },
      tables: TOKEN_FACTORY_TABLES,
      queries: [
        {
          name: "params",
          rpc: "Params",
          description: "print fee and gas of a new denomination, and allowed hooks",
        },
        {
          name: "denom-authority-metadata",
          rpc: "DenomAuthorityMetadata",
          description: "print the admin of a denomination",
          arguments: ["creator", "subdenom"],
        },
        {
          name: "denoms-from-creator",
          rpc: "DenomsFromCreator",
          description: "list the denominations that an account created",
          arguments: ["creator"],
        },
        {
          name: "before-send-hook",
          rpc: "BeforeSendHookAddress",
          description: "print the contract that is called before payments of a denomination",
          arguments: ["creator", "subdenom"],
        },
        {
          name: "full-denom",
          rpc: "FullDenom",
          description: "print the full name of a denomination",
          arguments: ["creator", "subdenom"],
        },
      ],
    },
    context,
  );
}

/** Tables of `osmosis.tokenfactory.v1beta1.Query`. */
const TOKEN_FACTORY_TABLES = {
  Params: PARAMS_TABLE,
  DenomAuthorityMetadata: { path: "authority_metadata", columns: [column("ADMIN", "Admin")] },
  DenomsFromCreator: { path: "denoms", columns: [{ title: "DENOM", cell: cellText }] },
  BeforeSendHookAddress: { path: "", columns: [column("CONTRACT", "contract_addr")] },
  FullDenom: { path: "", columns: [column("DENOM", "full_denom")] },
} as const satisfies Readonly<Record<string, AnswerTable>>;
