import { unchecked } from "../../../../localnet/cli/command-inputs.ts";
import { query, queryCommands } from "../../../../localnet/cli/module-query.ts";

/** `relaywatch query feerefunder`. */
export const queryFeeRefunderCommand = queryCommands({
  service: "neutron.feerefunder.Query",
  fields: {
    port_id: "<port-id> port of the packet, such as transfer",
    channel_id: "<channel-id> channel of the packet",
    sequence: ["<sequence> number of the packet", unchecked],
  },
  queries: {
    params: query("Params", "print the least fee of a contract's packet"),
    "fee-info": query("FeeInfo", "print the locked fee of a packet without a reply", {
      takes: ["port_id", "channel_id", "sequence"],
      columns: "PAYER payer, ACKNOWLEDGEMENT fee.ack_fee, TIMEOUT fee.timeout_fee",
    }),
  },
});
