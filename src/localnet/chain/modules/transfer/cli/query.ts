import { type QueryGroup, query, queryCommands } from "../../../../cli/module-query.ts";

const TRACE = "PATH path, DENOM base_denom";

/** Queries of `ibc.applications.transfer.v1.Query`. */
export const TRANSFER_QUERIES: QueryGroup = {
  service: "ibc.applications.transfer.v1.Query",
  fields: {
    hash: "<denom> denomination of a voucher (ibc/…), or its hash",
    trace: "<trace> path and denomination, e.g. transfer/channel-0/uatom",
  },
  queries: {
    params: query("Params", "print the module's parameters"),
    "denom-traces": query("DenomTraces", "list where the vouchers come from", TRACE),
    "denom-trace": query("DenomTrace", "print where a voucher comes from", TRACE),
    "denom-hash": query("DenomHash", "print the hash of a known path and denomination", "HASH"),
    "escrow-address": query("EscrowAddress", "print the account that holds what was sent through a channel", {
      columns: "ADDRESS",
    }),
    "total-escrow": query(
      "TotalEscrowForDenom",
      "print how much of a denomination was sent to other chains",
      "AMOUNT amount, DENOM denom",
    ),
  },
};

/** `relaywatch query ibc-transfer`. Names are those of ibc-go. */
export const queryIbcTransferCommand = queryCommands(TRANSFER_QUERIES);
