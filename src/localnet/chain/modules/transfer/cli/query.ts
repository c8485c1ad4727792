import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { cellText, column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

/** `relaywatch query ibc-transfer`. Names are those of ibc-go. */
export function queryIbcTransferCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "ibc.applications.transfer.v1.Query",
      arguments: ARGUMENTS,
      tables: TRANSFER_TABLES,
      queries: QUERIES,
    },
    context,
  );
}

const TRACE_COLUMNS = [column("PATH", "path"), column("DENOM", "base_denom")];

/** Tables of `ibc.applications.transfer.v1.Query`. */
export const TRANSFER_TABLES = {
  Params: PARAMS_TABLE,
  DenomTraces: { path: "denom_traces", columns: TRACE_COLUMNS },
  DenomTrace: { path: "denom_trace", columns: TRACE_COLUMNS },
  DenomHash: { path: "hash", columns: [{ title: "HASH", cell: cellText }] },
  EscrowAddress: { path: "escrow_address", columns: [{ title: "ADDRESS", cell: cellText }] },
  TotalEscrowForDenom: {
    path: "amount",
    columns: [column("AMOUNT", "amount"), column("DENOM", "denom")],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const ARGUMENTS = {
  hash: () => new Argument("<denom>", "denomination of a voucher (ibc/…), or its hash"),
  trace: () => new Argument("<trace>", "path and denomination, e.g. transfer/channel-0/uatom"),
  port_id: () => new Argument("<port>", "port, e.g. transfer"),
  channel_id: () => new Argument("<channel>", "channel, e.g. channel-0"),
  denom: () => new Argument("<denom>", "denomination"),
};

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof TRANSFER_TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "denom-traces",
    rpc: "DenomTraces",
    description: "list where the vouchers come from",
    isList: true,
  },
  {
    name: "denom-trace",
    rpc: "DenomTrace",
    description: "print where a voucher comes from",
    arguments: ["hash"],
  },
  {
    name: "denom-hash",
    rpc: "DenomHash",
    description: "print the hash of a known path and denomination",
    arguments: ["trace"],
  },
  {
    name: "escrow-address",
    rpc: "EscrowAddress",
    description: "print the account that holds what was sent through a channel",
    arguments: ["port_id", "channel_id"],
  },
  {
    name: "total-escrow",
    rpc: "TotalEscrowForDenom",
    description: "print how much of a denomination was sent to other chains",
    arguments: ["denom"],
  },
];
