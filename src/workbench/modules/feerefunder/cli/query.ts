import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../platform/cli/cli-context.ts";
import { column } from "../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  serviceQueryCommands,
} from "../../../../localnet/cli/module-query.ts";

/** `relaywatch query feerefunder`. */
export function queryFeeRefunderCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.feerefunder.Query",
      arguments: {
        port_id: () => new Argument("<port-id>", "port of the packet, such as transfer"),
        channel_id: () => new Argument("<channel-id>", "channel of the packet"),
        sequence: () => new Argument("<sequence>", "number of the packet"),
      },
      tables: FEE_TABLES,
      queries: [
        { name: "params", rpc: "Params", description: "print the least fee of a contract's packet" },
        {
          name: "fee-info",
          rpc: "FeeInfo",
          description: "print the locked fee of a packet without a reply",
          arguments: ["port_id", "channel_id", "sequence"],
        },
      ],
    },
    context,
  );
}

/** Tables of `neutron.feerefunder.Query`. */
const FEE_TABLES = {
  Params: PARAMS_TABLE,
  FeeInfo: {
    path: "fee_info",
    columns: [
      column("PAYER", "payer"),
      column("ACKNOWLEDGEMENT", "fee.ack_fee"),
      column("TIMEOUT", "fee.timeout_fee"),
    ],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;
